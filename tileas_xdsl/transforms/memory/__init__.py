"""Passes on memory: buffers, constants, and how arrays are reached, by TMA or by threads.

Their parts: `choose_tma`, `tma_to_async`, `host_tma`, `remove_buffer_alias`.
"""
