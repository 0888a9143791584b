"""What an instruction needs: a version of PTX, and targets that have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """The lowest PTX version of a form, and the targets that take it: all if none is named."""

    version: tuple[int, int] = (8, 0)
    targets: frozenset[str] = frozenset()

    def joined(self, other: Requirement) -> Requirement:
        """What both need."""
        targets = self.targets & other.targets if self.targets and other.targets else None
        return Requirement(
            max(self.version, other.version),
            (self.targets or other.targets) if targets is None else targets,
        )


ANYWHERE = Requirement()
"""Every target that is supported has it, in the lowest version that the target has."""

HOPPER = Requirement((8, 0), frozenset({"sm_90a"}))
"""`wgmma`: a feature of sm_90a that no later target kept."""

BLACKWELL = Requirement((8, 6), frozenset({"sm_100a"}))
"""`tcgen05` and what came with it."""
