"""What passes did to a kernel: reasons that they leave as attributes, layouts, registers, history.

`snapshots.py` keeps the IR after the passes that the others look at.
"""
