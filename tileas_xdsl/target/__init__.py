"""What a GPU can do, as data: limits, register layouts, shared-memory layouts and descriptors.

Import from the module that owns the name; this package loads nothing by itself.
"""
