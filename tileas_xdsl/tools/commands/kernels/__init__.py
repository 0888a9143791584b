"""Commands on one kernel: compile it, check it, simulate it, validate its passes, run and tune it.

In this order: `compile` needs no arguments, `check` and `validate` make them up, `simulate` (CPU),
`run` (GPU) and `tune` take or make them (`tools/inputs/arguments.py`).
"""
