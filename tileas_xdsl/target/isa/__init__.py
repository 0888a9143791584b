"""PTX as data: which types, forms, versions and targets every family of instructions has.

The verifier of `dialects/ptx`, its printer and the documentation read the same tables.
"""
