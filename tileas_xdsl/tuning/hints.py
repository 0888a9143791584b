"""Hints of cuTile kernels as axes of a search space, beside their constants.

    occupancy=0,1,2           blocks that share a multiprocessor; shared memory for stages follows
    num_worker_warps=0,4,8    warps that compute
    num_ctas=0,2              CTAs that compute a tile block together, and share loads by multicast

0 leaves the choice to the compiler, as a kernel without the hint does.  Stages of pipelines are no
axis: the compiler fills the shared memory of a block, so fewer stages are a larger occupancy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.tuning.space import Config, SpaceError

HINTS = ("occupancy", "num_worker_warps", "num_ctas")

WITHOUT_EFFECT: Mapping[str, str] = {
    "opt_level": "there is one level",
}
"""Hints of cuTile that change no code here, and why."""


def check_hints(config: Config) -> None:
    """Raise `SpaceError` for a hint that has no effect."""
    for name, why in WITHOUT_EFFECT.items():
        if name in config:
            raise SpaceError(f"'{name}' has no effect: {why}")


def hints_of(kernel: Any, target: str) -> Config:
    """Return the hints that a kernel has for a target, 0 where it has none."""
    found: Mapping[str, Mapping[str, Any]] = kernel._compiler_options.hints_by_target()
    capability = f"sm_{get_target(target).capability}"
    given = {**found.get("default", {}), **found.get(capability, {})}
    return {name: given.get(name) or 0 for name in HINTS}


@dataclass
class HintedKernels:
    """A kernel with other hints; of the same hints there is one, which keeps what it compiles."""

    kernel: Any
    target: str
    made: dict[tuple[int, ...], Any] = field(default_factory=dict[tuple[int, ...], Any])

    def of(self, config: Config) -> Any:
        """Return the kernel with the hints of a config; raises `ValueError` as cuTile does."""
        own = hints_of(self.kernel, self.target)
        wanted = {name: config.get(name, own[name]) for name in HINTS}
        if wanted == own:
            return self.kernel
        key = (*wanted.values(),)
        if key not in self.made:
            hints = {name: value or None for name, value in wanted.items()}
            self.made[key] = self.kernel.replace_hints(**hints)
        return self.made[key]
