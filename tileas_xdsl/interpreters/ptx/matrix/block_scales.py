"""Scale factors of block-scaled MMA in tensor memory.  Source: PTX ISA 9.7.16.10.7."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cta
from tileas_xdsl.interpreters.ptx.instructions.base import Site
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import split
from tileas_xdsl.interpreters.ptx.memory.shared_memory import TENSOR_COLUMNS
from tileas_xdsl.interpreters.ptx.numerics.float_formats import singles
from tileas_xdsl.target.mma.block_scales import QUARTERS, ROWS

UNSIGNED_FORMATS = {"ue8m0": ("ue8m0", 0xFF), "ue4m3": ("e4m3", 0x7F)}
"""By format of scale factors: the format that decodes it, and the mask of its bits."""


@dataclass(frozen=True)
class Scales:
    """The scale factors of an operand: `count` bytes of each of `rows` rows, from a byte of a word
    on."""

    name: str
    address: int
    rows: int
    count: int
    byte: int
    format: str

    @cached_property
    def cells(self) -> Array:
        """The tensor-memory cells, an array (quarter of the lanes, row)."""
        lane, column = split(self.address)
        if lane:
            raise Fault("tensor-memory", f"the scales of {self.name} begin at lane {lane}, not 0")
        row = np.arange(self.rows)
        quarter = np.arange(QUARTERS)[:, None]
        return (row % ROWS + ROWS * quarter) * TENSOR_COLUMNS + column + row // ROWS

    def read(self, cta: Cta) -> Array:
        """Return (rows, count) doubles; a fault where the quarters of the lanes differ."""
        words = np.ascontiguousarray(cta.tensor.cells.reshape(-1)[self.cells])
        found = words.view(np.uint8).reshape(QUARTERS, self.rows, 4)
        found = found[..., self.byte : self.byte + self.count]
        different = (found != found[0]).any(axis=(1, 2))
        if different.any():
            raise Fault(
                "tensor-memory",
                f"the scales of {self.name} in lanes {ROWS * int(different.argmax())} and up "
                "differ from those in lanes 0 to 31: all four quarters hold them",
            )
        name, bits = UNSIGNED_FORMATS[self.format]
        return singles(found[0] & np.uint8(bits), name).astype(np.float64)


def scaled(matrix: Array, scales: Array) -> Array:
    """Return an operand (rows, K) with every block of K multiplied by its scale factor."""
    blocks = matrix.astype(np.float64).reshape(len(matrix), scales.shape[1], -1)
    return (blocks * scales[:, :, None]).reshape(matrix.shape)


def vector_of(site: Site) -> str | None:
    """Return the `.scale_vec` or `.block` modifier of an instruction; None without block
    scaling."""
    if not site.flag("block_scale"):
        return None
    named = site.choose(tuple(f"scale_vec::{n}X" for n in (1, 2, 4)), "")
    named = named or site.choose(("block16", "block32"), "")
    return named.removeprefix("scale_vec::")
