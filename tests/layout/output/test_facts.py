"""Facts: vector widths against plain addresses, and how they are worded."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import layouts, offsets

from tileas_xdsl.layout import BYTE_SWIZZLES, Layout, LayoutError, MemoryLayout, parse_layout
from tileas_xdsl.layout.output.draw import draw_layout
from tileas_xdsl.layout.output.facts import facts, vector_width

EXTENTS = st.sampled_from([1, 2, 4, 8])


def bits_of(memory: MemoryLayout, bits: int) -> list[int]:
    """The bit address of every element, without tables."""
    swizzle = memory.byte_swizzle
    return [swizzle(o * bits // 8) * 8 + o * bits % 8 for o in offsets(memory.layout)]


def widest(addresses: list[int], sizes: list[int], mode: int, bits: int) -> int:
    """The largest power of two that works for every group along `mode`."""
    weight = 1
    for n in sizes[:mode]:
        weight *= n
    best, n = 1, 2
    while sizes[mode] % n == 0 and n * bits <= 128:
        for i, start in enumerate(addresses):
            if i // weight % sizes[mode] % n:
                continue
            group = [addresses[i + k * weight] for k in range(n)]
            if start % (n * bits) or group != [start + k * bits for k in range(n)]:
                return best
        best, n = n, 2 * n
    return best


@given(
    layouts(st.sampled_from([0, 1, 2, 4, 8, 16, 32]), depth=2, extents=EXTENTS),
    st.sampled_from([None, *BYTE_SWIZZLES.values()]),
    st.sampled_from([4, 8, 16, 32]),
)
def test_a_vector_is_adjacent_and_aligned_bit_by_bit(layout: Layout, swizzle, bits: int) -> None:
    memory = MemoryLayout(layout, swizzle)
    sizes = [mode.size() for mode in layout]
    for mode in range(len(sizes)):
        expected = widest(bits_of(memory, bits), sizes, mode, bits)
        assert vector_width(memory, mode, bits) == expected


def test_nibbles_in_one_place_are_no_vector() -> None:
    memory = parse_layout("<(2,8),(8,0),elem=f4e2m1>")
    assert dict(facts(memory, 4))["vectors along mode 1"] == "1 x 4 bits"
    assert dict(facts(parse_layout("<(2,8),(8,1)>"), 4))["vectors along mode 1"] == "8 x 4 bits"


@pytest.mark.parametrize(
    "text",
    [
        "(4,8):(1@thread,999999999999@value)",
        "(4,8):(999999999999@thread,1@value)",
        "(4,2):(999999999999999999@thread,999999999999999999@value)",
        "(4,8):(30000000@thread,1@value)",
    ],
)
def test_sparse_fragments_are_described_and_drawn_without_their_registers(text: str) -> None:
    layout = parse_layout(text)
    assert "leaves registers empty" in dict(facts(layout))["TV layout"]
    assert len(draw_layout(layout)) < 20000


def test_offsets_past_64_bits_are_refused() -> None:
    huge = "(4,8):(999999999999999999,999999999999999999)"
    with pytest.raises(LayoutError, match="a table holds offsets up to"):
        facts(parse_layout(huge))
    large = MemoryLayout(Layout((4, 8), (10**17, 10**17)))
    with pytest.raises(LayoutError, match="a table holds offsets up to"):
        facts(large, 64)


@pytest.mark.parametrize(
    ("text", "bits", "name", "fact"),
    [
        ("<8,1>", 32, "lanes along mode 0, 4 B each", "1 wavefront for the tile, no bank conflict"),
        ("<(64),(1)>", 32, "lanes along mode 0, 4 B each", "2 wavefronts for the tile, no bank"),
        ("1:0", None, "shape", "1, 1 coordinate"),
        ("1:0", None, "reaches", "1 offset"),
        ("4:1@thread", None, "fragment", "4 threads of 1 register each"),
        ("4:-1@thread", None, "fragment", "none: stride -1@thread of 4:-1@thread is negative"),
        ("4:1@lane o 0 o 4:1", None, "reaches", "offsets 0 to 3 on axis 'lane'"),
        ("S<1,0,1> o 4 o 4:1", None, "reaches", "offsets 4 to 7"),
        ("(4,8):(30000000@thread,1@value)", None, "TV layout", "none: .* leaves registers empty"),
    ],
)
def test_facts_are_worded(text: str, bits: int | None, name: str, fact: str) -> None:
    assert re.match(fact, dict(facts(parse_layout(text), bits))[name])
