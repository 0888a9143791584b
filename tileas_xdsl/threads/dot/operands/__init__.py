"""Operands A and B of products: by descriptor, or as fragments in registers, a step of K at a time.

`fragments.py` says which elements a thread has, `in_registers.py` how it gets them; where scratch
memory does not hold an operand, `by_ranges.py` exchanges one range of K after the other.
"""
