"""The GPUs that code is made for: limits that layouts and descriptors must keep.

Sources: CUDA C++ Programming Guide, compute capabilities 9.0 and 10.0; PTX ISA, release notes of
`wgmma` (8.0) and `tcgen05` (8.6); CUTLASS include/cute/arch/mma_sm90_desc.hpp, mma_sm100_desc.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tileas_xdsl.target.errors import UnknownTargetError


@dataclass(frozen=True)
class Target:
    """One GPU architecture; sizes are bytes, registers 32 bits wide."""

    name: str
    capability: int
    """Compute capability times ten."""
    ptx_version: tuple[int, int]
    """The lowest PTX version that has the instructions of this target."""
    features: frozenset[str]
    """What instruction forms ask for by name: architecture-specific features (`target/isa/`)."""
    matrix_layout_types: Mapping[str, int]
    """The modes of shared-memory matrix descriptors and their codes."""
    tensor_memory_lanes: int = 0
    tensor_memory_columns: int = 0
    """Columns of 32 bits in each lane."""
    shared_memory_per_block: int = 232_448
    registers_per_multiprocessor: int = 65_536
    registers_per_thread: int = 255
    threads_per_block: int = 1024
    blocks_per_cluster: int = 8
    """The portable limit; a kernel may ask for 16."""


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target(
            "sm_90a",
            90,
            (8, 0),
            frozenset({"wgmma", "setmaxnreg", "tensormap"}),
            {"none": 0, "128B": 1, "64B": 2, "32B": 3},
        ),
        Target(
            "sm_100a",
            100,
            (8, 6),
            frozenset(
                {
                    *("tcgen05", "setmaxnreg", "tensormap", "tile_gather"),
                    *("narrow_floats", "narrow_matrices", "redux_f32"),
                }
            ),
            {"none": 0, "128B_BASE32B": 1, "128B": 2, "64B": 4, "32B": 6},
            tensor_memory_lanes=128,
            tensor_memory_columns=512,
        ),
    )
}
"""Every known target by its name."""


_SM_NAME = re.compile(r"sm_(\d+)([af]?)$")


@dataclass(frozen=True, slots=True)
class Platform:
    """What instruction forms ask of any NVIDIA target, also of those that we make no code for."""

    name: str
    capability: int
    features: frozenset[str] = frozenset()


def platform_of(name: str) -> Platform | None:
    """Return the platform `sm_80`, `sm_103a`, ...; None if that is no name of a target.

    Only names with a suffix have features: those of the nearest known target below.
    """
    found = _SM_NAME.match(name)
    if found is None:
        return None
    capability = int(found[1])
    rows = [row for row in TARGETS.values() if row.capability <= capability and found[2]]
    features = max(rows, key=lambda row: row.capability).features if rows else frozenset[str]()
    return Platform(name, capability, features)


def get_target(name: str) -> Target:
    """The target called `name`; `UnknownTargetError` lists the known ones."""
    if name not in TARGETS:
        raise UnknownTargetError(f"unknown target '{name}'; known: {', '.join(TARGETS)}")
    return TARGETS[name]
