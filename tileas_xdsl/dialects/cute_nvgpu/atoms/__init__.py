"""Types of atoms: copies and products of an architecture, with their facts.

`cute.make_atom` and the calls of atoms ask these types what they take (`cute.interfaces`).
"""
