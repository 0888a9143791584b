"""A GEMM of one 128x128 tile per block, written with thread-block-level operations.

Warp 0 of the first warpgroup copies, the second warpgroup multiplies: two m64n128 products for each
16 of K, three stages, the stage before released while the newest group is under way.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    VectorType,
    bf16,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects import cute
from tileas_xdsl.dialects import cute_nvgpu as nvgpu

TILE, K_BLOCK, STAGES = 128, 64, 3
STAGE_BYTES = TILE * K_BLOCK * 2
B_START = STAGES * STAGE_BYTES
BARRIERS = 2 * B_START
SHARED_BYTES = BARRIERS + 2 * STAGES * 8
ACCUMULATOR = VectorType(f32, [64])


@dataclass
class Code:
    """An appender of operations to a block; `code(op)` returns the first result."""

    builder: Builder

    def __call__(self, op: Operation) -> SSAValue:
        self.builder.insert(op)
        return op.results[0] if op.results else None  # type: ignore[return-value]

    def number(self, value: int, type_: Attribute = i32) -> SSAValue:
        return self(arith.ConstantOp(IntegerAttr(value, type_)))


def code_in(block: Block) -> Code:
    return Code(Builder(InsertPoint.at_end(block)))


def gemm(element: Attribute = bf16) -> ModuleOp:
    """Return C = A * B^T: C[M, N] in f32, A[M, K] and B[N, K] with K contiguous."""
    desc = nvgpu.tma_descriptor
    kernel = func.FuncOp("gemm", ((desc, desc, cute.PtrType(f32, "gmem", 16), i32, i32), ()))
    kernel.attributes["cute.kernel"] = UnitAttr()
    kernel.attributes["nvvm.reqntid"] = DenseArrayBase.from_list(i32, [256, 1, 1])
    kernel.attributes["tileas.smem_bytes"] = IntegerAttr(SHARED_BYTES, i32)
    block = kernel.body.block
    code = code_in(block)
    a_map, b_map, out, n_extent, k_extent = block.args

    zero, one = code.number(0), code.number(1)
    warp = code(nvgpu.WarpIdxOp())
    full = code(nvgpu.GetDynSmemOp(BARRIERS, i64))
    empty = code(nvgpu.GetDynSmemOp(BARRIERS + 8 * STAGES, i64))
    first = code(arith.CmpiOp(code(nvgpu.ThreadIdxOp()), zero, "eq"))
    for stage in range(STAGES):
        at = code.number(stage)
        code(nvgpu.MbarrierInitOp(code(cute.PtrAddOp(full, at)), 1, first))
        code(nvgpu.MbarrierInitOp(code(cute.PtrAddOp(empty, at)), 1, first))
    code(nvgpu.FenceMbarrierInitOp())
    code(nvgpu.BarrierOp())
    count = code(arith.DivUIOp(k_extent, code.number(K_BLOCK)))
    row = code(arith.MuliOp(code(nvgpu.BlockIdxOp("y")), code.number(TILE)))
    column = code(arith.MuliOp(code(nvgpu.BlockIdxOp("x")), code.number(TILE)))

    is_producer = code(arith.CmpiOp(warp, code.number(4), "ult"))
    producer, consumer = Block(), Block()
    code(scf.IfOp(is_producer, [], Region(producer), Region(consumer)))
    code(func.ReturnOp())
    shared = (full, empty, count, zero, one)
    _producer(code_in(producer), element, shared, warp, (a_map, b_map), (row, column))
    _consumer(code_in(consumer), element, shared, warp, out, n_extent, (row, column))
    return ModuleOp([kernel])


def _stage_and_phase(code: Code, stage: SSAValue, phase: SSAValue) -> tuple[SSAValue, SSAValue]:
    following = code(arith.AddiOp(stage, code.number(1)))
    wraps = code(arith.CmpiOp(following, code.number(STAGES), "eq"))
    stage = code(arith.SelectOp(wraps, code.number(0), following))
    flipped = code(arith.XOrIOp(phase, code.number(1)))
    return stage, code(arith.SelectOp(wraps, flipped, phase))


def _tile(code: Code, element: Attribute, start: int, stage: SSAValue) -> SSAValue:
    base = code(nvgpu.GetDynSmemOp(start, element, 1024))
    offset = code(arith.MuliOp(stage, code.number(TILE * K_BLOCK)))
    return code(cute.PtrAddOp(base, offset, 1024))


def _producer(code, element, shared, warp, maps, place) -> None:
    full, empty, count, zero, one = shared
    code(nvgpu.SetMaxRegisterOp(40, increase=False))
    is_first = code(arith.CmpiOp(warp, zero, "eq"))
    role = Block()
    code(scf.IfOp(is_first, [], Region(role)))
    code(scf.YieldOp())
    code = code_in(role)
    elected = code(nvgpu.ElectOneOp())
    alone = Block()
    code(scf.IfOp(elected, [], Region(alone)))
    code(scf.YieldOp())
    code = code_in(alone)
    body = Block(arg_types=[i32, i32, i32])
    code(scf.ForOp(zero, count, one, [zero, one], body))
    code(scf.YieldOp())
    code = code_in(body)
    step, stage, phase = body.args
    code(nvgpu.MbarrierWaitOp(code(cute.PtrAddOp(empty, stage)), phase))
    barrier = code(cute.PtrAddOp(full, stage))
    code(nvgpu.MbarrierArriveExpectTxOp(barrier, 2 * STAGE_BYTES))
    x = code(arith.MuliOp(step, code.number(K_BLOCK)))
    for start, map_, y in ((0, maps[0], place[0]), (B_START, maps[1], place[1])):
        tile = _tile(code, element, start, stage)
        code(nvgpu.TmaLoadOp(map_, tile, barrier, [x, y]))
    code(scf.YieldOp(*_stage_and_phase(code, stage, phase)))


def _consumer(code, element, shared, warp, out, n_extent, place) -> None:
    full, empty, count, zero, one = shared
    thread = code(nvgpu.ThreadIdxOp())
    in_group = code(arith.AndIOp(thread, code.number(127)))
    leader = code(arith.CmpiOp(in_group, zero, "eq"))
    undefined = [code(cute.UndefFragmentOp(ACCUMULATOR)) for _ in range(2)]
    body = Block(arg_types=[i32, i32, i32, i32, ACCUMULATOR, ACCUMULATOR])
    loop = scf.ForOp(zero, count, one, [zero, zero, zero, *undefined], body)
    code(loop)
    _multiply(code_in(body), element, body, full, empty, leader, zero)
    wait = nvgpu.WgmmaWaitOp(0, loop.results[3:])
    code(wait)
    _store(code, wait.outs, in_group, out, n_extent, place)
    code(scf.YieldOp())


def _multiply(code, element, body, full, empty, leader, zero) -> None:
    step, stage, phase, before, *accumulators = body.args
    code(nvgpu.MbarrierWaitOp(code(cute.PtrAddOp(full, stage)), phase))
    a, b = (
        code(nvgpu.MakeGmmaSmemDescOp(_tile(code, element, start, stage))) for start in (0, B_START)
    )
    scale = code(arith.CmpiOp(step, zero, "ne"))
    true = code(arith.ConstantOp(IntegerAttr(1, i1)))
    code(nvgpu.WgmmaFenceOp())
    for k in range(4):
        for half in range(2):
            accumulators[half] = code(
                nvgpu.MmaSm90Op(
                    code(nvgpu.SmemDescAddOp(a, 32 * k + 8192 * half)),
                    code(nvgpu.SmemDescAddOp(b, 32 * k)),
                    accumulators[half],
                    true if k else scale,
                    shape=(64, 128, 16),
                    a_type=element,
                    b_type=element,
                )
            )
    code(nvgpu.WgmmaCommitOp())
    wait = nvgpu.WgmmaWaitOp(1)
    code(wait)
    release = code(arith.AndIOp(leader, scale))
    code(nvgpu.MbarrierArriveOp(code(cute.PtrAddOp(empty, before)), release))
    stage_after, phase = _stage_and_phase(code, stage, phase)
    code(scf.YieldOp(stage_after, phase, stage, *accumulators))


def _store(code, accumulators, in_group, out, n_extent, place) -> None:
    """Register i of lane l in warp w: row 16w + l/4 + 8((i/2)%2), column 8(i/4) + 2(l%4) + i%2."""
    lane = code(nvgpu.LaneIdxOp())
    warp = code(arith.DivUIOp(in_group, code.number(32)))
    row = code(arith.AddiOp(code(arith.MuliOp(warp, code.number(16))), place[0]))
    row = code(arith.AddiOp(row, code(arith.DivUIOp(lane, code.number(4)))))
    pair = code(arith.MuliOp(code(arith.RemUIOp(lane, code.number(4))), code.number(2)))
    column = code(arith.AddiOp(pair, place[1]))
    for half, accumulator in enumerate(accumulators):
        for eight in range(2):
            line = code(arith.AddiOp(row, code.number(64 * half + 8 * eight)))
            start = code(arith.AddiOp(code(arith.MuliOp(line, n_extent)), column))
            pointer = code(cute.PtrAddOp(out, start, 8))
            for block in range(16):
                pair = code(cute.SliceFragmentOp(accumulator, 4 * block + 2 * eight, 2))
                place_ = code(cute.PtrAddOp(pointer, code.number(8 * block), 8))
                code(cute.StoreOp(pair, place_))
