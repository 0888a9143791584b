"""What bounds the loops of a kernel: the timing model on tiles (`loops.py`), or a block that ran.

`executed_loops.py` and `accesses.py` run a block of the PTX with arguments of `made_arguments.py`.
"""
