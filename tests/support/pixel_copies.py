"""im2col copies: small kernels, and a reference that moves pixel by pixel.

The kernels run on the emulator and, by `tests/hardware/copy_pixels.py`, on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap

Array = NDArray[Any]

DTYPES: dict[str, Any] = {
    "u8": np.uint8,
    "f16": np.float16,
    "s32": np.int32,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
}


@dataclass(frozen=True)
class PixelCopy:
    """One copy: the tensor (channels first), its pixels, the column, and the start coordinates."""

    element: str
    dims: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    box: tuple[int, int]
    at: tuple[int, ...]
    offsets: tuple[int, ...] = ()
    """Filter offsets of a load; a store has none."""
    steps: tuple[int, ...] = ()
    swizzle: str = "none"
    nan_fill: bool = False
    operation: str = "load"
    """`load`, `store`, or the reduction operation."""

    def __str__(self) -> str:
        dims = "x".join(map(str, self.dims))
        return f"{self.operation}-{self.element}-{dims}-{self.at}-{self.offsets}-{self.swizzle}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the numpy element type."""
        return np.dtype(DTYPES[self.element])

    @property
    def size(self) -> int:
        """Return the bytes of the column."""
        return self.box[0] * self.box[1] * self.dtype.itemsize

    def tensor_map(self) -> TensorMap:
        """Return the tensor map of the contiguous tensor."""
        strides: list[int] = []
        pitch = self.dtype.itemsize
        for dim in self.dims[:-1]:
            pitch *= dim
            strides.append(pitch)
        return TensorMap(
            self.element,
            0,
            self.dims,
            tuple(strides),
            self.box,
            self.steps or (1,) * len(self.dims),
            swizzle=self.swizzle,
            nan_fill=self.nan_fill,
            pixels=PixelBox(self.lower, self.upper),
        )

    def tensor(self) -> Array:
        """Return the tensor, batch first."""
        rng = np.random.default_rng(sum(self.dims))
        found = rng.integers(1, 100, tuple(reversed(self.dims)))
        return found.astype(self.dtype)

    def column(self) -> Array:
        """Return the column to store: a row of channels per pixel."""
        rng = np.random.default_rng(sum(self.at) + 7)
        return rng.integers(1, 100, (self.box[1], self.box[0])).astype(self.dtype)

    def pixels(self) -> list[tuple[int, ...]]:
        """Return the coordinates of successive pixels, W first and batch last."""
        spatial = len(self.lower)
        steps = (self.steps or (1,) * len(self.dims))[1:-1]
        last = [d - 1 + u for d, u in zip(self.dims[1:-1], self.upper, strict=True)]
        here = [*self.at[1:]]
        found: list[tuple[int, ...]] = []
        offsets = self.offsets or (0,) * spatial
        for _ in range(self.box[1]):
            moved = [here[i] + offsets[i] for i in range(spatial)]
            found.append((*moved, here[-1]))
            for i in range(spatial):
                here[i] += steps[i]
                if here[i] <= last[i]:
                    break
                here[i] = self.lower[i]
            else:
                here[-1] += 1
        return found

    def expected(self) -> Array:
        """Return the column after a load, or the tensor after a store or reduction."""
        tensor, column = self.tensor(), self.column()
        is_load = self.operation == "load"
        fill = np.nan if self.nan_fill else 0
        found = np.full((self.box[1], self.box[0]), fill).astype(self.dtype)
        for number, pixel in enumerate(self.pixels()):
            if any(not 0 <= p < d for p, d in zip(pixel, self.dims[1:], strict=True)):
                continue
            place = tuple(reversed(pixel))
            for channel in range(self.box[0]):
                source = self.at[0] + channel
                if not 0 <= source < self.dims[0]:
                    continue
                if is_load:
                    found[number, channel] = tensor[(*place, source)]
                else:
                    old, new = tensor[(*place, source)], column[number, channel]
                    tensor[(*place, source)] = _combined(self.operation, old, new)
        return self.in_shared_memory(found) if is_load else tensor

    def in_shared_memory(self, column: Array) -> Array:
        """Return the swizzled bytes of a column in shared memory."""
        data = np.ascontiguousarray(column).view(np.uint8).reshape(-1)
        found = np.zeros_like(data)
        found[BYTE_SWIZZLES[self.swizzle](np.arange(len(data)))] = data
        return found

    def ptx(self) -> str:
        """Return the copy kernel; its arguments are the map and the column in shared memory."""
        rank, place = len(self.dims), ", ".join(map(str, self.at))
        words = self.size // 4
        if self.operation == "load":
            offsets = ", ".join(f"%h{i}" for i in range(rank - 2))
            shifts = "".join(f"mov.b16 %h{i}, {n}; " for i, n in enumerate(self.offsets))
            act = f"""{shifts}
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {self.size};
  cp.async.bulk.tensor.{rank}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes """ + (
                f"[box], [%m, {{{place}}}], [bar], {{{offsets}}};"
            )
            before, after = "", _move("ld.shared", "st.global", words)
            wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra W;"
        else:
            reduces = "" if self.operation == "store" else f".{self.operation}"
            name = "cp.reduce.async" if reduces else "cp.async"
            head = f"{name}.bulk.tensor.{rank}d.global.shared::cta{reduces}"
            act = f"{head}.im2col_no_offs.bulk_group [%m, {{{place}}}], [box];\n"
            act += "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            before = _move("ld.global", "st.shared", words)
            after = wait = ""
        return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 M[128], .param .u64 OUT) .reqntid 32, 1, 1
{{
  .shared .align 1024 .b8 box[{self.size}]; .shared .align 8 .b8 bar[8];
  .reg .b64 %m, %out; .reg .b32 %t, %i, %a, %v; .reg .b16 %h<4>; .reg .pred %p;
  mov.b64 %m, M; cvta.param.u64 %m, %m; ld.param.u64 %out, [OUT]; cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  {before}
  fence.proxy.async.shared::cta; bar.sync 0;
  setp.ne.u32 %p, %t, 0; @%p bra ACTED;
  mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
  {act}
ACTED: bar.sync 0;
  {wait}
  {after}
  ret;
}}
"""


def _move(load: str, store: str, words: int) -> str:
    """Return code by which 32 threads copy words between global memory and the box."""
    to_global = store == "st.global"
    source, target = ("[%a]", "[%g]") if to_global else ("[%g]", "[%a]")
    return f""".reg .b64 %g; .reg .pred %more; mov.u32 %i, %t;
LOOP: setp.ge.u32 %more, %i, {words}; @%more bra MOVED;
  mov.u32 %a, box; mad.lo.u32 %a, %i, 4, %a; mad.wide.u32 %g, %i, 4, %out;
  {load}.b32 %v, {source}; {store}.b32 {target}, %v;
  add.u32 %i, %i, 32; bra LOOP;
MOVED: """


def _combined(operation: str, old: Any, new: Any) -> Any:
    return {"store": new, "add": old + new, "min": min(old, new), "max": max(old, new)}[operation]


COPIES = (
    PixelCopy("f16", (16, 9, 4), (0,), (0,), (8, 16), (0, 0, 0), (0,)),
    PixelCopy("f16", (16, 9, 4), (-1,), (-1,), (16, 24), (0, 7, 1), (2,)),
    PixelCopy("f32", (8, 6, 3), (-2,), (2,), (8, 40), (0, -2, 0), (1,)),
    PixelCopy("f16", (24, 9, 7, 3), (-1, -1), (-1, -1), (16, 32), (8, 7, 4, 0), (0, 0)),
    PixelCopy("f16", (24, 9, 7, 3), (-1, -1), (-1, -1), (16, 32), (16, 3, -1, 1), (2, 1)),
    PixelCopy("f16", (24, 9, 7, 3), (0, 0), (-2, -2), (16, 64), (0, 6, 4, 1), (2, 2)),
    PixelCopy("f32", (16, 5, 5, 2), (-1, -2), (1, 0), (16, 48), (-4, 5, 4, 0), (1, 2)),
    PixelCopy(
        "f16", (64, 8, 6, 2), (-1, -1), (-1, -1), (64, 40), (0, 1, -1, 0), (1, 1), swizzle="128B"
    ),
    PixelCopy(
        "f16", (32, 8, 6, 2), (0, 0), (-2, -2), (32, 24), (0, 5, 3, 1), (2, 0), swizzle="64B",
        nan_fill=True,
    ),
    PixelCopy("bf16", (16, 5, 2), (-1,), (1,), (16, 8), (0, 3, 0), (1,), nan_fill=True),
    PixelCopy("f32", (8, 5, 2), (-1,), (1,), (8, 8), (4, 3, 0), (1,), nan_fill=True),
    PixelCopy("f64", (4, 5, 2), (-1,), (1,), (4, 8), (0, 3, 0), (1,), nan_fill=True),
    PixelCopy("tf32", (8, 5, 2), (-1,), (1,), (8, 8), (0, 3, 0), (1,), nan_fill=True),
    PixelCopy(
        "u8", (32, 8, 14, 4), (-1, -1), (-1, -1), (16, 32), (16, 5, 7, 0), (1, 1),
        steps=(1, 2, 2, 1),
    ),
    PixelCopy(
        "f16", (8, 7, 9, 3), (-1, 0), (0, -1), (8, 50), (0, 1, 3, 0), (0, 1), steps=(1, 2, 3, 1)
    ),
    PixelCopy(
        "f16", (24, 9, 7, 3), (-1, -1), (-1, -1), (16, 32), (0, 6, 3, 0), (0, 0),
        steps=(1, 2, 2, 1),
    ),
    PixelCopy(
        "f16", (24, 9, 7, 3), (-1, -1), (-1, -1), (16, 32), (0, 7, 4, 0), (1, 0),
        steps=(1, 3, 1, 1),
    ),
    PixelCopy(
        "f16", (8, 5, 4, 3, 2), (-1, -1, -1), (-1, -1, -1), (8, 64), (0, 2, 1, 0, 0), (1, 2, 0)
    ),
    PixelCopy("f32", (4, 5, 4, 3, 2), (0, 0, 0), (-2, -1, 0), (4, 30), (0, 2, 2, 1, 0), (2, 1, 0)),
    PixelCopy("f16", (16, 9, 7, 3), (0, 0), (-1, -1), (8, 32), (8, 3, 1, 1), operation="store"),
    PixelCopy("f16", (16, 9, 7, 3), (1, 0), (0, 0), (16, 48), (8, 8, 6, 1), operation="store"),
    PixelCopy(
        "f16", (64, 6, 5, 2), (0, 0), (0, 0), (64, 24), (0, 4, 3, 0), swizzle="128B",
        operation="store",
    ),
    PixelCopy("f16", (16, 9, 4), (0,), (0,), (16, 20), (8, 7, 1), operation="add"),
    PixelCopy("s32", (8, 6, 4, 2), (0, 0), (0, 0), (8, 24), (0, 5, 2, 1), operation="max"),
)  # fmt: skip
"""Copies of every rank that wrap around their pixels, exceed the tensor, or start in between."""
