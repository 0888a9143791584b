"""Which memory operations TMA does: whether it can, and what becomes of them."""
