"""The commands of `tileas`, one a file, by what a user wants.

`kernels/`        work on one kernel: compile, check, simulate, validate, run, tune
`inspection/`     see why a kernel is as it is: explain, schedule, layout, report, serve
`installation/`   what there is: doctor, cache, example, and the listings of passes and dialects

Read `kernels/compile.py` first: the others take kernels as it does (`tools/inputs/`).
`tools/tileas.py` puts the commands together; what they compute is in the packages below, not here.
"""
