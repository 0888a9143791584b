"""C = A * B written at the level of `cutlass`, `cute` and `cute_nvgpu`, as a user of CuTe would.

Pipelines, roles, a tile scheduler, TMA and products are the text's own; no pass for tiles runs.
The parts are files; what is repeated along a tile is written by `CuteGemm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, Array, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of
from kernels.products import FP8_SUM_UNIT

TARGETS: Mapping[str, str] = {"wgmma": "sm_90a", "tcgen05": "sm_100a"}
PRODUCES = ("steps", "region")
SCHEDULERS = ("dp", "static_persistent")
ROWS_OF_GROUP = 64
ROW_BYTES = 128
"""Bytes of a tile's row in shared memory: one row of the 128-byte swizzle."""
STEP_BYTES = 32
"""Bytes along K of one MMA instruction."""
BARRIER_BYTES = 8


@dataclass(frozen=True)
class CuteGemm(Kernel):
    """A is M x K, B is N x K; C is M x N of f32, and N is a multiple of 4."""

    name: ClassVar[str] = "cute_gemm"
    sizes: ClassVar[Sizes] = {"m": 140, "n": 72, "k": 208}

    instruction: str = "wgmma"
    element: str = "f16"
    produce: str = "steps"
    """Stages are filled in `steps` (acquire, copies, commit) or by a `region`."""
    scheduler: str = "dp"
    blocks: int = 3
    """Blocks that are launched where they are persistent."""
    stages: int = 3
    bn: int = 64
    groups: int = 2
    """Warpgroups that multiply by wgmma."""

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.instruction not in TARGETS or self.produce not in PRODUCES:
            raise ValueError(f"no gemm multiplies by {self.instruction} and fills {self.produce}")
        if self.scheduler not in SCHEDULERS:
            raise ValueError(f"no gemm is scheduled {self.scheduler}")

    @property
    def target(self) -> str:
        return TARGETS[self.instruction]

    @property
    def pipeline(self) -> str:
        return "cute-to-ptx"

    @property
    def bm(self) -> int:
        """Rows of a tile."""
        return ROWS_OF_GROUP * self.groups if self.instruction == "wgmma" else 128

    @property
    def bk(self) -> int:
        """Columns of a tile of A: a row of the swizzle."""
        return ROW_BYTES * 8 // ELEMENTS[self.element].bits

    @property
    def consumers(self) -> int:
        """Loops that multiply: the warpgroups of wgmma share one."""
        return 1

    def text(self) -> str:
        facts = self._facts()
        loads = fill("cute_gemm/loads.mlir", facts)
        produce = fill(f"cute_gemm/produce_{self.produce}.mlir", {**facts, "LOADS": loads})
        place = fill(f"cute_gemm/place_{self.instruction}.mlir", facts)
        return fill(
            f"cute_gemm/{self.instruction}.mlir",
            {
                **facts,
                "SIZES": fill("cute_gemm/sizes.mlir", facts),
                "PRODUCE": produce,
                "PLACE_OF_WARP": place,
                "PRODUCTS": "\n".join(self._products()),
                "READS": "\n".join(self._reads()),
                "STORES": "\n".join(self._stores()),
            },
        )

    def _facts(self) -> Mapping[str, str | int]:
        tiles = self._slot * self.stages
        others = tiles + 2 * BARRIER_BYTES * self.stages
        place = others + 4 * BARRIER_BYTES
        return {
            "BM": self.bm,
            "BN": self.bn,
            "BK": self.bk,
            "ABOVE_M": self.bm - 1,
            "ABOVE_N": self.bn - 1,
            "ABOVE_K": self.bk - 1,
            "STAGES": self.stages,
            "STEP": STEP_BYTES * 8 // ELEMENTS[self.element].bits,
            "ELEMENT": ELEMENTS[self.element].ir,
            "SCHEDULER": self.scheduler,
            "SLOT": self._slot,
            "BYTES_A": self.bm * ROW_BYTES,
            "BYTES_OF_ROWS": ROWS_OF_GROUP * ROW_BYTES,
            "BARRIERS": tiles,
            "OTHERS": others,
            "PLACE": place,
            "COLUMNS": 2 * self.bn,
            "SUMS": self.bn // 2,
            "SUM": f"%p{ROW_BYTES // STEP_BYTES - 1}",
            "ALIGN": 4 * self._width,
            "INTERFACE": self._interface(place + BARRIER_BYTES),
            **self._warps(),
        }

    @property
    def _slot(self) -> int:
        """Bytes of a stage."""
        return (self.bm + self.bn) * ROW_BYTES

    @property
    def _width(self) -> int:
        """Elements that a thread stores at once."""
        return 2 if self.instruction == "wgmma" else 4

    def _warps(self) -> Mapping[str, str | int]:
        count = 4 * self.groups
        return {
            "CONSUMERS": ", ".join(str(4 + warp) for warp in range(count)),
            "COUNT": count,
            "LAST": 3 + count,
            "WARPS": 4 + count,
            "GROWS": "true" if self.groups > 1 else "false",
            "MASK": ((1 << count) - 1) << 4,
        }

    def _interface(self, shared: int) -> str:
        """What a launch has to know."""
        warps = 4 + 4 * self.groups if self.instruction == "wgmma" else 8
        element = ELEMENTS[self.element].ir
        recipes = ", ".join(
            f"{{argument = {n} : i64, box = array<i64: {self.bk}, {rows}>, element = {element}, "
            'swizzle = "128B", nan_fill = false}'
            for n, rows in enumerate((self.bm, self.bn))
        )
        return (
            f"cute.kernel, nvvm.reqntid = array<i32: {32 * warps}, 1, 1>, nvvm.minctasm = 1 : i32, "
            f"tileas.smem_bytes = {shared} : i32, "
            'tileas.parameters = ["tensor map 0", "tensor map 1", "ptr 2", "size 2 0", "size 2 1", '
            f'"size 0 1"], tileas.tensor_maps = [{recipes}], tileas.smem_map = ""'
        )

    def _products(self) -> Iterator[str]:
        """The MMA instructions, one per K step in a row of the swizzle."""
        sum_, yes, word = "%sum", "%adds", ELEMENTS[self.element].word
        k = STEP_BYTES * 8 // ELEMENTS[self.element].bits
        for step in range(ROW_BYTES // STEP_BYTES):
            for operand in "ab":
                bytes_ = STEP_BYTES * step
                yield f"%{operand}{step} = cute_nvgpu.smem_desc_add %d{operand} bytes {bytes_}"
            if self.instruction == "wgmma":
                yield (
                    f"%p{step} = cute_nvgpu.arch.mma.SM90 %a{step}, %b{step}, {sum_} "
                    f'shape [{ROWS_OF_GROUP}, {self.bn}, {k}] elements "{word}", "{word}" '
                    'major "k", "k" : !cute_nvgpu.smem_desc, !acc -> !acc'
                )
                sum_ = f"%p{step}"
            else:
                yield (
                    f"cute_nvgpu.arch.mma.SM100.umma %a{step}, %b{step}, %d accumulate {yes} "
                    f'shape [{self.bm}, {self.bn}, {k}] elements "{word}", "{word}", "f32" '
                    'major "k", "k" blocks 1'
                )
                yes = "%yes"

    def _reads(self) -> Iterator[str]:
        """The accumulators of a row, 32 columns at a time."""
        parts = range(self.bn // 32)
        for part in parts:
            yield f"%at{part} = arith.constant {32 * part} : i32"
            yield f"%from{part} = arith.addi %d, %at{part} : i32"
            yield (
                f"%load{part} = cute_nvgpu.arch.copy.SM100.tmem_load %from{part} "
                'shape "32x32b" repeat 32 : vector<32xf32>'
            )
        loaded, there = (", ".join(f"%{name}{n}" for n in parts) for name in ("load", "part"))
        types = ", ".join("vector<32xf32>" for _ in parts)
        wait = "cute_nvgpu.arch.sm100.wait_tmem"
        yield f'{there} = {wait} "load", {loaded} : {types} -> {types}'
        yield f"%acc = cute.fragment.make {there} : {types} -> vector<{self.bn}xf32>"

    def _stores(self) -> Iterator[str]:
        """The vectorised stores of adjacent accumulators: pairs in two rows, or four in one."""
        yield fill("cute_gemm/target.mlir", self._facts()).rstrip()
        pointer = f"!cute.ptr<f32, gmem, align<{4 * self._width}>>"
        halves = (0,)
        if self.instruction == "wgmma":
            halves = (0, 1)
            yield "%eight = arith.constant 8 : i64"
            yield "%below = arith.muli %wide_n, %eight : i64"
            yield f"%to1 = cute.add_offset %to0, %below : {pointer}, i64 -> {pointer}"
            yield "%eight_rows = arith.constant 8 : i32"
            yield "%row1 = arith.addi %row, %eight_rows : i32"
            yield "%in1 = arith.cmpi ult, %row1, %m : i32"
        column, step = (8, 4) if self.instruction == "wgmma" else (4, 4)
        held = f"vector<{self.bn // 2 if self.instruction == 'wgmma' else self.bn}xf32>"
        for n in range(self.bn // column):
            yield f"%column{n} = arith.constant {column * n} : i32"
            yield f"%fits{n} = arith.cmpi slt, %column{n}, %room : i32"
            for half in halves:
                some, first = f"vector<{self._width}xf32>", step * n + 2 * half
                yield f"%is{n}_{half} = arith.andi %fits{n}, %in{half} : i1"
                yield f"%v{n}_{half} = cute.fragment.slice %acc [{first}] : {held} -> {some}"
                yield (
                    f"cute.ptr.store %v{n}_{half}, %to{half} offset {column * n} "
                    f"if %is{n}_{half} : {some}, {pointer}"
                )

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (n, k))
        return (a, b, ELEMENTS["f32"].unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products are exact in f32; only the accumulation rounds, that of bytes coarser."""
        a, b = inputs[0].astype(np.float64), inputs[1].astype(np.float64).T
        sizes = np.abs(a) @ np.abs(b)
        of_bytes = FP8_SUM_UNIT * sizes if inputs[0].dtype.itemsize == 1 else 0.0
        return {2: Reference(a @ b, accumulated(a.shape[1], sizes) + of_bytes)}

    def grid(self, sizes: Sizes) -> Grid:
        if self.scheduler == "static_persistent":
            return (self.blocks, 1, 1)
        return (tiles_of(sizes["m"], self.bm) * tiles_of(sizes["n"], self.bn), 1, 1)
