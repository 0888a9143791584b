"""What an instruction form needs: a version of PTX, a compute capability, features of a target.

A form never names targets: the row of a target in `target/arch.py` decides, by its capability and
by the architecture-specific features (those of the suffix `a`) that it lists.
"""

from __future__ import annotations

from typing import Protocol

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.features import Feature


class Architecture(Protocol):
    """The properties of a target that requirements check."""

    @property
    def capability(self) -> int:
        """Compute capability times ten: 90, 100."""
        ...

    @property
    def features(self) -> frozenset[Feature]:
        """Architecture-specific features: `wgmma`, `tcgen05`."""
        ...


@dataclass(frozen=True, slots=True)
class Requirement:
    """The PTX version that introduced a form, and what a target must have."""

    version: tuple[int, int] = (1, 0)
    capability: int = 0
    features: frozenset[Feature] = frozenset()

    def joined(self, other: Requirement) -> Requirement:
        """Return what both need."""
        return Requirement(
            max(self.version, other.version),
            max(self.capability, other.capability),
            self.features | other.features,
        )

    def met_by(self, target: Architecture) -> bool:
        """Return whether a target has the form, in whatever version of PTX."""
        return target.capability >= self.capability and self.features <= target.features

    def __str__(self) -> str:
        """As messages and documentation show it: `PTX 8.6, sm_100+, tcgen05`."""
        parts = [f"PTX {self.version[0]}.{self.version[1]}"] if self.version > (1, 0) else []
        parts += [f"sm_{self.capability}+"] if self.capability else []
        return ", ".join([*parts, *sorted(self.features)])


ANYWHERE = Requirement()
"""Every target has it, in every version."""


def since(
    version: tuple[int, int] = (1, 0), capability: int = 0, *features: Feature
) -> Requirement:
    """Return the requirement of a form introduced in `version`, from `capability` on."""
    return Requirement(version, capability, frozenset(features))


HOPPER = since((8, 0), 90, Feature.WGMMA)
"""`wgmma`: a feature of sm_90a that no later target kept."""

BLACKWELL = since((8, 6), 100, Feature.TCGEN05)
"""`tcgen05`: tensor memory and its instructions."""
