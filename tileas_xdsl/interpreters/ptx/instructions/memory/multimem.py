"""Accesses through multicast addresses.  Source: PTX ISA 9.7.9.14 to 9.7.9.16, multimem.

Such an address stands for the memory of each device of a team.  The team of an emulated launch is
its one device: what is reduced are the values of one device, and a store reaches one.
"""

from __future__ import annotations

from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.memory.atomics import build_atom
from tileas_xdsl.interpreters.ptx.instructions.memory.load_store import build_ld, build_st
from tileas_xdsl.target.isa.kinds import PARAMETER_BYTES

OPERATIONS = ("min", "max", "add", "and", "or", "xor")
ACCUMULATIONS = ("acc::f32", "acc::f16")

_BITS = {
    "e5m2": 8, "e4m3": 8, "f16": 16, "bf16": 16, "e5m2x2": 16, "e4m3x2": 16,
    "f16x2": 32, "bf16x2": 32, "e5m2x4": 32, "e4m3x4": 32,
    **{name: 8 * size for name, size in PARAMETER_BYTES.items()},
}  # fmt: skip


def _as_bits(site: Site) -> None:
    """Make the access one of global memory whose elements are bits."""
    site.flag("global")
    type_ = site.modifiers.pop()
    if type_ not in _BITS:
        site.fail(f"'.{type_}' is no type of multimem")
    site.modifiers += ["global", f"b{_BITS[type_]}"]


def build_ld_reduce(site: Site) -> Step:
    """`multimem.ld_reduce`: the reduction of the values of all devices, here of one."""
    site.choose(OPERATIONS)
    site.ignore(ACCUMULATIONS)
    _as_bits(site)
    return build_ld(site)


def build_store(site: Site) -> Step:
    """`multimem.st`: a store to all devices."""
    _as_bits(site)
    return build_st(site)


def build_red(site: Site) -> Step:
    """`multimem.red`: a reduction in the memory of all devices, `.relaxed.sys` by default."""
    site.flag("global")
    site.modifiers.insert(0, "global")
    return build_atom(site)


TABLE = (
    Semantics("multimem.ld_reduce", build_ld_reduce),
    Semantics("multimem.st", build_store),
    Semantics("multimem.red", build_red),
)
