"""The target of a conversion: which hints are for it, and what functions say of it."""

from __future__ import annotations

import re

from tileas_xdsl.data_classes import dataclass

_CAPABILITY = re.compile(r"(?:sm_)?(\d{2,3})([af]?)")


@dataclass(frozen=True)
class Capability:
    """A compute capability, ten times the major number plus the minor one."""

    number: int
    suffix: str = ""

    @property
    def hints(self) -> str:
        """The key of the hints for it."""
        return f"sm_{self.number}"

    @property
    def name(self) -> str:
        """As `sm_90a`."""
        return f"sm_{self.number}{self.suffix}"

    @staticmethod
    def of(text: str | None) -> Capability | None:
        """`90`, `sm_90` or `sm_90a`; None for anything else."""
        match = _CAPABILITY.fullmatch(text or "")
        return None if match is None else Capability(int(match[1]), match[2])
