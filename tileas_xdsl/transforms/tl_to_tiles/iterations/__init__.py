"""`tl.parallel` on tiles: its values, what iterations access, and bounds of what they store."""
