"""Slicing of loops: who asks for it, what is legal, the plan, the rewrite."""
