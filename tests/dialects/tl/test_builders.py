"""Constructors and operation interfaces: buffers, loops, copies, compute."""

from __future__ import annotations

import pytest
from xdsl.builder import Builder
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType, ModuleOp, f16, f32
from xdsl.ir import Block
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.tl.attributes import FragmentAttr, SharedAttr
from tileas_xdsl.dialects.tl.buffers import (
    AllocFragmentOp,
    AllocLocalOp,
    AllocSharedOp,
    ReshapeOp,
    ViewOp,
    storage_of,
)
from tileas_xdsl.dialects.tl.compute import AtomicAddOp, CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.enums import Policy, Reduction, Space, SpaceAttr
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp, CopyOp, FillOp
from tileas_xdsl.layout.output.text import parse_cute_layout

INDEX = IndexType()


class Program:
    """A kernel that operations are added to; its arguments are buffers in global memory."""

    def __init__(self, *types: MemRefType) -> None:
        self.body = Block(arg_types=[INDEX])
        self.function = func.FuncOp("k", FunctionType.from_lists([*types, INDEX], []))
        *self.arguments, self.count = self.function.body.block.args
        self.kernel = KernelOp(128, self.body, [self.count])
        self.function.body.block.add_ops([self.kernel, func.ReturnOp()])
        self.builder = Builder(InsertPoint.at_end(self.body))

    def add(self, op):
        """The operation, at the end of the block."""
        return self.builder.insert(op)

    def lines(self) -> list[str]:
        """The text of the block, which is valid."""
        module = ModuleOp([self.function])
        verify_module(module)
        text = [line.strip() for line in str(module).splitlines()]
        start = next(k for k, line in enumerate(text) if line.startswith("tl.kernel"))
        return text[start : text.index("func.return") - 1]


def test_a_kernel_has_values_and_numbers_as_extents():
    program = Program()
    assert program.kernel.extents == [program.count]
    assert program.lines() == ["tl.kernel (%1) in (%0) threads(128) {"]
    fixed = KernelOp(64, Block(arg_types=[INDEX] * 2), [3, 5])
    assert fixed.extents == [3, 5]
    assert fixed.thread_count == 64


def test_buffers_and_their_storage():
    program = Program()
    layout = FragmentAttr(
        AffineMap(2, 1, (AffineExpr.dimension(0) + AffineExpr.symbol(0) * 64,)), 2
    )
    bytes_ = SharedAttr(parse_cute_layout("(64,32):(64,2)"))
    fragment = program.add(AllocFragmentOp((64, 4), f32, layout))
    shared = program.add(AllocSharedOp((64, 32), f16, bytes_))
    program.add(AllocLocalOp((), f32))
    flat = program.add(ReshapeOp(shared, MemRefType(f16, [2048], memory_space=_space("shared"))))
    words = program.add(ViewOp(flat, MemRefType(f32, [1024], memory_space=_space("shared"))))
    assert storage_of(words.buffer) is shared.buffer
    assert storage_of(fragment.buffer) is fragment.buffer
    assert program.lines()[1:] == [
        "%2 = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1)[s0] -> "
        "((d0 + (s0 * 64)))>, replicas = 2>} : memref<64x4xf32, #tl<space fragment>>",
        '%3 = tl.alloc_shared {layout = #tl.shared<"(64,32):(64,2)">} : '
        "memref<64x32xf16, #tl<space shared>>",
        "%4 = tl.alloc_local : memref<f32, #tl<space local>>",
        "%5 = tl.reshape %3 : memref<64x32xf16, #tl<space shared>> to "
        "memref<2048xf16, #tl<space shared>>",
        "%6 = tl.view %5 : memref<2048xf16, #tl<space shared>> to "
        "memref<1024xf32, #tl<space shared>>",
    ]


def _space(name: str) -> SpaceAttr:
    return SpaceAttr(Space(name))


def test_loops():
    program = Program()
    zero, four, two = (
        program.add(arith.ConstantOp.from_int_and_width(n, INDEX)) for n in (0, 4, 2)
    )
    inner = Block(arg_types=[INDEX])
    serial = program.add(SerialOp(zero, four, inner, step=two))
    pipelined = program.add(PipelinedOp(zero, program.count, Block(arg_types=[INDEX]), stages=3))
    block = Block(arg_types=[INDEX, INDEX])
    parallel = program.add(ParallelOp((2, 3), block, coalesced_width=1))
    assert serial.static_bounds == range(0, 4, 2)
    assert pipelined.static_bounds is None
    assert parallel.extents == (2, 3)
    assert list(parallel.variables) == list(block.args)
    assert program.lines()[4:] == [
        "tl.serial %5 = %2 to %3 step %4 {",
        "}",
        "tl.pipelined %6 = %2 to %0 stages(3) {",
        "}",
        "tl.parallel (%7, %8) in (2, 3) attributes {coalesced_width = 1 : i64} {",
        "}",
    ]


@pytest.mark.parametrize(
    ("extents", "loop", "source", "target"),
    [
        (None, (16, 32), (None, 0, 1), (0, 1)),
        ((1, 8, 32), (8, 32), (None, 0, 1), (0, 1)),
        ((8, 1, 32), (8, 32), (0, None, 1), (0, 1)),
        ((1, 1, 32), (1, 32), (None, 0, 1), (0, 1)),
    ],
)
def test_a_copy_says_which_variable_each_dimension_has(extents, loop, source, target):
    program = Program(MemRefType(f32, [4, 64, 64]))
    shared = program.add(AllocSharedOp((16, 32), f32))
    offsets = [program.body.args[0]] * 3
    copy = program.add(CopyOp(program.arguments[0], shared, offsets, extents=extents))
    assert copy.loop_extents == loop
    assert copy.source_side.variables == source
    assert copy.target_side.variables == target
    assert list(copy.source_side.offsets) == offsets
    assert list(copy.target_side.offsets) == []
    said = "" if extents is None else f" extents({', '.join(map(str, extents))})"
    assert program.lines()[2] == (
        f"tl.copy %0[%2, %2, %2] to %3{said} : memref<4x64x64xf32> to "
        "memref<16x32xf32, #tl<space shared>>"
    )


def test_compute():
    program = Program()
    a, b = (program.add(AllocSharedOp(shape, f16)) for shape in ((64, 32), (48, 32)))
    c, d = (program.add(AllocFragmentOp((64, 48), f32)) for _ in range(2))
    m = program.add(AllocFragmentOp((1, 48), f32))
    gemm = program.add(GemmOp(a, b, c, transpose_b=True, policy="full_row", clear=True))
    reduce = program.add(ReduceOp("absmax", c, m, 0, keep_dims=True, clear=False))
    cumsum = program.add(CumSumOp(c, d, 1, reverse=True))
    convert = program.add(ConvertLayoutOp(d, c, 40))
    assert gemm.sizes == (64, 48, 32)
    assert gemm.warp_policy is Policy.FULL_ROW
    assert GemmOp(a, b, c).warp_policy is Policy.SQUARE
    assert reduce.reduction is Reduction.ABSMAX
    assert not reduce.is_cleared
    assert cumsum.reverse is not None
    assert convert.cost is not None
    assert [line.split(" : ")[0] for line in program.lines()[6:9]] == [
        "tl.gemm %2, %3, %4 policy(full_row) {transpose_b, clear}",
        "tl.reduce absmax %4 to %6 axis 0 {keep_dims, clear = false}",
        "tl.cumsum %4 to %5 axis 1 {reverse}",
    ]


def test_what_iterations_do():
    program = Program(MemRefType(f32, [4]))
    fragment = program.add(AllocFragmentOp((4,), f32))
    value = program.add(arith.ConstantOp.from_int_and_width(1, 32))
    number = program.add(arith.SIToFPOp(value, f32))
    fill = program.add(FillOp(fragment, number))
    block = Block(arg_types=[INDEX])
    block.add_op(AtomicAddOp(program.arguments[0], block.args, number))
    program.add(ParallelOp((4,), block))
    assert fill.loop_extents == (4,)
    assert program.lines()[4:] == [
        "tl.fill %3, %5 : memref<4xf32, #tl<space fragment>>",
        "tl.parallel (%6) in (4) {",
        "tl.atomic_add %0[%6], %5 : memref<4xf32>",
        "}",
    ]
