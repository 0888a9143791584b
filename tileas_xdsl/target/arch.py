"""The GPUs that code is generated for, one row each: features and resource limits.

Code queries a row for a fact (`target.matrix_unit`, `Feature.SETMAXNREG in target.features`) and
never compares names, so that another GPU is another row of `TARGETS` and its row of `latencies`.

Sources: CUDA C++ Programming Guide, technical specifications per compute capability (9.0, 10.0,
12.0); PTX ISA, release notes (`.target` sm_90a: 8.0, sm_100a: 8.6, sm_120a: 8.7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.errors import UnknownTargetError
from tileas_xdsl.target.features import FEATURES, Feature, features_of
from tileas_xdsl.target.mma.matrix_units import MMA_SYNC, TCGEN05, WGMMA, MatrixUnit
from tileas_xdsl.target.tiers import tier

DEFAULT_TARGET = "sm_90a"
"""The target of a module that names none."""


@dataclass(frozen=True)
class Target:
    """One GPU architecture; sizes are bytes, registers 32 bits wide."""

    name: str
    ptx_version: tuple[int, int]
    """The lowest PTX version that has the target."""
    matrix_unit: MatrixUnit
    """Its fastest matrix instructions; `mma.sync` multiplies what they do not take."""
    tensor_memory_lanes: int = 0
    tensor_memory_columns: int = 0
    """Columns of 32 bits in each lane."""
    shared_memory_per_block: int = 232_448
    registers_per_multiprocessor: int = 65_536
    registers_per_thread: int = 255
    warps_per_multiprocessor: int = 64
    blocks_per_multiprocessor: int = 32
    threads_per_block: int = 1024
    grid_extents: tuple[int, int, int] = ((1 << 31) - 1, 65_535, 65_535)
    """The most blocks along x, y and z (CUDA Programming Guide, compute capabilities)."""
    blocks_per_cluster: int = 8
    """The portable cluster size; a kernel may request 16."""
    tma_destination: str = "shared::cluster"
    """Where boxes for one CTA go.  On sm_120a ptxas 13.5 checks `shared::cluster` by a call of
    `__cuda_syscall_cp_async_bulk_tensor_2d_tile_unicast`, and then ignores `setmaxnreg` (C7506)."""

    @property
    def capability(self) -> int:
        """Compute capability times ten: 90, 100."""
        return tier(self.name).number

    @property
    def features(self) -> frozenset[Feature]:
        """The optional features of the target, as required by instruction forms (`target/isa/`)."""
        return features_of(self.name)

    @property
    def has_tensor_memory(self) -> bool:
        """Whether accumulators of its matrix unit are in tensor memory."""
        return self.tensor_memory_lanes > 0

    @property
    def vector_bytes(self) -> int:
        """The widest access to global memory by one thread (PTX ISA, ld and st: `.v8.b32`)."""
        return 32 if Feature.WIDE_VECTORS in self.features else 16

    def lacks(self, feature: Feature, what: str = "") -> str | None:
        """Why code with a feature does not run here, and what does; None if the target has it.

        `what` is the operation or atom that needs the feature.
        """
        if feature in self.features:
            return None
        needs = f"{what or feature} needs {' or '.join(targets_with(feature))}"
        if feature in (Feature.WGMMA, Feature.TCGEN05):
            return f"{needs}; {self.name} multiplies by {self.matrix_unit.ptx}"
        return f"{needs}, not {self.name}"


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("sm_90a", (8, 0), WGMMA),
        Target("sm_100a", (8, 6), TCGEN05, tensor_memory_lanes=128, tensor_memory_columns=512),
        Target(
            "sm_120a",
            (8, 7),
            MMA_SYNC,
            shared_memory_per_block=101_376,
            warps_per_multiprocessor=48,
            blocks_per_multiprocessor=24,
            tma_destination="shared::cta",
        ),
    )
}
"""Every known target by its name."""


def targets_with(feature: Feature) -> Sequence[str]:
    """Return the names of the known targets that have a feature, or else of any that do."""
    found = [target.name for target in TARGETS.values() if feature in target.features]
    return found or FEATURES[feature]


def get_target(name: str) -> Target:
    """Return the target called `name`; `UnknownTargetError` lists the known ones."""
    if name not in TARGETS:
        text = f"unknown target '{name}'; known: {', '.join(TARGETS)}"
        raise UnknownTargetError(f"{text}{_similar_target(name)}")
    return TARGETS[name]


def _similar_target(name: str) -> str:
    """Ask for the target with the number in a name, where there is one: `sm90`, `SM_90b`."""
    numbers = re.findall(r"\d+", name)
    found = target_of_capability(int(numbers[0][:4])) if len(numbers) == 1 else None
    return "" if found is None else f"; did you mean {found.name}?"


def target_of_capability(number: int) -> Target | None:
    """Return the target of GPUs of a compute capability, ten times major plus minor, if any."""
    return next((t for t in TARGETS.values() if t.capability == number), None)


@dataclass(frozen=True, slots=True)
class Platform:
    """The facts of an NVIDIA target, also one without code generation, for instruction forms."""

    name: str
    capability: int
    features: frozenset[Feature] = frozenset()


def shared_memory_of(name: str) -> int:
    """Return the bytes of shared memory that a block has on a GPU, known or not, of any name."""
    known = target_of_capability(tier(name).number)
    return Target.shared_memory_per_block if known is None else known.shared_memory_per_block


def platform_of(name: str) -> Platform | None:
    """Return the platform `sm_80`, `sm_103a`, ...; None if that is no name of a target."""
    try:
        return Platform(name, tier(name).number, features_of(name))
    except UnknownTargetError:
        return None
