"""From laid-out block programs to the threads of a block: what `tl-lower` is made of.

`sums` are numbers that are known up to some scalars, `steps` the iterations that each thread runs,
`bodies` the scalars of a loop for all steps at once, `places` and `fragments` memory and registers,
and the other files lower one family of operations each.
"""
