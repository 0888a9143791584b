"""The box of a tile: what TMA would write, compared with the layout element by element."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout, make_ordered_layout
from tileas_xdsl.layout.operations.tiling import tile_to_shape
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.canonical import MODES, canonical_atom
from tileas_xdsl.target.tma.tma_box import TmaBox, tma_box


def written(tile, box):
    """The offsets that `tile` gives to the elements of the first box, in the order TMA writes."""
    shape = product_each(tile.shape)
    offsets = table(tile).reshape(shape[::-1]).transpose()
    corner = offsets[
        tuple(slice(dict(zip(box.modes, box.box, strict=True))[m]) for m in range(len(shape)))
    ]
    return corner.transpose(box.modes).ravel(order="F")


def assert_box_is_contiguous(tile, box):
    count = int(np.prod(box.box))
    assert np.array_equal(written(tile, box), np.arange(count))
    assert box.boxes * count == tile.size()
    assert max(box.box) <= 256


@pytest.mark.parametrize(
    ("tile", "swizzle", "expected"),
    [
        (Layout((128, 64), (64, 1)), "128B", TmaBox((1, 0), (64, 128), 1)),
        (Layout((64, 128)), "none", TmaBox((0, 1), (64, 128), 1)),
        (Layout((128, (64, 2)), (64, (1, 8192))), "128B", TmaBox((1, 0), (64, 128), 2)),
        (Layout((512, 64), (64, 1)), "128B", TmaBox((1, 0), (64, 256), 2)),
        (Layout((128, 128), (128, 1)), "128B", TmaBox((1, 0), (64, 1), 256)),
        (Layout((4, 64, 32), (2048, 32, 1)), "64B", TmaBox((2, 1, 0), (32, 64, 4), 1)),
        (Layout((4, 64, 32), (32, 128, 1)), "none", TmaBox((2, 0, 1), (32, 4, 64), 1)),
        (Layout(1024), "none", TmaBox((0,), (256,), 4)),
        (Layout((128, 64), (72, 1)), "none", TmaBox((1, 0), (64, 1), 128)),
        (Layout((264, 2)), "none", TmaBox((0, 1), (88, 1), 6)),
    ],
)
def test_boxes(tile, swizzle, expected):
    box = tma_box(tile, 16, swizzle)
    assert box == expected
    assert_box_is_contiguous(tile, box)


@pytest.mark.parametrize(
    ("tile", "swizzle", "words"),
    [
        (Layout((128, 32), (32, 1)), "128B", "rows of 64 bytes are no multiple of the 128"),
        (Layout((8, 8), (16, 2)), "none", "no two elements side by side"),
        (Layout((8, 8)), "256B", "unknown swizzle '256B'"),
        (Layout((257, 1), (1, 0)), "none", "no row of 257 elements of 16 bits"),
        (Layout((3, 5), (5, 1)), "none", "no row of 5 elements .* is a multiple of 16 bytes"),
        (Layout((64, 64), (0, 1)), "none", "puts elements 0 and 1 in one place"),
        (Layout((64, 64), (1, 32)), "128B", "puts elements 32 and 64 in one place"),
    ],
)
def test_refusals(tile, swizzle, words):
    with pytest.raises(TargetError, match=words):
        tma_box(tile, 16, swizzle)


@settings(deadline=None)
@given(
    st.sampled_from([m for m in MODES if m != "128B_BASE32B"]),
    st.sampled_from(["k", "mn"]),
    st.sampled_from([8, 16, 32]),
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_tiles_of_canonical_atoms(mode, major, bits, rows, columns):
    atom = canonical_atom(mode, major, bits)
    shape = tuple(s * n for s, n in zip(product_each(atom.shape), (rows, columns), strict=True))
    tile = tile_to_shape(atom, shape)
    assert_box_is_contiguous(tile, tma_box(tile, bits, mode))


@settings(deadline=None)
@given(st.lists(st.sampled_from([1, 2, 3, 8, 20, 64]), min_size=1, max_size=3), st.randoms())
def test_compact_tiles_of_any_order(shape, random):
    order = list(range(len(shape)))
    random.shuffle(order)
    tile = make_ordered_layout(tuple(shape), tuple(order))
    if tile.size() == 1:
        return
    row = next(n for n in (shape[k] for k in order_of(tile)) if n > 1)
    if row * 16 % 128:
        with pytest.raises(TargetError, match=f"no row of {row} elements of 16 bits"):
            tma_box(tile, 16)
        return
    box = tma_box(tile, 16)
    assert_box_is_contiguous(tile, box)
    assert box.box[0] * 16 % 128 == 0


def order_of(tile):
    """The modes of a compact tile, the most contiguous first."""
    return sorted(range(tile.rank), key=lambda k: (tile.stride[k], tile.shape[k]))
