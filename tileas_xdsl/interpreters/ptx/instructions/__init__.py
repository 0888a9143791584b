"""The instruction table: every family, by opcode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.interpreters.ptx.instructions import (
    async_copies,
    atomics,
    barrier,
    bits,
    calls,
    compare,
    control,
    convert,
    floating,
    integer,
    matrix,
    mbarrier,
    memory,
    move,
    tcgen05,
    tcgen05_mma,
    tcgen05_moves,
    tensor_copies,
    tensor_maps,
    warp,
    wgmma,
)
from tileas_xdsl.interpreters.ptx.instructions.base import Form

FAMILIES = (
    integer,
    bits,
    floating,
    compare,
    convert,
    move,
    memory,
    atomics,
    control,
    calls,
    warp,
    barrier,
    mbarrier,
    async_copies,
    tensor_copies,
    tensor_maps,
    matrix,
    wgmma,
    tcgen05,
    tcgen05_mma,
    tcgen05_moves,
)


def _by_name() -> dict[str, list[Form]]:
    found: dict[str, list[Form]] = {}
    for family in FAMILIES:
        for form in family.TABLE:
            found.setdefault(form.name, []).append(form)
    return found


FORMS: Mapping[str, Sequence[Form]] = _by_name()
"""The forms by the opcode they begin with; several differ by the type at the end."""


def find_form(parts: tuple[str, ...]) -> Form | None:
    """The form of an opcode: the longest name that it begins with."""
    for length in range(len(parts), 0, -1):
        for form in FORMS.get(".".join(parts[:length]), ()):
            if not form.types or parts[-1] in form.types:
                return form
    return None
