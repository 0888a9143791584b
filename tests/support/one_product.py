"""One-warpgroup kernels that multiply one tile, in every form of wgmma.

A is 64 x K and B is N x K, each in one tile of shared memory whose contiguous dimension is 128
bytes (or `span`) wide, as a tensor map writes it: along K for k-major operands, along M or N else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnitAttr,
    VectorType,
    bf16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from support.tile_gemm import Code, code_in
from tileas_xdsl.dialects import cute
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

M = 64
B_START, BARRIER, SHARED_BYTES = 32768, 98304, 98304 + 8


@dataclass(frozen=True)
class Element:
    """An operand element type: its names in memory, in numpy, and in tensor maps."""

    ptx: str
    type: Attribute
    dtype: Any
    map: str
    bytes: int


ELEMENTS = {
    e.ptx: e
    for e in (
        Element("f16", Float16Type(), np.float16, "f16", 2),
        Element("bf16", BFloat16Type(), ml_dtypes.bfloat16, "bf16", 2),
        Element("tf32", Float32Type(), np.float32, "f32", 4),
        Element("e4m3", Float8E4M3FNType(), ml_dtypes.float8_e4m3fn, "u8", 1),
        Element("e5m2", Float8E5M2Type(), ml_dtypes.float8_e5m2, "u8", 1),
        Element("s8", IntegerType(8), np.int8, "u8", 1),
        Element("u8", IntegerType(8), np.uint8, "u8", 1),
    )
}
ACCUMULATORS = {"f32": Float32Type(), "f16": Float16Type(), "i32": i32}
RESULTS = {"f32": np.float32, "f16": np.float16, "i32": np.int32}


@dataclass(frozen=True)
class Form:
    """One variant of the matrix product."""

    a: str
    b: str
    accumulator: str = "f32"
    n: int = 64
    a_major: str = "k"
    b_major: str = "k"
    a_in_registers: bool = False
    span: int = 128
    """Bytes of a row in shared memory, which is also the swizzle span."""

    @property
    def k(self) -> int:
        """Return the number of elements along K: one row of shared memory."""
        return self.span // ELEMENTS[self.a].bytes

    def __str__(self) -> str:
        registers = "-registers" * self.a_in_registers
        majors = f"{self.a_major}-{self.b_major}"
        return f"{self.a}-{self.b}-{self.accumulator}-n{self.n}-{majors}-{self.span}B{registers}"


def product(form: Form) -> ModuleOp:
    """Return C = A * B^T; arguments are the maps of A and B, then A and C in global memory."""
    a, accumulator = ELEMENTS[form.a], ACCUMULATORS[form.accumulator]
    pointers = (cute.PtrType(a.type, "gmem", 16), cute.PtrType(accumulator, "gmem", 16))
    kernel = func.FuncOp("product", ((nvgpu.tma_descriptor, nvgpu.tma_descriptor, *pointers), ()))
    kernel.attributes["cute.kernel"] = UnitAttr()
    kernel.attributes["nvvm.reqntid"] = DenseArrayBase.from_list(i32, [128])
    kernel.attributes["tileas.smem_bytes"] = IntegerAttr(SHARED_BYTES, i32)
    code = code_in(kernel.body.block)
    a_map, b_map, a_memory, out = kernel.body.block.args
    zero = code.number(0)
    thread = code(nvgpu.ThreadIdxOp())
    first = code(arith.CmpiOp(thread, zero, "eq"))
    _copy(code, form, (a_map, b_map), first)
    place = _place(code, thread)
    descriptors = [_descriptor(code, form, "a", 0), _descriptor(code, form, "b", B_START)]
    result = code(cute.UndefFragmentOp(VectorType(accumulator, [form.n // 2])))
    steps = form.span // 32
    fragments = [_fragment(code, form, a_memory, place, step) for step in range(steps)]
    code(nvgpu.WgmmaFenceOp())
    for step in range(steps):
        result = code(
            nvgpu.MmaSm90Op(
                fragments[step] or _step(code, form, descriptors[0], form.a_major, step),
                _step(code, form, descriptors[1], form.b_major, step),
                result,
                code(arith.ConstantOp(IntegerAttr(int(step > 0), IntegerType(1)))),
                shape=(M, form.n, 32 // a.bytes),
                a_type=form.a,
                b_type=form.b,
                a_major=form.a_major,
                b_major=form.b_major,
            )
        )
    code(nvgpu.WgmmaCommitOp())
    result = code(nvgpu.WgmmaWaitOp(0, [result]))
    _store(code, form, result, out, place)
    code(func.ReturnOp())
    return ModuleOp([kernel])


def _panels(form: Form, name: str) -> int:
    """Return the boxes of an operand: panels one row wide along M or N, or one of whole rows."""
    extent, major = (M, form.a_major) if name == "a" else (form.n, form.b_major)
    return 1 if major == "k" else extent * ELEMENTS[form.a].bytes // form.span


def _copy(code: Code, form: Form, maps: tuple[SSAValue, SSAValue], first: SSAValue) -> None:
    barrier = code(nvgpu.GetDynSmemOp(BARRIER, i64))
    code(nvgpu.MbarrierInitOp(barrier, 1, first))
    code(nvgpu.FenceMbarrierInitOp())
    code(nvgpu.BarrierOp())
    size = ELEMENTS[form.a].bytes
    code(nvgpu.MbarrierArriveExpectTxOp(barrier, (M + form.n) * form.k * size, first))
    zero = code.number(0)
    for name, map_, start in (("a", maps[0], 0), ("b", maps[1], B_START)):
        panels = _panels(form, name)
        for panel in range(panels):
            at = start + panel * form.k * form.span
            tile = code(nvgpu.GetDynSmemOp(at, ELEMENTS[form.a].type, 1024))
            x = code.number(panel * form.span // size)
            code(nvgpu.TmaLoadOp(map_, tile, barrier, [x, zero], pred=first))
    code(nvgpu.MbarrierWaitOp(barrier, zero))


def _descriptor(code: Code, form: Form, name: str, start: int) -> SSAValue:
    major = form.a_major if name == "a" else form.b_major
    tile = code(nvgpu.GetDynSmemOp(start, bf16, 1024))
    leading = 16 if major == "k" else form.k * form.span
    swizzle = f"{form.span}B"
    return code(nvgpu.MakeGmmaSmemDescOp(tile, swizzle, leading, 8 * form.span))


def _step(code: Code, form: Form, descriptor: SSAValue, major: str, step: int) -> SSAValue:
    """Return the descriptor of one K step: 32 bytes within a row, or whole rows."""
    rows = 32 // ELEMENTS[form.a].bytes
    return code(nvgpu.SmemDescAddOp(descriptor, step * (32 if major == "k" else rows * form.span)))


def _place(code: Code, thread: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return row and column of a thread's first element: 16w + l/4 and 2(l%4)."""
    warp = code(arith.DivUIOp(thread, code.number(32)))
    lane = code(nvgpu.LaneIdxOp())
    rows = code(arith.MuliOp(warp, code.number(16)))
    row = code(arith.AddiOp(rows, code(arith.DivUIOp(lane, code.number(4)))))
    return row, code(arith.MuliOp(code(arith.RemUIOp(lane, code.number(4))), code.number(2)))


def _fragment(
    code: Code, form: Form, memory: SSAValue, place: tuple[SSAValue, SSAValue], step: int
) -> SSAValue | None:
    """Load A into registers: pairs at rows +0 and +8, columns +0 and +8 (16-bit elements)."""
    if not form.a_in_registers:
        return None
    pairs: list[SSAValue] = []
    for column, row in ((0, 0), (0, 8), (8, 0), (8, 8)):
        pointer = _pointer(code, memory, place, (row, 16 * step + column), form.k)
        pairs.append(code(cute.LoadOp(pointer, VectorType(ELEMENTS[form.a].type, [2]))))
    return code(cute.MakeFragmentOp(pairs))


def _pointer(
    code: Code,
    memory: SSAValue,
    place: tuple[SSAValue, SSAValue],
    moved: tuple[int, int],
    width: int,
) -> SSAValue:
    row = code(arith.AddiOp(place[0], code.number(moved[0])))
    column = code(arith.AddiOp(place[1], code.number(moved[1])))
    offset = code(arith.AddiOp(code(arith.MuliOp(row, code.number(width))), column))
    size = memory.type.element_bytes if isinstance(memory.type, cute.PtrType) else 1
    return code(cute.PtrAddOp(memory, offset, 2 * size))


def _store(
    code: Code, form: Form, result: SSAValue, out: SSAValue, place: tuple[SSAValue, SSAValue]
) -> None:
    for pair in range(form.n // 4):
        moved = (8 * (pair % 2), 8 * (pair // 2))
        part = code(cute.SliceFragmentOp(result, 2 * pair, 2))
        code(cute.StoreOp(part, _pointer(code, out, place, moved, form.n)))


def operands(form: Form, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return A and B of small integers, whose products are exact in every accumulator."""
    low = 0 if "u8" in (form.a, form.b) else -2
    a = rng.integers(low, 3, (M, form.k)).astype(ELEMENTS[form.a].dtype)
    b = rng.integers(low, 3, (form.n, form.k)).astype(ELEMENTS[form.b].dtype)
    return a, b


def map_of(form: Form, name: str, operand: NDArray[Any]) -> TensorMapArg:
    """Return the tensor map of an operand, stored with its major dimension contiguous."""
    element, major = (form.a, form.a_major) if name == "a" else (form.b, form.b_major)
    kind = ELEMENTS[element]
    stored = np.ascontiguousarray(operand if major == "k" else operand.T)
    rows, columns = stored.shape
    tensor_map = TensorMap(
        element=kind.map,
        address=0,
        dims=(columns, rows),
        strides=(columns * kind.bytes,),
        box=(form.span // kind.bytes, rows),
        swizzle=f"{form.span}B",
    )
    return TensorMapArg(tensor_map, stored.view(np.uint8) if kind.bytes == 1 else stored)


FORMS = (
    *(Form("bf16", "bf16", n=n) for n in (8, 64, 136, 256)),
    *(Form("f16", "f16", accumulator) for accumulator in ("f16", "f32")),
    *(Form("bf16", "bf16", n=128, a_major=a, b_major=b) for a in ("k", "mn") for b in ("k", "mn")),
    *(Form("f16", "f16", b_major=b, a_in_registers=True) for b in ("k", "mn")),
    *(Form(a, b, "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    Form("e4m3", "e4m3", "f16", n=32),
    *(Form(a, b, "i32", n=48) for a in ("s8", "u8") for b in ("s8", "u8")),
    Form("tf32", "tf32", n=24),
    *(Form("bf16", "bf16", span=span) for span in (64, 32)),
    replace(Form("f16", "f16", n=64, span=64), a_major="mn"),
)
