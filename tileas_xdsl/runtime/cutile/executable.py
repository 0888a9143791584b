"""A compiled kernel as a launch needs it: code, interface, parameter types; and as bytes on disk.

Nothing here needs the compiler, so a process that finds its kernels in the cache does not load it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.kernel_abi import Extents, KernelAbi, Passed, ShortLoop, TensorMapRecipe
from tileas_xdsl.target.launch_loops import LaunchLoop
from tileas_xdsl.target.shared_loads import LoopLoad, SharedLoads
from tileas_xdsl.target.tma.tensor_map import PixelBox
from tileas_xdsl.target.unequal_tile_blocks import UnequalTileBlocks
from tileas_xdsl.target.uneven_waves import UnevenWaves

_PARAMETER = re.compile(r"\.param(?:\s+\.align\s+\d+)?\s+\.(\w+)\s+[\w$]+(?:\[(\d+)\])?")
_HEADER = struct.Struct("<III")
"""Bytes of the description, of the PTX text and of the machine code, which follow."""


@dataclass(frozen=True, eq=False)
class Executable:
    """A kernel of one target."""

    target: str
    abi: KernelAbi
    ptx: str
    cubin: bytes
    """Machine code; empty if only the emulator runs it, or the driver is to translate the PTX."""

    @property
    def parameter_types(self) -> Sequence[str]:
        """The types of the parameters in PTX: `u32`, `f32`, or `b8[128]` for bytes."""
        head = self.ptx.partition(f".entry {self.abi.name}(")[2].partition(")")[0]
        found = _PARAMETER.findall(head)
        return [f"{kind}[{count}]" if count else kind for kind, count in found]

    def to_bytes(self) -> bytes:
        """Return a description that `from_bytes` reads."""
        text = json.dumps({"target": self.target, "abi": asdict(self.abi)}).encode()
        ptx = self.ptx.encode()
        return _HEADER.pack(len(text), len(ptx), len(self.cubin)) + text + ptx + self.cubin

    @staticmethod
    def from_bytes(data: bytes) -> Executable:
        """Read `to_bytes`; raises `ValueError` for anything else."""
        try:
            text, ptx, cubin = _HEADER.unpack_from(data)
            first, second = _HEADER.size + text, _HEADER.size + text + ptx
            if len(data) != second + cubin:
                raise ValueError(f"{len(data)} bytes instead of {second + cubin}")
            described: Any = json.loads(data[_HEADER.size : first])
            body, code = data[first:second].decode(), data[second:]
            return Executable(described["target"], _abi(described["abi"]), body, code)
        except (struct.error, KeyError, TypeError, UnicodeDecodeError) as error:
            raise ValueError(f"no compiled kernel: {error}") from error


def _abi(found: Mapping[str, Any]) -> KernelAbi:
    x, y, z = found["cluster"]
    return KernelAbi(
        found["name"],
        found["threads"],
        (x, y, z),
        found["shared_bytes"],
        tuple(found["parameters"]),
        tuple(_recipe(recipe) for recipe in found["tensor_maps"]),
        found["arena_slots"],
        found["shared_map"],
        found["tile_block_ctas"],
        found["is_persistent"],
        _short_loop(found["short_loop"]),
        tuple(map(_shared_loads, found["shared_loads"])),
        found["transfer_bytes"],
        found["cluster_axis"],
        tuple(map(_few_tile_blocks, found["few_tile_blocks"])),
        found["uneven_waves"] and UnevenWaves(**found["uneven_waves"]),
        found["waits_first"],
        _unequal_tile_blocks(found["unequal"]),
        found["runs_at_once"],
    )


def _recipe(found: Mapping[str, Any]) -> TensorMapRecipe:
    pixels, extents = found["pixels"], found["extents"]
    return TensorMapRecipe(
        found["argument"],
        tuple(found["box"]),
        found["element"],
        found["bits"],
        found["swizzle"],
        found["nan_fill"],
        found["is_window"],
        pixels and PixelBox(tuple(pixels["lower"]), tuple(pixels["upper"])),
        extents and Extents(_counts(extents["sizes"]), _counts(extents["strides"])),
        found["slices"],
    )


def _short_loop(found: Mapping[str, Any] | None) -> ShortLoop | None:
    if found is None:
        return None
    numbers, divisors = zip(*found["quotients"], strict=True)
    quotients = tuple(zip(_counts(numbers), divisors, strict=True))
    return ShortLoop(found["most"], quotients, found["together"], found["ctas"])


def _shared_loads(found: Mapping[str, Any]) -> SharedLoads:
    steps, equal = tuple(found["steps"]), tuple(found["equal"])
    loads = tuple(LoopLoad(**load) for load in found["loads"])
    rates = found["rate"], found["cycles"]
    return SharedLoads(found["axis"], found["count"], steps, equal, loads, *rates)


def _few_tile_blocks(found: Mapping[str, Any]) -> FewTileBlocks:
    return FewTileBlocks(found["count"], tuple(found["steps"]), _launch_loops(found["loops"]))


def _unequal_tile_blocks(found: Mapping[str, Any] | None) -> UnequalTileBlocks | None:
    if found is None:
        return None
    steps, loops = tuple(found["steps"]), _launch_loops(found["loops"])
    return UnequalTileBlocks(steps, loops, found["together"], found["ctas"])


def _launch_loops(found: Sequence[Mapping[str, Any]]) -> tuple[LaunchLoop, ...]:
    return tuple(
        LaunchLoop(loop["amount"], tuple((a, b, c) for a, b, c in loop["bounds"])) for loop in found
    )


def _counts(found: Sequence[Any]) -> tuple[int | Passed, ...]:
    return tuple(n if isinstance(n, int) else Passed(n["argument"]) for n in found)
