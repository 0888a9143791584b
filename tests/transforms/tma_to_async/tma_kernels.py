"""Kernels of tiled loads and stores that TMA may do, for `lower-tma-load-store-to-async`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.elements import ELEMENTS, Array, Element

HEAD = """
#load = #nv_tileas<atom tma_load_2d>
#store = #nv_tileas<atom tma_store_2d>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#open = #nv_tileas<atom unknown_copy>
#smem = #nv_tileas<space smem>
!mem = !nv_tileas.mem_token
!token = !nv_tileas.token
"""


@dataclass(frozen=True)
class Launch:
    """A kernel, its arguments, and what all of them should hold afterwards."""

    text: str
    arguments: Sequence[Any]
    grid: tuple[int, int, int]
    expected: Sequence[Array]
    tolerance: float = 0.0
    """Relative to the largest element; 0 means the same bits."""

    def check(self, found: Sequence[Any]) -> None:
        """The arrays are what they should be."""
        arrays = [np.asarray(array) for array in found if np.ndim(array)]
        assert len(arrays) == len(self.expected)
        for array, expected in zip(arrays, self.expected, strict=True):
            if not self.tolerance:
                assert array.tobytes() == expected.tobytes()
                continue
            wide = expected.astype(np.float64)
            error = np.abs(array.astype(np.float64) - wide).max(initial=0)
            assert error <= self.tolerance * max(1.0, np.abs(wide).max(initial=0))


def kernel(parameters: str, body: str, warps: int = 4) -> str:
    """A module with a kernel that knows its block as `%x` and `%y`."""
    return f"""{HEAD}
func.func @k({parameters}) attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = {warps}>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %x = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %y = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  {body}
  func.return
}}
"""  # noqa: E501


def names(element: Element, rows: int, columns: int) -> dict[str, str]:
    """Types of a kernel on tiles of a matrix."""
    shape = f"{rows}x{columns}x{element.ir}"
    return {
        "M": f"memref<?x?x{element.ir}>",
        "V": f"!nv_tileas.tiled_view<{shape}, gmem>",
        "T": f"tensor<{shape}>",
    }


def filled(text: str, **types: str) -> str:
    """A text with its types put in, which it writes as `$M`."""
    for name, meant in types.items():
        text = text.replace(f"${name}", meant)
    return text


def matrices(
    element: Element, shape: tuple[int, int], count: int, seed: int = 0
) -> Sequence[Array]:
    """Random matrices."""
    rng = np.random.default_rng(seed)
    return [element.random(rng, shape) for _ in range(count)]


def _tiles(extent: int, tile: int) -> int:
    return -(-extent // tile)


VIEWS = """%va = nv_tileas.view %a : $M -> $V
  %vb = nv_tileas.view %b : $M -> $V
  """

ROW_OF_TILES = """%width = memref.dim %a, %one : $M
  %columns = arith.constant $COLUMNS : index
  %tiles = arith.ceildivui %width, %columns : index
  """


def copy(name: str, shape: tuple[int, int], rows: int = 32, columns: int = 64) -> Launch:
    """B = A, tile after tile."""
    element = ELEMENTS[name]
    body = f"""{VIEWS}{ROW_OF_TILES}scf.for %i = %zero to %tiles step %one {{
    %t = nv_tileas.tiled_load %va[%x, %i] {{atom = #load, allow_tma = true}} : $V -> $T
    nv_tileas.tiled_store %t, %vb[%x, %i] {{atom = #store, allow_tma = true}} : $T, $V
  }}"""
    types = names(element, rows, columns)
    text = filled(kernel("%a: $M, %b: $M", body), COLUMNS=str(columns), **types)
    a, b = matrices(element, shape, 2)
    return Launch(text, [a, b], (_tiles(shape[0], rows), 1, 1), [a, a])


def doubled(name: str, shape: tuple[int, int]) -> Launch:
    """B = A + A, in registers between a load and a store by TMA."""
    element, rows, columns = ELEMENTS[name], 16, 32
    add = "arith.addf" if element.unit else "arith.addi"
    body = f"""{VIEWS}
  %t = nv_tileas.tiled_load %va[%x, %y] {{atom = #load, allow_tma = true}} : $V -> $T
  %u = {add} %t, %t : $T
  nv_tileas.tiled_store %u, %vb[%x, %y] {{atom = #store, allow_tma = true}} : $T, $V"""
    text = filled(kernel("%a: $M, %b: $M", body), **names(element, rows, columns))
    a, b = matrices(element, shape, 2)
    with np.errstate(all="ignore"):
        wide = a.astype(np.float32) if element.unit else a
        expected = (wide + wide).astype(element.dtype)
    grid = (_tiles(shape[0], rows), _tiles(shape[1], columns), 1)
    return Launch(text, [a, b], grid, [a, expected])


def summed(name: str, blocks: int = 3) -> Launch:
    """B += every row of tiles of A: all blocks reduce into the same tiles, atomically."""
    element, rows, columns = ELEMENTS[name], 16, 32
    body = f"""{VIEWS}%w = nv_tileas.view %b : $M -> $V
  %t = nv_tileas.tiled_load %va[%x, %y] {{atom = #load, allow_tma = true}} : $V -> $T
  %old = nv_tileas.tiled_atomic_rmw add %t, %w[%zero, %y] relaxed gpu {{atom = #nv_tileas<atom tma_redg_2d<op = add>>, allow_tma = true}} : $T, $V -> $T"""  # noqa: E501
    text = filled(kernel("%a: $M, %b: $M", body), **names(element, rows, columns))
    rng = np.random.default_rng(5)
    # Small whole numbers: sums are exact in any order.
    a = rng.integers(-8, 9, (rows * blocks, 72)).astype(element.dtype)
    b = rng.integers(-8, 9, (rows, 72)).astype(element.dtype)
    expected = b.astype(np.float64) + a.astype(np.float64).reshape(blocks, rows, 72).sum(axis=0)
    return Launch(text, [a, b], (blocks, 3, 1), [a, expected.astype(element.dtype)])


def product(name: str, shape: tuple[int, int, int], warps: int = 4) -> Launch:
    """C = A B, by plain loads of both; of narrow elements B lies as N x K."""
    element, (m, n, k) = ELEMENTS[name], shape
    bm, bn, bk = 64, 64, 128 if element.bits == 8 else 64
    is_nk = element.bits == 8
    b_tile = f"{bn}x{bk}" if is_nk else f"{bk}x{bn}"
    types = {
        "MI": f"memref<?x?x{element.ir}>",
        "MO": "memref<?x?xf32>",
        "VA": f"!nv_tileas.tiled_view<{bm}x{bk}x{element.ir}, gmem>",
        "VB": f"!nv_tileas.tiled_view<{b_tile}x{element.ir}, gmem>",
        "VC": f"!nv_tileas.tiled_view<{bm}x{bn}xf32, gmem>",
        "TA": f"tensor<{bm}x{bk}x{element.ir}>",
        "TS": f"tensor<{b_tile}x{element.ir}>",
        "TB": f"tensor<{bk}x{bn}x{element.ir}>",
        "TC": f"tensor<{bm}x{bn}xf32>",
        "BK": str(bk),
        "WORD": element.word,
        "AT": "%y, %i" if is_nk else "%i, %y",
    }
    b_type, turned = types["TB"], ""
    if is_nk:
        layout = f"({bk},{bn}),(1,{bk}),swizzle<3,4,3>"
        b_type = f"tensor<{bk}x{bn}x{element.ir}, #nv_tileas.shared<{layout}>>"
        stored = f"tensor<{bn}x{bk}x{element.ir}, #nv_tileas.shared<({bn},{bk}),({bk},1),swizzle<3,4,3>>>"  # noqa: E501
        types["TS"] = stored
        turned = f"%q = nv_tileas.view %s : {stored} -> {b_type}"
    b_name = "%q" if is_nk else "%s"
    body = f"""%va = nv_tileas.view %a : $MI -> $VA
  %vb = nv_tileas.view %b : $MI -> $VB
  %vc = nv_tileas.view %c : $MO -> $VC
  %none = arith.constant dense<0.0> : $TC
  %depth = memref.dim %a, %one : $MI
  %step = arith.constant $BK : index
  %steps = arith.ceildivui %depth, %step : index
  %sum = scf.for %i = %zero to %steps step %one iter_args(%acc = %none) -> ($TC) {{
    %r = nv_tileas.tiled_load %va[%x, %i] {{atom = #open, in_bounds = array<i1: false, false>, padding_value = 0.0 : {element.ir}}} : $VA -> $TA
    %s = nv_tileas.tiled_load %vb[$AT] {{atom = #open, in_bounds = array<i1: false, false>, padding_value = 0.0 : {element.ir}}} : $VB -> $TS
    {turned if is_nk else ""}
    %d = nv_tileas.dot %r, {b_name}, %acc {{atom = #nv_tileas<atom wgmma_$WORD_$WORD_f32>}} : $TA, {b_type}, $TC -> $TC
    scf.yield %d : $TC
  }}
  nv_tileas.tiled_store %sum, %vc[%x, %y] {{atom = #open}} : $TC, $VC"""  # noqa: E501
    text = filled(kernel("%a: $MI, %b: $MI, %c: $MO", body, warps), **types)
    rng = np.random.default_rng(3)
    a = element.random(rng, (m, k))
    b = element.random(rng, (n, k) if is_nk else (k, n))
    c = ELEMENTS["f32"].random(rng, (m, n))
    other = b.astype(np.float64).T if is_nk else b.astype(np.float64)
    expected = (a.astype(np.float64) @ other).astype(np.float32)
    return Launch(text, [a, b, c], (_tiles(m, bm), _tiles(n, bn), 1), [a, b, expected], 1e-4)


FLAT = {
    "M": "memref<64x64xf32>",
    "V": "!nv_tileas.tiled_view<16x64xf32, gmem>",
    "T": "tensor<16x64xf32>",
}
"""Four tiles, one below the other."""

ZEROS = "%none = arith.constant dense<0.0> : $T\n  "


def _flat(body: str, expected: Any, *scalars: int, warps: int = 4) -> Launch:
    """A kernel on two arrays of four tiles; `expected` gives the second one."""
    more = "".join(f", %n{k}: index" for k in range(len(scalars)))
    text = filled(kernel(f"%a: $M, %b: $M{more}", f"{VIEWS}{ZEROS}{body}", warps), **FLAT)
    a, b = matrices(ELEMENTS["f32"], (64, 64), 2, 7)
    wanted = b.reshape(4, 16, 64).copy()
    expected(a.reshape(4, 16, 64), wanted)
    return Launch(text, [a, b, *scalars], (1, 1, 1), [a, wanted.reshape(64, 64)])


_LOAD = "{atom = #load, allow_tma = true} : $V -> $T"
_STORE = "{atom = #store, allow_tma = true} : $T, $V"
_PLAIN = "{atom = #stg} : $T, $V"


def some_rounds() -> Launch:
    """A load under a condition in a loop in a loop: its parity is that of the rounds it ran in."""
    body = f"""
  %r = scf.for %i = %zero to %n0 step %one iter_args(%s = %none) -> ($T) {{
    %q = scf.for %j = %zero to %n1 step %one iter_args(%o = %s) -> ($T) {{
      %sum = arith.addi %i, %j : index
      %rest = arith.remui %sum, %two : index
      %odd = arith.cmpi eq, %rest, %one : index
      %p = scf.if %odd -> ($T) {{
        %t = nv_tileas.tiled_load %va[%j, %zero] {_LOAD}
        %u = arith.addf %o, %t : $T
        scf.yield %u : $T
      }} else {{
        scf.yield %o : $T
      }}
      scf.yield %p : $T
    }}
    %e = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
    %m = arith.subf %q, %e : $T
    scf.yield %m : $T
  }}
  %last = nv_tileas.tiled_load %va[%two, %zero] {_LOAD}
  %all = arith.addf %r, %last : $T
  nv_tileas.tiled_store %all, %vb[%one, %zero] {_STORE}"""

    def expected(a: Array, b: Array) -> None:
        found = np.zeros_like(a[0])
        for i in range(3):
            for j in range(4):
                if (i + j) % 2:
                    found = found + a[j]
            found = found - a[i]
        b[1] = found + a[2]

    return _flat(body, expected, 3, 4)


def in_place() -> Launch:
    """Threads store what TMA loads afterwards, from one array to the same."""
    body = f"""scf.for %i = %zero to %n0 step %one {{
    %t = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
    nv_tileas.tiled_store %t, %vb[%one, %zero] {_PLAIN}
    %u = nv_tileas.tiled_load %vb[%one, %zero] {_LOAD}
    %v = nv_tileas.tiled_load %vb[%two, %zero] {_LOAD}
    %w = arith.addf %u, %v : $T
    nv_tileas.tiled_store %w, %vb[%two, %zero] {_STORE}
    %q = nv_tileas.tiled_load %vb[%two, %zero] {{atom = #ldg}} : $V -> $T
    nv_tileas.tiled_store %q, %vb[%zero, %zero] {_PLAIN}
  }}"""

    def expected(a: Array, b: Array) -> None:
        for i in range(4):
            b[1] = a[i]
            b[2] = b[1] + b[2]
            b[0] = b[2]

    return _flat(body, expected, 4)


def by_agents() -> Launch:
    """Each of two agents loads and stores tiles of its own."""
    bodies = [
        f"""{{
    scf.for %i = {first} to {end} step %one {{
      %t = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
      %u = arith.addf %t, %t : $T
      nv_tileas.tiled_store %u, %vb[%i, %zero] {_STORE}
    }}
  }}"""
        for first, end in (("%zero", "%two"), ("%two", "%n0"))
    ]
    body = (
        "nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = "
        "array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 4>} " + ", ".join(bodies)
    )

    def expected(a: Array, b: Array) -> None:
        b[:] = a + a

    return _flat(body, expected, 4, warps=8)


def in_order() -> Launch:
    """Tokens of memory, carried by a loop, and of asynchronous work."""
    body = """%t0 = nv_tileas.create_none : !mem
  %done = scf.for %i = %zero to %n0 step %one iter_args(%t1 = %t0) -> (!mem) {
    %t, %t2 = nv_tileas.tiled_load %va[%i, %zero] after %t1 : !mem {atom = #load, allow_tma = true} : $V -> $T, !mem
    %t3 = nv_tileas.tiled_store %t, %vb[%i, %zero] after %t2 : !mem {atom = #store, allow_tma = true} : $T, $V -> !mem
    scf.yield %t3 : !mem
  }
  %none_yet = nv_tileas.create_none : !token
  %s, %t4 = nv_tileas.tiled_load %vb[%one, %zero] after %none_yet : !token {atom = #load, allow_tma = true} : $V -> $T, !token
  %t5 = nv_tileas.tiled_store %s, %vb[%zero, %zero] after %t4 : !token {atom = #store, allow_tma = true} : $T, $V -> !token"""  # noqa: E501

    def expected(a: Array, b: Array) -> None:
        b[:] = a
        b[0] = b[1]

    return _flat(body, expected, 4)


def with_offsets() -> Launch:
    """Offsets of whole tiles."""
    body = f"""%behind = arith.constant 32 : index
  %t = nv_tileas.tiled_load %va[%one, %zero] offset[%behind, %zero] {_LOAD}
  nv_tileas.tiled_store %t, %vb[%zero, %zero] offset[%behind, %zero] {_STORE}"""

    def expected(a: Array, b: Array) -> None:
        b[2] = a[3]

    return _flat(body, expected)


def overlapping() -> Launch:
    """Two stores whose waits may come late, between other work on other arrays and tiles."""
    body = f"""scf.for %i = %zero to %two step %one {{
    %s = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
    %u = arith.addf %s, %s : $T
    nv_tileas.tiled_store %u, %vb[%i, %zero] {_STORE}
    %next = arith.addi %i, %two : index
    %t = nv_tileas.tiled_load %va[%next, %zero] {_LOAD}
    %v = arith.mulf %t, %u : $T
    nv_tileas.tiled_store %v, %vb[%next, %zero] {_STORE}
  }}"""

    def expected(a: Array, b: Array) -> None:
        b[:2] = a[:2] + a[:2]
        b[2:] = a[2:] * b[:2]

    return _flat(body, expected)


def of_rank(shape: tuple[int, ...], tile: tuple[int, ...]) -> Launch:
    """B = A by tiles of another rank."""
    rank, dims = len(shape), "x".join("?" * len(shape))
    extents = "x".join(map(str, tile))
    places = ", ".join(["%x", "%y", "%zero"][:rank])
    body = f"""%va = nv_tileas.view %a : memref<{dims}xf16> -> !nv_tileas.tiled_view<{extents}xf16, gmem>
  %vb = nv_tileas.view %b : memref<{dims}xf16> -> !nv_tileas.tiled_view<{extents}xf16, gmem>
  %t = nv_tileas.tiled_load %va[{places}] {{atom = #nv_tileas<atom tma_load_{rank}d>, allow_tma = true}} : !nv_tileas.tiled_view<{extents}xf16, gmem> -> tensor<{extents}xf16>
  nv_tileas.tiled_store %t, %vb[{places}] {{atom = #nv_tileas<atom tma_store_{rank}d>, allow_tma = true}} : tensor<{extents}xf16>, !nv_tileas.tiled_view<{extents}xf16, gmem>"""  # noqa: E501
    text = kernel(f"%a: memref<{dims}xf16>, %b: memref<{dims}xf16>", body)
    rng = np.random.default_rng(1)
    a, b = (ELEMENTS["f16"].random(rng, shape) for _ in range(2))
    grid = [_tiles(n, t) for n, t in zip(shape[:2], tile[:2], strict=True)]
    return Launch(text, [a, b], (grid[0], [*grid, 1][1], 1), [a, a])


def staged() -> Launch:
    """A load that is yielded as the tile of a stage fills it; the barrier is that of the stage."""
    body = f"""%memory = nv_tileas.alloc_tensor : tensor<2x16x64xf32, #smem>
  %slots = nv_tileas.view %memory : tensor<2x16x64xf32, #smem> -> !nv_tileas.tiled_view<2x16x64xf32, smem>
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !nv_tileas.tiled_view<2x16x64xf32, smem> -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %r, %pn, %in, %cn, %jn = scf.for %k = %zero to %n0 step %one iter_args(%s = %none, %p = %p0, %i = %i0, %c = %c0, %j = %j0) -> ($T, !prod, !iter, !cons, !iter) {{
    %p2 = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [$T]}} : (!prod, !iter) -> !prod {{
    ^bb0(%stage: $T):
      %t = nv_tileas.tiled_load %va[%k, %zero] {_LOAD}
      nv_tileas.async.pipeline.yield %t : $T
    }}
    %i2 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    %c2, %u = nv_tileas.async.pipeline.consume_one %c, %j {{consumer_idx = 0 : i32, consumer_types = [$T]}} : (!cons, !iter) -> (!cons, $T) {{
    ^bb0(%stage: $T):
      %v = arith.addf %stage, %s : $T
      nv_tileas.async.pipeline.yield %v : $T
    }}
    %j2 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %u, %p2, %i2, %c2, %j2 : $T, !prod, !iter, !cons, !iter
  }}
  nv_tileas.tiled_store %r, %vb[%two, %zero] {_STORE}"""  # noqa: E501

    def expected(a: Array, b: Array) -> None:
        b[2] = ((a[0] + a[1]) + a[2]) + a[3]

    launch = _flat(body, expected, 4)
    types = """!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<16x64xf32>, 2, smem>
"""
    return Launch(types + launch.text, launch.arguments, launch.grid, launch.expected)


def branching() -> Launch:
    """Branches between blocks, in a loop: the descriptor is where all of them see it."""
    body = f"""cf.br ^head(%zero : index)
^head(%i: index):
  %more = arith.cmpi ult, %i, %n0 : index
  cf.cond_br %more, ^body, ^end
^body:
  %t = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
  nv_tileas.tiled_store %t, %vb[%i, %zero] {_STORE}
  %next = arith.addi %i, %one : index
  cf.br ^head(%next : index)
^end:"""

    def expected(a: Array, b: Array) -> None:
        b[:3] = a[:3]

    return _flat(body, expected, 3)


def one_buffer() -> Launch:
    """A tile in memory that is stored, filled again and stored again."""
    body = f"""%buffer = nv_tileas.alloc_tensor : tensor<16x64xf32, #smem>
  scf.for %i = %zero to %n0 step %one {{
    %t = nv_tileas.tiled_load %va[%i, %zero] {_LOAD}
    %u = nv_tileas.tiled_load %va[%zero, %zero] {_LOAD}
    nv_tileas.copy %t, %buffer {{atom = #open}} : $T, tensor<16x64xf32, #smem>
    nv_tileas.tiled_store %buffer, %vb[%i, %zero] {{atom = #store, allow_tma = true}} : tensor<16x64xf32, #smem>, $V
    %v = arith.addf %t, %u : $T
    nv_tileas.copy %v, %buffer {{atom = #open}} : $T, tensor<16x64xf32, #smem>
    %next = arith.addi %i, %two : index
    nv_tileas.tiled_store %buffer, %vb[%next, %zero] {{atom = #store, allow_tma = true}} : tensor<16x64xf32, #smem>, $V
  }}"""  # noqa: E501

    def expected(a: Array, b: Array) -> None:
        b[:2] = a[:2]
        b[2:] = a[:2] + a[0]

    return _flat(body, expected, 2)


def either_way() -> Launch:
    """Two blocks that load from a window which begins somewhere in the array."""
    body = f"""%rows = arith.constant 16 : index
  %part = nv_tileas.view %a[%rows, %zero] : $M -> $V
  %first = arith.cmpi eq, %n0, %one : index
  cf.cond_br %first, ^left, ^right
^left:
  %t = nv_tileas.tiled_load %part[%zero, %zero] {_LOAD}
  cf.br ^end(%t : $T)
^right:
  %u = nv_tileas.tiled_load %part[%one, %zero] {_LOAD}
  cf.br ^end(%u : $T)
^end(%v: $T):
  nv_tileas.tiled_store %v, %vb[%two, %zero] {_STORE}"""

    def expected(a: Array, b: Array) -> None:
        b[2] = a[2]

    return _flat(body, expected, 7)
