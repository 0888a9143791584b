"""Tile kernels, one per feature of the lowering to threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NUMPY: Mapping[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}

HEAD = """
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#copy = #nv_tileas<atom unknown_copy>
#smem = #nv_tileas<space smem>
"""


@dataclass(frozen=True)
class Launch:
    """A kernel, its arguments, and the expected contents of the last one."""

    text: str
    arguments: Sequence[Array]
    grid: tuple[int, int, int]
    expected: Array
    tolerance: float = 0.0
    """Permitted error relative to max(1, |element|); 0 means bitwise equality."""


def kernel(arguments: str, body: str, warps: int = 4) -> str:
    """Return a module with a kernel whose block indices are `%x` and `%y`."""
    return f"""{HEAD}
func.func @k({arguments}) attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = {warps}>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %y = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  {body}
  func.return
}}
"""  # noqa: E501


def load(name: str, array: str, memref: str, tile: str, at: str, padding: str = "") -> str:
    """Return a load of a tile from an array, with optional padding."""
    flags = ", ".join(["false"] * len(at.split(",")))
    pad = f", in_bounds = array<i1: {flags}>, padding_value = {padding}" if padding else ""
    view = f"!nv_tileas.tiled_view<{tile}, gmem>"
    return f"""%of_{name} = nv_tileas.view %{array} : {memref} -> {view}
  %{name} = nv_tileas.tiled_load %of_{name}[{at}] {{atom = #ldg{pad}}} : {view} -> tensor<{tile}>
  """


def store(name: str, array: str, memref: str, tile: str, at: str) -> str:
    """Return a store of a tile to an array, clipped to its bounds."""
    view = f"!nv_tileas.tiled_view<{tile}, gmem>"
    return f"""%to_{array} = nv_tileas.view %{array} : {memref} -> {view}
  nv_tileas.tiled_store %{name}, %to_{array}[{at}] {{atom = #stg}} : tensor<{tile}>, {view}
  """


def reduced(name: str, source: str, axis: int, tile: str, result: str, combiner: str) -> str:
    """Return a reduction by a single combiner operation."""
    element = tile.split("x")[-1]
    return f"""%{name} = nv_tileas.reduce %{source} {{axis = {axis} : i32}} : tensor<{tile}> -> tensor<{result}> {{
  ^bb0(%lhs: {element}, %rhs: {element}):
    %both = {combiner} %lhs, %rhs : {element}
    nv_tileas.yield %both : {element}
  }}
  """  # noqa: E501


def total(rng: np.random.Generator, element: str, tile: int, warps: int) -> Launch:
    """Sum the tiles of a 1-D array whose extent is no multiple of the tile."""
    dtype, is_float = np.dtype(NUMPY[element]), element.startswith("f")
    line, single = f"{tile}x{element}", f"1x{element}"
    array = f"memref<?x{element}>"
    zero, add = ("0.0", "arith.addf") if is_float else ("0", "arith.addi")
    body = (
        load("t", "a", array, line, "%x", f"{zero} : {element}")
        + reduced("s", "t", 0, line, element, add)
        + f"%e = tensor.extract %s[] : tensor<{element}>\n"
        + f"  %o = tensor.splat %e : tensor<{single}>\n  "
        + store("o", "b", array, single, "%x")
    )
    count = 2 * tile + tile // 2 + 3
    numbers = (100 * rng.standard_normal(count)).astype(dtype)
    padded = np.zeros((4, tile), dtype)
    padded.reshape(-1)[:count] = numbers
    exact = padded.astype(np.float64 if is_float else dtype).sum(axis=1)
    tolerance = {"f16": 2.0**-9, "f32": 2.0**-15, "f64": 2.0**-40}.get(element, 0.0)
    outputs = np.zeros(4, dtype)
    text = kernel(f"%a: {array}, %b: {array}", body, warps)
    return Launch(text, (numbers, outputs), (4, 1, 1), exact.astype(dtype), 100 * tolerance)


def extreme(rng: np.random.Generator, axis: int, rows: int, columns: int, warps: int) -> Launch:
    """Compute row or column maxima of a matrix with partial tiles."""
    tile, array = f"{rows}x{columns}xf32", "memref<?x?xf32>"
    left = f"{rows if axis else columns}xf32"
    body = (
        load("t", "a", array, tile, "%zero, %zero", "#nv_tileas<padding neg_inf>")
        + reduced("s", "t", axis, tile, left, "arith.maximumf")
        + store("s", "b", "memref<?xf32>", left, "%zero")
    )
    numbers = rng.standard_normal((max(rows - 1, 1), columns - 1)).astype(np.float32)
    extremes = np.full(rows if axis else columns, -np.inf, np.float32)
    found = numbers.max(axis=axis)
    extremes[: len(found)] = found
    text = kernel(f"%a: {array}, %b: memref<?xf32>", body, warps)
    return Launch(text, (numbers, np.zeros_like(extremes)), (1, 1, 1), extremes)


def normalised(rng: np.random.Generator, rows: int, columns: int, warps: int) -> Launch:
    """Subtract the mean of each row, divide by its norm, multiply by per-column weights."""
    tile, row, column = f"{rows}x{columns}xf32", f"{columns}xf32", f"{rows}xf32"
    array = "memref<?x?xf32>"
    body = (
        load("t", "a", array, tile, "%x, %zero", "0.0 : f32")
        + load("w", "g", f"memref<{row}>", row, "%zero")
        + reduced("s", "t", 1, tile, column, "arith.addf")
        + f"""%share = arith.constant dense<{1 / columns}> : tensor<{column}>
  %mean = arith.mulf %s, %share : tensor<{column}>
  %means = nv_tileas.generate : tensor<{tile}> {{
  ^bb0(%i: index, %j: index):
    %m = tensor.extract %mean[%i] : tensor<{column}>
    nv_tileas.yield %m : f32
  }}
  %d = arith.subf %t, %means : tensor<{tile}>
  %squares = arith.mulf %d, %d : tensor<{tile}>
  """
        + reduced("q", "squares", 1, tile, column, "arith.addf")
        + f"""%inverse = math.rsqrt %q : tensor<{column}>
  %scale = nv_tileas.generate : tensor<{tile}> {{
  ^bb0(%i: index, %j: index):
    %n = tensor.extract %inverse[%i] : tensor<{column}>
    %v = tensor.extract %w[%j] : tensor<{row}>
    %u = arith.mulf %n, %v : f32
    nv_tileas.yield %u : f32
  }}
  %o = arith.mulf %d, %scale : tensor<{tile}>
  """
        + store("o", "b", array, tile, "%x, %zero")
    )
    numbers = rng.standard_normal((3 * rows - 1, columns)).astype(np.float32)
    weights = rng.standard_normal(columns).astype(np.float32)
    centred = numbers - numbers.astype(np.float64).mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True)) * weights
    text = kernel(f"%a: {array}, %g: memref<{row}>, %b: {array}", body, warps)
    outputs = np.zeros_like(numbers)
    return Launch(text, (numbers, weights, outputs), (3, 1, 1), expected, 2.0**-16)


def transposed(rng: np.random.Generator, element: str) -> Launch:
    """Transpose the tiles of a matrix with partial tiles by exchange between threads."""
    tile, turned, array = f"16x32x{element}", f"32x16x{element}", f"memref<?x?x{element}>"
    body = (
        load("t", "a", array, tile, "%x, %y")
        + f"""%o = nv_tileas.generate : tensor<{turned}> {{
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %t[%j, %i] : tensor<{tile}>
    nv_tileas.yield %e : {element}
  }}
  """
        + store("o", "b", array, turned, "%y, %x")
    )
    numbers = (30 * rng.standard_normal((37, 70))).astype(NUMPY[element])
    outputs = np.zeros((70, 37), numbers.dtype)
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, outputs), (3, 3, 1), np.ascontiguousarray(numbers.T))


def online(rng: np.random.Generator, rows: int, warps: int) -> Launch:
    """Compute row maxima over any number of columns; the loop carries a column of values."""
    tile, column, array = f"{rows}x128xf32", f"{rows}xf32", "memref<?x?xf32>"
    body = (
        f"""%width = memref.dim %a, %one : {array}
  %size = arith.constant 128 : index
  %tiles = arith.ceildivui %width, %size : index
  %least = arith.constant dense<-1.0e30> : tensor<{column}>
  %end = scf.for %k = %zero to %tiles step %one iter_args(%most = %least) -> (tensor<{column}>) {{
  """
        + load("t", "a", array, tile, "%x, %k", "#nv_tileas<padding neg_inf>")
        + reduced("s", "t", 1, tile, column, "arith.maximumf")
        + f"""%next = arith.maximumf %most, %s : tensor<{column}>
    scf.yield %next : tensor<{column}>
  }}
  """
        + store("end", "b", "memref<?xf32>", column, "%x")
    )
    numbers = rng.standard_normal((2 * rows + 1, 500)).astype(np.float32)
    text = kernel(f"%a: {array}, %b: memref<?xf32>", body, warps)
    outputs = np.zeros(len(numbers), np.float32)
    return Launch(text, (numbers, outputs), (3, 1, 1), numbers.max(axis=1))


def masked(rng: np.random.Generator) -> Launch:
    """Load by a mask the elements on or below each tile's diagonal; add the distance elsewhere."""
    tile, array = "8x128xf32", "memref<?x?xf32>"
    view = f"!nv_tileas.tiled_view<{tile}, gmem>"
    body = f"""%mask = nv_tileas.generate : tensor<8x128xi1> {{
  ^bb0(%i: index, %j: index):
    %p = arith.cmpi sle, %j, %i : index
    nv_tileas.yield %p : i1
  }}
  %distance = nv_tileas.generate : tensor<{tile}> {{
  ^bb0(%i: index, %j: index):
    %d = arith.subi %j, %i : index
    %w = arith.index_cast %d : index to i32
    %f = arith.sitofp %w : i32 to f32
    %none = arith.constant 0.0 : f32
    %p = arith.cmpi sle, %j, %i : index
    %e = arith.select %p, %none, %f : f32
    nv_tileas.yield %e : f32
  }}
  %of_a = nv_tileas.view %a : {array} -> {view}
  %t = nv_tileas.tiled_load %of_a[%x, %zero] mask %mask : tensor<8x128xi1> {{atom = #ldg, in_bounds = array<i1: false, false>, padding_value = 0.0 : f32}} : {view} -> tensor<{tile}>
  %o = arith.addf %t, %distance : tensor<{tile}>
  """ + store("o", "b", array, tile, "%x, %zero")  # noqa: E501
    numbers = rng.standard_normal((13, 101)).astype(np.float32)
    row, column = np.indices(numbers.shape)
    distance = column - row % 8
    expected = np.where(distance <= 0, numbers, distance.astype(np.float32))
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 1, 1), expected)


def shifted(rng: np.random.Generator) -> Launch:
    """Read, write, re-read at an offset and rewrite an array: threads keep memory order."""
    array, line = "memref<?xf32>", "256xf32"
    view = f"!nv_tileas.tiled_view<{line}, gmem>"
    body = f"""%v = nv_tileas.view %a : {array} -> {view}
  %t = nv_tileas.tiled_load %v[%zero] {{atom = #ldg}} : {view} -> tensor<{line}>
  %twice = arith.addf %t, %t : tensor<{line}>
  nv_tileas.tiled_store %twice, %v[%zero] {{atom = #stg}} : tensor<{line}>, {view}
  %on = arith.constant 96 : index
  %u = nv_tileas.tiled_load %v[%zero] offset[%on] {{atom = #ldg}} : {view} -> tensor<{line}>
  nv_tileas.tiled_store %u, %v[%zero] {{atom = #stg}} : tensor<{line}>, {view}"""
    numbers = rng.standard_normal(1000).astype(np.float32)
    expected = numbers.copy()
    expected[:256] *= 2
    expected[:256] = expected[96:352].copy()
    return Launch(kernel(f"%a: {array}", body), (numbers,), (1, 1, 1), expected)


def moved(rng: np.random.Generator) -> Launch:
    """Load through a view that begins before its array, with padding out of bounds."""
    array, tile = "memref<50x100xf16>", "8x128xf16"
    view = f"!nv_tileas.tiled_view<{tile}, gmem>"
    body = f"""%up = arith.constant -3 : index
  %left = arith.constant -2 : index
  %v = nv_tileas.view %a[%up, %left] : {array} -> {view}
  %t = nv_tileas.tiled_load %v[%x, %zero] {{atom = #ldg, in_bounds = array<i1: false, false>, padding_value = 9.0 : f16}} : {view} -> tensor<{tile}>
  """ + store("t", "b", array, tile, "%x, %zero")  # noqa: E501
    numbers = rng.standard_normal((50, 100)).astype(np.float16)
    expected = np.full_like(numbers, 9)
    expected[3:, 2:] = numbers[:-3, :-2]
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (7, 1, 1), expected)


def cube(rng: np.random.Generator) -> Launch:
    """Load and store 3-D tiles; the leading dimensions are treated together as rows."""
    array, tile = "memref<?x?x?xf32>", "2x4x32xf32"
    body = load("t", "a", array, tile, "%x, %y, %one") + store(
        "t", "b", array, tile, "%x, %y, %one"
    )
    numbers = rng.standard_normal((3, 7, 60)).astype(np.float32)
    expected = np.zeros_like(numbers)
    expected[..., 32:] = numbers[..., 32:]
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 2, 1), expected)


def staged(rng: np.random.Generator, element: str, rows: int, columns: int) -> Launch:
    """Copy a tile through swizzled rows of shared memory and back."""
    tile, array = f"{rows}x{columns}x{element}", f"memref<?x?x{element}>"
    shared = f"tensor<{tile}, #smem>"
    body = (
        load("t", "a", array, tile, "%x, %y")
        + f"""%buffer = nv_tileas.alloc_tensor : {shared}
  nv_tileas.tiled_store %t, %buffer[%zero, %zero] {{atom = #copy}} : tensor<{tile}>, {shared}
  %u = nv_tileas.tiled_load %buffer[%zero, %zero] {{atom = #copy}} : {shared} -> tensor<{tile}>
  """
        + store("u", "b", array, tile, "%x, %y")
    )
    numbers = (50 * rng.standard_normal((2 * rows - rows // 2, 2 * columns - 5))).astype(
        NUMPY[element]
    )
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 2, 1), numbers)


def piped(rng: np.random.Generator, element: str, rows: int, columns: int) -> Launch:
    """Load tiles by TMA in one agent, subtract the column maxima in another."""
    tile, array, row = (
        f"{rows}x{columns}x{element}",
        f"memref<?x?x{element}>",
        f"{columns}x{element}",
    )
    view, slots = f"!nv_tileas.tiled_view<{tile}, gmem>", f"!nv_tileas.tiled_view<2x{tile}, smem>"
    size = rows * columns * np.dtype(NUMPY[element]).itemsize
    text = f"""
!tile = tensor<{tile}>
!slots = {slots}
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
#load = #nv_tileas<atom tma_load_2d<box = [{columns}, {rows}]>>
""" + kernel(
        f"%a: {array}, %b: {array}",
        f"""%rows = arith.constant {rows} : index
  %columns = arith.constant {columns} : index
  %width = memref.dim %a, %one : {array}
  %tiles = arith.ceildivui %width, %columns : index
  %d = nv_tileas.make_tiled_tma_desc %a box[%columns, %rows] {{atom = #load}} : {array} -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : tensor<2x{tile}, #smem>
  %slots = nv_tileas.view %buffer : tensor<2x{tile}, #smem> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons
  %v = nv_tileas.view %b : {array} -> {view}
  nv_tileas.async.pipeline.agent_switch {{num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false}} agent 0 {{
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {{
      %p1 = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [!tile]}} : (!prod, !iter) -> !prod {{
      ^bb0(%stage: !tile):
        %l = nv_tileas.async.tiled_tma_load %d, %stage[%x, %k] barrier %none {{atom = #load, tx_count = {size} : i32}} : !nv_tileas.tma_desc, !tile, index, index, !nv_tileas.mem_token -> !nv_tileas.token
        nv_tileas.async.pipeline.yield %stage : !tile
      }}
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p1, %i1 : !prod, !iter
    }}
  }}, agent 1 {{
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn = scf.for %k = %zero to %tiles step %one iter_args(%c = %c0, %j = %j0) -> (!cons, !iter) {{
      %c1, %o = nv_tileas.async.pipeline.consume_one %c, %j {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> (!cons, !tile) {{
      ^bb0(%stage: !tile):
        """  # noqa: E501
        + reduced("s", "stage", 0, tile, row, "arith.maximumf")
        + f"""%most = nv_tileas.generate : !tile {{
        ^bb0(%q: index, %r: index):
          %e = tensor.extract %s[%r] : tensor<{row}>
          nv_tileas.yield %e : {element}
        }}
        %less = arith.subf %stage, %most : !tile
        nv_tileas.async.pipeline.yield %less : !tile
      }}
      nv_tileas.tiled_store %o, %v[%x, %k] {{atom = #stg}} : !tile, {view}
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %c1, %j1 : !cons, !iter
    }}
  }}""",
        8,
    )
    numbers = rng.standard_normal((2 * rows, 3 * columns + 16)).astype(NUMPY[element])
    blocks = numbers.reshape(2, rows, -1)
    expected = (blocks - blocks.max(axis=1, keepdims=True)).reshape(numbers.shape)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 1, 1), expected)


def boxes(rng: np.random.Generator, element: str) -> Launch:
    """Load and store 4-D tiles that are partial along each dimension."""
    array, tile = f"memref<?x?x?x?x{element}>", f"2x2x4x16x{element}"
    body = load("t", "a", array, tile, "%x, %y, %one, %zero") + store(
        "t", "b", array, tile, "%x, %y, %one, %zero"
    )
    numbers = (99 * rng.standard_normal((3, 3, 7, 13))).astype(NUMPY[element])
    expected = np.zeros_like(numbers)
    expected[:, :, 4:] = numbers[:, :, 4:]
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 2, 1), expected)


def extended(rng: np.random.Generator) -> Launch:
    """Reduce rows to their minima, kept as a column, after an asynchronous load."""
    array, tile = "memref<?x?xf32>", "16x64xf32"
    view, token = f"!nv_tileas.tiled_view<{tile}, gmem>", f"!nv_tileas.token<tensor<{tile}>>"
    body = (
        f"""%v = nv_tileas.view %a : {array} -> {view}
  %begun = nv_tileas.async.tiled_load %v[%x, %zero] {{atom = #ldg}} : {view} -> {token}
  %l = nv_tileas.async.wait %begun : {token} -> tensor<{tile}>
  %t = nv_tileas.convert_layout %l : tensor<{tile}> -> tensor<{tile}>
  """
        + reduced("s", "t", 1, tile, "16xf32", "arith.minimumf")
        + "%e = nv_tileas.expand_dims %s {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>\n  "
        + store("e", "b", array, "16x1xf32", "%x, %zero")
    )
    numbers = rng.standard_normal((32, 64)).astype(np.float32)
    text = kernel(f"%a: {array}, %b: {array}", body)
    expected = numbers.min(axis=1, keepdims=True)
    return Launch(text, (numbers, np.zeros_like(expected)), (2, 1, 1), expected)


def chosen(rng: np.random.Generator) -> Launch:
    """Store loaded data in one block and a constant in the other."""
    array, line = "memref<?xf32>", "256xf32"
    body = (
        f"""%first = arith.cmpi slt, %x, %one : index
  %t = scf.if %first -> (tensor<{line}>) {{
  """
        + load("l", "a", array, line, "%x")
        + f"""scf.yield %l : tensor<{line}>
  }} else {{
    %four = arith.constant dense<4.0> : tensor<{line}>
    scf.yield %four : tensor<{line}>
  }}
  """
        + store("t", "b", array, line, "%x")
    )
    numbers = rng.standard_normal(512).astype(np.float32)
    expected = np.where(np.arange(512) < 256, numbers, np.float32(4))
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (numbers, np.zeros_like(numbers)), (2, 1, 1), expected)


LAUNCHES: Mapping[str, Callable[[np.random.Generator], Launch]] = {
    **{
        f"total of {tile} {element} by {warps} warps": lambda rng, e=element, t=tile, w=warps: (
            total(rng, e, t, w)
        )
        for element in ("f32", "i32", "i64", "f16", "f64")
        for tile, warps in ((16, 4), (64, 4), (1024, 3), (2048, 8))
    },
    **{
        f"extreme along {axis} of {rows}x{columns} by {warps} warps": (
            lambda rng, a=axis, r=rows, c=columns, w=warps: extreme(rng, a, r, c, w)
        )
        for axis in (0, 1)
        for rows, columns, warps in (
            (8, 64, 4), (2, 16, 4), (16, 256, 4), (64, 8, 2), (1, 1024, 4), (2, 1024, 5),
        )
    },
    **{
        f"normalised {rows}x{columns} by {warps} warps": (
            lambda rng, r=rows, c=columns, w=warps: normalised(rng, r, c, w)
        )
        for rows, columns, warps in ((4, 64, 4), (8, 512, 4), (32, 32, 4), (1, 1024, 4))
    },
    **{f"transposed {e}": lambda rng, e=e: transposed(rng, e) for e in ("f32", "f16", "i8")},
    **{
        f"online {rows} rows by {warps} warps": lambda rng, r=rows, w=warps: online(rng, r, w)
        for rows, warps in ((8, 4), (1, 4), (2, 8))
    },
    **{
        f"staged {rows}x{columns} {e}": lambda rng, e=e, r=rows, c=columns: staged(rng, e, r, c)
        for e in ("f16", "f32", "i8")
        for rows, columns in ((16, 64), (8, 256), (1, 512), (64, 16))
    },
    **{
        f"piped {rows}x{columns} {e}": lambda rng, e=e, r=rows, c=columns: piped(rng, e, r, c)
        for e in ("f16", "f32")
        for rows, columns in ((8, 32), (16, 128), (64, 16))
    },
    "masked": masked,
    "shifted": shifted,
    "moved": moved,
    "cube": cube,
    **{f"boxes {e}": lambda rng, e=e: boxes(rng, e) for e in ("f16", "i64")},
    "extended": extended,
    "chosen": chosen,
}  # fmt: skip
"""Functions that return a kernel with random arguments, by name."""
