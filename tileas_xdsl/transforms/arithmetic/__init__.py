"""Passes that write arithmetic in another way: fused, expanded, moved through shapes.

Their parts: `fuse_elementwise`, `normalize_dot_operands`, `math_functions`.
"""
