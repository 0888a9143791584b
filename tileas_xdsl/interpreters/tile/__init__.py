"""The reference semantics of `nv_tileas`: agents, engines, pipelines and mbarriers on a CPU.

Import from the module that owns the name; this package loads nothing by itself.
"""
