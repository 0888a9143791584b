"""A compiled kernel as a launch needs it: code, interface, parameter types; and as bytes on disk.

Nothing here needs the compiler, so a process that finds its kernels in the cache does not load it.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.target.plain_data import read_plain

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
            return Executable(
                described["target"], read_plain(KernelAbi, described["abi"]), body, code
            )
        except (struct.error, KeyError, TypeError, UnicodeDecodeError) as error:
            raise ValueError(f"no compiled kernel: {error}") from error
