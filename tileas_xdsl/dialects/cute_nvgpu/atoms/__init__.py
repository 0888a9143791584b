"""Types of atoms: copies and products of an architecture, with their facts.

`cute.make_atom` and the calls of atoms ask these types what they take (`cute.interfaces`).
"""

from tileas_xdsl.dialects.cute_nvgpu.atoms import copies, sm90, sm100, tensor_copies, tma, warp

TYPES = (*copies.TYPES, *sm90.TYPES, *sm100.TYPES, *tensor_copies.TYPES, *tma.TYPES, *warp.TYPES)
"""Every type of an atom."""
