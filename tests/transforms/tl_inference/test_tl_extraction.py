"""Kernels of `tl` as inference sees them."""

from __future__ import annotations

from tests.support.ir import parse
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.inference.program import (
    AccessKind,
    CumSum,
    Gemm,
    Loop,
    LoopKind,
    Program,
    Reduce,
    Scope,
    WarpPolicy,
)
from tileas_xdsl.layout.expr.expression import dimension, symbol
from tileas_xdsl.transforms.tl_inference.extraction import Extraction

I, J, K = (dimension(k) for k in range(3))
S0, S1 = (symbol(k) for k in range(2))


def _program(body: str, arguments: str = "%A: memref<64x64xf32>", grid: str = "") -> Program:
    text = f"func.func @k({arguments}) {{ tl.kernel {grid} threads(128) {{ {body} }} func.return }}"
    module = parse(text)
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    return Extraction(kernel, "sm_90a").program()


def _loop(program: Program, number: int = 0) -> Loop:
    loop = program.operations[number]
    assert isinstance(loop, Loop)
    return loop


FRAGMENT = "memref<64x64xf32, #tl<space fragment>>"


def test_a_loop_has_its_accesses_in_order() -> None:
    program = _program(f"""
      %f = tl.alloc_fragment : {FRAGMENT}
      tl.parallel (%i, %j) in (64, 64) {{
        %a = memref.load %A[%j, %i] : memref<64x64xf32>
        memref.store %a, %f[%i, %j] : {FRAGMENT}
      }}""")
    loop = _loop(program)
    assert [access.kind for access in loop.accesses] == [AccessKind.READ, AccessKind.WRITE]
    assert loop.accesses[0].indices == (J, I)
    assert loop.accesses[1].indices == (I, J)
    assert program.buffers["f"].scope is Scope.FRAGMENT
    assert program.buffers["A"].bits == 32


def test_indices_are_followed_to_what_all_threads_share() -> None:
    program = _program(
        """
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %start = arith.muli %b, %c16 : index
      tl.parallel (%i, %j) in (8, 4) {
        %half = arith.divui %j, %c2 : index
        %rest = arith.remsi %j, %c2 : index
        %row = affine.apply affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 + s0)> (%i, %half)[%start]
        %a = memref.load %A[%row, %rest] : memref<64x64xf32>
        %at = arith.fptosi %a : f32 to i32
        %found = arith.index_cast %at : i32 to index
        memref.store %a, %A[%found, %j] : memref<64x64xf32>
      }""",
        grid="(%b) in (4)",
    )
    read, write = _loop(program).accesses
    assert read.indices == (I * 2 + J // 2 + S0 * 16, J % 2)
    assert write.indices == (None, J)


def test_serial_loops_inside_count_their_rounds_and_those_around_multiply_trips() -> None:
    program = _program("""
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c12 = arith.constant 12 : index
      tl.serial %n = %c0 to %c3 {
        tl.parallel (%i) in (64) {
          tl.serial %k = %c4 to %c12 step %c4 {
            %a = memref.load %A[%i, %k] : memref<64x64xf32>
            %is = arith.cmpf ogt, %a, %a : f32
            scf.if %is {
              memref.store %a, %A[%n, %k] : memref<64x64xf32>
            }
          }
        }
      }""")
    loop = _loop(program)
    assert loop.inner == (2,)
    assert program.trip_counts == (3,)
    assert loop.accesses[0].indices == (I, J * 4 + 4)
    assert loop.accesses[1].indices == (S0, J * 4 + 4)
    assert [access.is_guarded for access in loop.accesses] == [False, True]


def test_copies_fills_and_operations_on_whole_buffers() -> None:
    shared = "memref<32x64xf16, #tl<space shared>>"
    wide = "memref<64x32xf16, #tl<space shared>>"
    sums = "memref<32x32xf32, #tl<space fragment>>"
    column = "memref<32xf32, #tl<space fragment>>"
    program = _program(
        f"""
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %s = tl.alloc_shared : {shared}
      %t = tl.alloc_shared : {wide}
      %c = tl.alloc_fragment : {sums}
      %m = tl.alloc_fragment : {column}
      %r = tl.alloc_fragment : {sums}
      tl.copy %A[%c8, %b] to %s : memref<64x64xf16> to {shared}
      tl.fill %c, %zero : {sums}
      tl.gemm %s, %t, %c policy(full_row) : {shared}, {wide}, {sums}
      tl.reduce max %c to %m axis 1 {{clear = false}} : {sums} to {column}
      tl.cumsum %c to %r axis 0 {{reverse}} : {sums} to {sums}""",
        arguments="%A: memref<64x64xf16>",
        grid="(%b) in (4)",
    )
    copy, fill = _loop(program, 0), _loop(program, 1)
    assert copy.kind is LoopKind.COPY
    assert copy.extents == (32, 64)
    assert copy.accesses[0].indices == (I + 8, S0 + J)
    assert copy.accesses[1].indices == (I, J)
    assert fill.kind is LoopKind.FILL
    gemm, reduce, cumsum = program.operations[2:]
    assert isinstance(gemm, Gemm)
    assert gemm.policy is WarpPolicy.FULL_ROW
    assert isinstance(reduce, Reduce)
    assert (reduce.axis, reduce.clear, reduce.keep_dims) == (1, False, False)
    assert isinstance(cumsum, CumSum)
    assert (cumsum.axis, cumsum.reverse) == (0, True)


def test_floating_reads_annotations_and_storages() -> None:
    rows, line = (f"memref<{shape}xf32, #tl<space fragment>>" for shape in ("4x64", "256"))
    layout = "#tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>"
    program = _program(f"""
      %c0 = arith.constant 0 : index
      %f = tl.alloc_fragment {{layout = {layout}}} : {rows}
      %g = tl.reshape %f : {rows} to {line}
      tl.parallel (%i) in (256) {{
        %x = memref.load %g[%i] : {line}
        memref.store %x, %g[%i] : {line}
      }}
      %x = memref.load %f[%c0, %c0] : {rows}""")
    assert program.floating == {"f"}
    assert program.annotations["f"].slots == 4
    assert program.buffers["g"].storage == program.buffers["f"].storage == "f"
