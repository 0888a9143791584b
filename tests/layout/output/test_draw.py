"""Pictures: every element is covered once by a box of its colour; facts agree with the tables."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import compact_layouts, digit_fragments
from support.pictures import clipped

from tileas_xdsl.layout import BYTE_SWIZZLES, Layout, LayoutError, MemoryLayout, parse_layout, table
from tileas_xdsl.layout.output.draw import draw_layout, render
from tileas_xdsl.layout.output.facts import facts, vector_width, warp_accesses
from tileas_xdsl.layout.output.grids import grid_of

SVG = "{http://www.w3.org/2000/svg}"


def covered(svg: str, rows: int, columns: int) -> np.ndarray:
    """`(rows, columns)` fill colours of the boxes, read back from the picture."""
    boxes = [r for r in ElementTree.fromstring(svg).iter(f"{SVG}rect") if r.get("stroke")]
    top = min(int(b.get("y")) for b in boxes)
    left = min(int(b.get("x")) for b in boxes)
    height = int(boxes[0].get("height"))
    right = max(int(b.get("x")) + int(b.get("width")) for b in boxes)
    width = (right - left) // columns
    result = np.full((rows, columns), "", dtype="U8")
    for b in boxes:
        r = (int(b.get("y")) - top) // height
        c = (int(b.get("x")) - left) // width
        span = int(b.get("width")) // width
        assert (result[r, c : c + span] == "").all()
        result[r, c : c + span] = b.get("fill")
    assert (result != "").all()
    return result


@pytest.mark.parametrize("mode", BYTE_SWIZZLES)
def test_boxes_are_coloured_by_bank(mode: str) -> None:
    memory = MemoryLayout(Layout((16, 64), (64, 1)), BYTE_SWIZZLES[mode])
    cells = covered(draw_layout(memory, 16), 16, 64)
    banks = memory.addresses(16).reshape(64, 16).T // 4 % 32
    for colour in np.unique(cells):
        assert len(np.unique(banks[cells == colour])) == 1
    assert len(np.unique(cells)) == len(np.unique(banks))


@given(st.one_of(compact_layouts(depth=2), digit_fragments()))
def test_any_layout_draws_as_well_formed_svg(layout: Layout) -> None:
    svg = draw_layout(layout, title=f"{layout} of a tensor")
    assert clipped(svg) == []
    root = ElementTree.fromstring(svg)
    assert float(root.get("width")) > 0
    assert str(layout) in [node.text for node in root.iter(f"{SVG}text")]


def test_large_layouts_are_cut_and_say_so() -> None:
    grid = grid_of(Layout((256, 512)), None)
    assert grid.colours.shape == (128, 256)
    assert "the first 128x256 of 256x512" in render(grid)


def test_text_is_escaped() -> None:
    svg = draw_layout(parse_layout("<(8,8),(8,1)>"), 16)
    assert "&lt;(8,8),(8,1)&gt;" in svg


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(LayoutError, match="needs an element type"):
        draw_layout(parse_layout("<(8,8),(8,1)>"))
    with pytest.raises(LayoutError, match="not 'lane', 'value'"):
        draw_layout(parse_layout("(8,8):(1@lane,1@value)"))


def test_tensor_memory_is_drawn_by_lane_and_column() -> None:
    grid = grid_of(parse_layout("(128,8):(1@lane,2@column)"), None)
    assert np.array_equal(grid.colours, np.broadcast_to(np.arange(128)[:, None], (128, 8)))
    assert grid.labels[5].tolist() == [str(2 * column) for column in range(8)]
    assert clipped(render(grid)) == []


# Facts


@given(
    compact_layouts(extents=st.sampled_from([1, 2, 4, 8]), depth=1),
    st.sampled_from(list(BYTE_SWIZZLES.values())),
    st.sampled_from([8, 16, 32]),
)
def test_vector_width_is_the_longest_aligned_run(layout, swizzle, bits) -> None:
    memory = MemoryLayout(layout, swizzle)
    for mode in range(layout.rank):
        width = vector_width(memory, mode, bits)
        assert _is_vector(memory, mode, bits, width)
        wider = 2 * width
        if wider * bits <= 128 and layout[mode].size() % wider == 0:
            assert not _is_vector(memory, mode, bits, wider)


def _is_vector(memory: MemoryLayout, mode: int, bits: int, width: int) -> bool:
    sizes = [m.size() for m in memory.layout]
    for index in range(memory.size()):
        rest, digits = index, []
        for s in sizes:
            digits.append(rest % s)
            rest //= s
        if digits[mode] % width:
            continue
        start = _address(memory, digits, bits)
        if start * 8 % (width * bits):
            return False
        for k in range(width):
            digits[mode] += k > 0
            if _address(memory, digits, bits) != start + k * bits // 8:
                return False
    return True


def _address(memory: MemoryLayout, digits: list[int], bits: int) -> int:
    crd = tuple(digits) if isinstance(memory.shape, tuple) else digits[0]
    return memory.address(crd, bits)


def test_bank_conflicts_of_a_column_walk() -> None:
    by_name = {a.name: a for a in warp_accesses(MemoryLayout(Layout((32, 32), (32, 1))), 32)}
    assert by_name["lanes down mode 0, 4 B each"].wavefronts == 32 * 32
    assert by_name["lanes along mode 1, 4 B each"].wavefronts == 32
    padded = {a.name: a for a in warp_accesses(MemoryLayout(Layout((32, 32), (33, 1))), 32)}
    assert padded["lanes down mode 0, 4 B each"].wavefronts == 32
    assert "no bank conflict" in padded["lanes down mode 0, 4 B each"].verdict


def test_facts_name_what_collides_and_what_has_no_inverse() -> None:
    shown = dict(facts(parse_layout("(4,2):(1,2)")))
    assert shown["injective"] == "no: indices 2 and 4 both map to 2"
    shown = dict(facts(parse_layout("(2,2):(2,5)")))
    assert "stride 2 does not divide 5" in shown["inverse"]
    shown = dict(facts(parse_layout("(2,3):(2@thread,1@value)")))
    assert shown["TV layout"].startswith("none:")
    assert table(parse_layout("(4,2):(1,2)")).tolist() == [0, 1, 2, 3, 2, 3, 4, 5]


def test_neighbours_that_share_a_label_share_its_width() -> None:
    """128 columns whose threads hold four each fit a page, with all labels."""
    svg = draw_layout(parse_layout("(4,(4,32)):(32@thread,(1@value,1@thread))"))
    root = ElementTree.fromstring(svg)
    assert int(root.get("width", "0")) < 1000
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "middle"]
    assert labels == [str(thread) for thread in range(128)]
