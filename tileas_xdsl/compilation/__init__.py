"""How a compilation proceeds: what of it is left, a pass after another, and what shows a bug again.

Read `levels` first: which passes take a module from where it is to PTX.  `pass_execution` runs one
pass, and `reproducers` runs all of them and writes a file for one that breaks.  `compiler` in the
folder above puts them together.
"""
