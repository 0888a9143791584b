"""Explanations of compiled kernels: what bounds them, what they use, and why they are as they are.

facts = kernel_facts(tileas.compile(kernel, ...))      plain data (`facts.KernelFacts`)
facts.to_json()                                        for other programs
explanation(facts)                                     text, as `tileas explain` prints it

Read `facts.py` (the data), `kernel.py` (who fills it in), `text.py` (how it reads), then

`compilation/`   what passes left: reasons, layouts, register holders, the history of a line
`bounds/`        what bounds loops: work of each unit, counted on the program or on a block that ran
`ptx/`           what a PTX text and ptxas say: units, loops, registers, spills
`refused/`       why a kernel is refused, and which smaller sizes would compile

`resources.py` puts registers and shared memory of a block beside those of a multiprocessor.
"""
