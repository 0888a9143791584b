"""Small kernels of the forms of TMA that move more than boxes: rows, columns of pixels, sums."""

from __future__ import annotations

import numpy as np

from support.plain_kernels import NUMPY, Array, Launch, kernel, load

PIPE = """
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
"""


def _piped(tile: str, before: str, fill: str, read: str, tiles: str) -> str:
    """Agent 0 fills stages for `%k` up to `tiles`, agent 1 reads them as `%o`."""
    return f"""%none = nv_tileas.create_none : !nv_tileas.mem_token
  %memory = nv_tileas.alloc_tensor : tensor<2x{tile}, #smem>
  %slots = nv_tileas.view %memory : tensor<2x{tile}, #smem> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons
  {before}
  nv_tileas.async.pipeline.agent_switch {{num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false}} agent 0 {{
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to {tiles} step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {{
      %p1 = nv_tileas.async.pipeline.produce_one %p, %i {{producer_types = [!tile]}} : (!prod, !iter) -> !prod {{
      ^bb0(%stage: !tile):
        {fill}
        nv_tileas.async.pipeline.yield %stage : !tile
      }}
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p1, %i1 : !prod, !iter
    }}
  }}, agent 1 {{
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn = scf.for %k = %zero to {tiles} step %one iter_args(%c = %c0, %j = %j0) -> (!cons, !iter) {{
      %c1, %o = nv_tileas.async.pipeline.consume_one %c, %j {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> (!cons, !tile) {{
      ^bb0(%stage: !tile):
        %loaded = arith.addf %stage, %stage : !tile
        nv_tileas.async.pipeline.yield %loaded : !tile
      }}
      {read}
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %c1, %j1 : !cons, !iter
    }}
  }}"""  # noqa: E501


def _types(tile: str) -> str:
    return f"!tile = tensor<{tile}>\n!slots = !nv_tileas.tiled_view<2x{tile}, smem>\n{PIPE}"


def permuted(
    rng: np.random.Generator, element: str, rows: int, columns: int, *, text_only: bool = False
) -> Launch:
    """Rows are gathered by numbers, doubled, and scattered to rows by other numbers.

    Some numbers are of rows that there are not: those are zeros, or dropped.
    """
    tile, array, line = f"{rows}x{columns}x{element}", f"memref<?x?x{element}>", f"{rows}xi32"
    numbers_view = f"!nv_tileas.tiled_view<{line}, gmem>"
    load, store = (
        f"#nv_tileas<atom {way}_2d<box = [{columns}, 1], mode = {mode}>>"
        for way, mode in (("tma_load", "gather4"), ("tma_store", "scatter4"))
    )
    size = rows * columns * np.dtype(NUMPY[element]).itemsize
    before = f"""%columns = arith.constant {columns} : index
  %from = nv_tileas.make_tiled_tma_desc %a box[%columns, %one] {{atom = {load}}} : {array} -> !nv_tileas.tma_desc
  %to = nv_tileas.make_tiled_tma_desc %b box[%columns, %one] {{atom = {store}}} : {array} -> !nv_tileas.tma_desc
  %width = memref.dim %a, %one : {array}
  %tiles = arith.ceildivui %width, %columns : index
  %vg = nv_tileas.view %g : memref<?xi32> -> {numbers_view}
  %vs = nv_tileas.view %s : memref<?xi32> -> {numbers_view}
  %buffer = nv_tileas.alloc_tensor : tensor<{tile}, #smem>"""  # noqa: E501
    fill = f"""%which = nv_tileas.tiled_load %vg[%x] {{atom = #ldg}} : {numbers_view} -> tensor<{line}>
        %l = nv_tileas.async.gather_tma_load %from, %stage[%k] rows %which barrier %none {{atom = {load}, tx_count = {size} : i32}} : !nv_tileas.tma_desc, !tile, index, tensor<{line}>, !nv_tileas.mem_token -> !nv_tileas.token"""  # noqa: E501
    read = f"""%where = nv_tileas.tiled_load %vs[%x] {{atom = #ldg}} : {numbers_view} -> tensor<{line}>
      nv_tileas.tiled_store %o, %buffer[%zero, %zero] {{atom = #copy}} : !tile, tensor<{tile}, #smem>
      %u = nv_tileas.async.scatter_tma_store %to, %buffer[%k] rows %where {{atom = {store}}} : !nv_tileas.tma_desc, tensor<{tile}, #smem>, index, tensor<{line}> -> !nv_tileas.token
      nv_tileas.async.wait %u : !nv_tileas.token"""  # noqa: E501
    text = _types(tile) + kernel(
        f"%a: {array}, %b: {array}, %g: memref<?xi32>, %s: memref<?xi32>",
        _piped(tile, before, fill, read, "%tiles"),
        8,
    )
    height, blocks = 3 * rows + 5, 3
    width = 2 * columns + columns // 2
    a = (30 * rng.standard_normal((height, width))).astype(NUMPY[element])
    b = (30 * rng.standard_normal((height, width))).astype(NUMPY[element])
    taken = rng.integers(0, height, blocks * rows).astype(np.int32)
    taken[rng.permutation(len(taken))[:6]] = (-1, height, height + 7, -9, 1 << 30, -(1 << 31))
    put = rng.permutation(height)[: blocks * rows].astype(np.int32)
    put[rng.permutation(len(put))[:4]] = (-1, height, height + 1, -5)
    return Launch(text, (a, b, taken, put), (blocks, 1, 1), _permuted(a, b, taken, put))


def _permuted(a: Array, b: Array, taken: Array, put: Array) -> Array:
    found = b.copy()
    for source, target in zip(taken, put, strict=True):
        if 0 <= target < len(b):
            found[target] = 2 * a[source] if 0 <= source < len(a) else 0
    return found


def unrolled(
    rng: np.random.Generator,
    element: str,
    image: tuple[int, int, int, int],
    window: tuple[tuple[int, int], tuple[int, int]],
    padding: tuple[int, int],
    tile: tuple[int, int],
) -> Launch:
    """The matrix of a convolution: for each tap a tile of pixels, doubled, is put where it belongs.

    `image` is batch, height, width, channels; `window` the filter and how far its last place may
    stick out, both height first; `padding` is before the image; `tile` is pixels and channels.
    """
    (batch, height, width, channels), (pixels, columns) = image, tile
    (tall, wide), outside = window
    lower = [-p for p in padding]
    upper = [outside[0] - (tall - 1), outside[1] - (wide - 1)]
    rows, across = height - lower[0] + upper[0], width - lower[1] + upper[1]
    shape = f"1x1x{pixels}x{columns}x{element}"
    array = f"memref<?x?x?x?x{element}>"
    view = f"!nv_tileas.tiled_view<{shape}, gmem>"
    size = pixels * columns * np.dtype(NUMPY[element]).itemsize
    atom = f"#nv_tileas<atom tma_load_4d<box = [{columns}, {pixels}, 1, 1], mode = im2col>>"
    corners = f"""pixel_lower = array<i32: {lower[1]}, {lower[0]}>, pixel_upper = array<i32: {upper[1]}, {upper[0]}>, filter = array<i32: {wide}, {tall}>"""  # noqa: E501
    before = f"""%columns = arith.constant {columns} : index
  %pixels = arith.constant {pixels} : index
  %from = nv_tileas.make_tiled_tma_desc %a box[%columns, %pixels, %one, %one] {{atom = {atom}, {corners}}} : {array} -> !nv_tileas.tma_desc
  %taps = arith.constant {tall * wide} : index
  %first = arith.muli %x, %pixels : index
  %across = arith.constant {across} : index
  %area = arith.constant {across * rows} : index
  %n = arith.divui %first, %area : index
  %inside = arith.remui %first, %area : index
  %row = arith.divui %inside, %across : index
  %column = arith.remui %inside, %across : index
  %top = arith.constant {lower[0]} : index
  %left = arith.constant {lower[1]} : index
  %h = arith.addi %row, %top : index
  %w = arith.addi %column, %left : index
  %v = nv_tileas.view %b : {array} -> {view}"""  # noqa: E501
    fill = f"""%l = nv_tileas.async.tiled_tma_load %from, %stage[%k, %n, %h, %w, %y] barrier %none {{atom = {atom}, tx_count = {size} : i32}} : !nv_tileas.tma_desc, !tile, index, index, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token"""  # noqa: E501
    read = f"nv_tileas.tiled_store %o, %v[%zero, %k, %x, %y] {{atom = #stg}} : !tile, {view}"
    text = _types(shape) + kernel(
        f"%a: {array}, %b: {array}", _piped(shape, before, fill, read, "%taps"), 8
    )
    a = (30 * rng.standard_normal(image)).astype(NUMPY[element])
    count = batch * rows * across
    blocks = -(-count // pixels)
    b = np.zeros((1, tall * wide, count, channels), a.dtype)
    expected = _unrolled(a, (tall, wide), (lower[0], lower[1]), (rows, across))
    return Launch(text, (a, b), (blocks, -(-channels // columns), 1), 2 * expected[None])


def _unrolled(
    a: Array, window: tuple[int, int], lower: tuple[int, int], extents: tuple[int, int]
) -> Array:
    """`(tap, pixel, channel)` of an image, zeros around it."""
    batch, height, width, channels = a.shape
    taps: list[Array] = []
    for tap in np.ndindex(*window):
        found = np.zeros((batch, *extents, channels), a.dtype)
        for row, column in np.ndindex(*extents):
            h, w = row + lower[0] + tap[0], column + lower[1] + tap[1]
            if 0 <= h < height and 0 <= w < width:
                found[:, row, column] = a[:, h, w]
        taps.append(found.reshape(-1, channels))
    return np.stack(taps)


UPDATES = {
    "add": np.add.reduce,
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "umin": lambda a: np.minimum.reduce(a.view("u4")).view("i4"),
    "umax": lambda a: np.maximum.reduce(a.view("u4")).view("i4"),
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


def totals(rng: np.random.Generator, element: str, mode: str, rows: int, columns: int) -> Launch:
    """Blocks reduce their tiles of a matrix into the tiles of one that is as high as a tile.

    Numbers are small integers, so that sums do not depend on their order; some are negative.
    """
    tile, array = f"{rows}x{columns}x{element}", f"memref<?x?x{element}>"
    combines = mode.removeprefix("u")
    atom = f"#nv_tileas<atom tma_redg_2d<box = [{columns}, {rows}], op = {combines}>>"
    shared = f"tensor<{tile}, #smem>"
    body = (
        f"""%rows = arith.constant {rows} : index
  %columns = arith.constant {columns} : index
  %to = nv_tileas.make_tiled_tma_desc %b box[%columns, %rows] {{atom = {atom}}} : {array} -> !nv_tileas.tma_desc
  %buffer = nv_tileas.alloc_tensor : {shared}
  """  # noqa: E501
        + load("t", "a", array, tile, "%x, %y")
        + f"""nv_tileas.tiled_store %t, %buffer[%zero, %zero] {{atom = #copy}} : tensor<{tile}>, {shared}
  %u = nv_tileas.async.tiled_atomic_rmw {mode} %to, %buffer[%zero, %y] {{atom = {atom}}} : !nv_tileas.tma_desc, {shared}, index, index -> !nv_tileas.token
  nv_tileas.async.wait %u : !nv_tileas.token"""  # noqa: E501
    )
    width, blocks = 2 * columns - 16, 3
    dtype = np.dtype(NUMPY[element])
    a = rng.integers(-20, 21, (blocks * rows, width)).astype(dtype)
    b = rng.integers(-20, 21, (rows - 1, width)).astype(dtype)
    parts = a.reshape(blocks, rows, width)[:, :-1]
    expected = UPDATES[mode](np.concatenate([b[None], parts]))
    text = kernel(f"%a: {array}, %b: {array}", body)
    return Launch(text, (a, b), (blocks, 2, 1), expected.astype(dtype))
