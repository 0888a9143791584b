"""Implementation of `convert-pipeline-to-nvgpu`: mbarriers, waits and arithmetic for `cutlass`.

Read `writer.py` first, the driver of the 1:N conversion: a value of a `cutlass` type becomes a
fixed list of values (`value_expansion.py`, `pipeline_states.py`), an operation what its handler
writes (`handlers.py` is the table, `region_ops.py` has those with bodies).

`barriers/`     the handshake at a stage, its mbarriers, and barriers that are no pipeline
`schedulers/`   which tile a block computes: static, persistent, stream-K, by launch control
"""
