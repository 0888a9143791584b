"""What is known of values without running them: ranges, rows, uniformity, liveness.

`rows/`        elements along the last dimension: contiguous runs, divisors, strides
`liveness/`    what is live at once, in registers of tiles and of threads
here           ranges, uniformity across a cluster, loop-carried values, arrays behind pointers

Read `rows/column_runs.py` first, the axis analysis that vectorised accesses rest on.
"""
