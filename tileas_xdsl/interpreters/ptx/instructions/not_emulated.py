"""Instructions of the PTX ISA that the emulator refuses, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.target.isa.index import INSTRUCTIONS, is_named

_REASONS: Mapping[str, Sequence[str]] = {
    "textures and surfaces are not emulated, their memory is laid out by the driver": (
        INSTRUCTIONS["Textures and surfaces"]
    ),
}


_MNEMONICS = {name.partition(".")[0] for names in _REASONS.values() for name in names}


def why_not(parts: Sequence[str]) -> str | None:
    """Return why an instruction is not emulated; None for those that are, and unknown ones."""
    if parts[0] not in _MNEMONICS:
        return None
    for reason, names in _REASONS.items():
        if any(is_named(parts, name) for name in names):
            return reason
    return None
