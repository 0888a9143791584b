"""The alias-aware tile dialect above `nv_tileas`: pointers, memory references, tokens, facts.

The dialect itself is in `dialect.py`: types of this one are used by operations of `nv_tileas`.
"""
