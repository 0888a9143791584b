"""Swizzles, memory layouts, element types and fragments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import compact_layouts, digit_fragments, layouts, offsets

from tileas_xdsl.layout import (
    BYTE_SWIZZLES,
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    MemoryLayout,
    RegisterLayout,
    Swizzle,
    composition,
    element_type,
    get_nonswizzle_portion,
    get_swizzle_portion,
    make_composed_layout,
    make_layout_tv,
    make_ordered_layout,
    parse_layout,
    register_layout_from_table,
    register_layout_from_tv,
    shiftl,
    shiftr,
    size,
    table,
)

WGMMA_TV = "((4,8,4),(2,2,{n})):((128,1,16),(64,8,512))"


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2), st.booleans())
def test_a_swizzle_is_an_involution_that_moves_bits_as_documented(b, m, extra, down) -> None:
    shift = b + extra
    swizzle = Swizzle(b, m, -shift if down else shift)
    period = swizzle.size()
    xs = np.arange(2 * period)
    assert np.array_equal(swizzle(swizzle(xs)), xs)
    assert sorted(swizzle(xs[:period])) == list(range(period))
    low, high = (xs >> m) & ((1 << b) - 1), (xs >> (m + shift)) & ((1 << b) - 1)
    moved = low << (m + shift) if down else high << m
    assert np.array_equal(swizzle(xs), xs ^ moved)
    assert [swizzle(int(x)) for x in xs[:8]] == swizzle(xs[:8]).tolist()


@pytest.mark.parametrize("bits", [4, 8, 16, 32, 64])
def test_recast_swizzles_permute_the_same_bytes(bits: int) -> None:
    for swizzle in BYTE_SWIZZLES.values():
        if not swizzle.bits:
            continue
        recast = swizzle.recast(8, bits)
        elements = np.arange(4096)
        assert np.array_equal(recast(elements) * bits // 8, swizzle(elements * bits // 8))
        assert recast.recast(bits, 8) == swizzle


def test_pycute_names_of_masks_and_shifts() -> None:
    swizzle = Swizzle(3, 4, -5)
    assert (swizzle.yyy_msk, swizzle.zzz_msk) == (0b111 << 4, 0b111 << 9)
    assert (Swizzle(3, 4, 5).yyy_msk, Swizzle(3, 4, 5).zzz_msk) == (0b111 << 9, 0b111 << 4)
    assert (shiftl(5, 2), shiftl(20, -2), shiftr(20, 2), shiftr(5, -2)) == (20, 5, 5, 20)
    assert shiftl(5, 0) == shiftr(5, 0) == 5


def test_swizzles_that_cannot_be_are_refused() -> None:
    with pytest.raises(LayoutError, match="must not be negative"):
        Swizzle(-1, 0, 0)
    with pytest.raises(LayoutError, match="at least the number of bits"):
        Swizzle(3, 4, 2)
    with pytest.raises(LayoutError, match=r"1\.0 is not the number of bits of a swizzle"):
        Swizzle(1.0, 4, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(LayoutError, match="True is a boolean, not the base of a swizzle"):
        Swizzle(1, True, 3)
    with pytest.raises(LayoutError, match="'3' is not the shift of a swizzle"):
        Swizzle(1, 4, "3")  # pyright: ignore[reportArgumentType]
    assert str(Swizzle(np.int64(1), np.int32(4), np.int64(3))) == "S<1,4,3>"
    with pytest.raises(LayoutError, match="past 62 bits"):
        Swizzle(20, 30, 20)
    with pytest.raises(LayoutError, match="inside a 512-bit element"):
        Swizzle(3, 4, 3).recast(8, 512)
    with pytest.raises(LayoutError, match="counted in 6-bit"):
        Swizzle(3, 4, 3).recast(8, 6)


def test_composed_layouts_take_coordinates_apart() -> None:
    layout = make_composed_layout(Swizzle(3, 4, 3), 128, Layout((8, 64), (64, 1)))
    assert layout(3, 5) == layout(3 + 8 * 5) == Swizzle(3, 4, 3)(128 + 3 * 64 + 5)
    row = layout(3, None)
    assert isinstance(row, ComposedLayout)
    assert [row(j) for j in range(64)] == [layout(3, j) for j in range(64)]
    assert get_swizzle_portion(layout) == Swizzle(3, 4, 3)
    assert get_nonswizzle_portion(layout) == Layout((8, 64), (64, 1))
    assert get_swizzle_portion(Layout(4)).bits == 0
    assert (layout.rank, layout.size(), len(list(layout))) == (2, 512, 2)
    with pytest.raises(LayoutError, match="named axes"):
        ComposedLayout(Swizzle(1, 0, 1), 0, Layout(4, E("t")))(1)


@given(
    compact_layouts(extents=st.sampled_from([2, 4, 8])),
    st.sampled_from([None, *BYTE_SWIZZLES.values()]),
    st.sampled_from([8, 16, 32]),
)
def test_memory_addresses_are_swizzled_bytes(layout, swizzle, bits) -> None:
    memory = MemoryLayout(layout, swizzle)
    expected = [o * bits // 8 for o in offsets(layout)]
    if swizzle is not None:
        expected = [swizzle(x) for x in expected]
    assert memory.addresses(bits).tolist() == expected
    assert [memory.address(i, bits) for i in range(size(layout))] == expected
    assert memory.bytes(bits) == max(expected) + bits // 8
    assert (table(memory.composed(bits)) * bits // 8).tolist() == expected


def test_elements_below_a_byte_share_bytes_and_may_straddle_them() -> None:
    nibbles = MemoryLayout(Layout((4, 8), (8, 1)))
    assert nibbles.addresses(4)[:5].tolist() == [0, 4, 8, 12, 0]
    assert nibbles.bit_in_byte(4)[:5].tolist() == [0, 0, 0, 0, 4]
    assert nibbles.bytes(4) == 16
    assert MemoryLayout(Layout(3)).bytes(6) == 3
    assert MemoryLayout(Layout(2)).bytes(12) == 3


def test_memory_layouts_refuse_what_memory_does_not_have() -> None:
    with pytest.raises(LayoutError, match="stride -1"):
        MemoryLayout(Layout(4, -1))
    with pytest.raises(LayoutError, match="stride 1@thread"):
        MemoryLayout(Layout(4, E("thread")))
    with pytest.raises(LayoutError, match=r"swizzle<2,3,2> is no swizzle of shared memory"):
        MemoryLayout(Layout(4), Swizzle(2, 3, 2))
    with pytest.raises(LayoutError, match="unknown element type 'half'"):
        MemoryLayout(Layout(4), None, "half")


@given(
    layouts(st.sampled_from([0, 1, 2**20, 2**58, 2**60, 2**61, 2**62])),
    st.sampled_from([4, 6, 8, 16, 64]),
)
def test_addresses_are_exact_or_refused(layout: Layout, bits: int) -> None:
    memory = MemoryLayout(layout)
    try:
        addresses = memory.addresses(bits).tolist()
    except LayoutError as error:
        assert "a table holds offsets up to" in str(error)
        assert (layout.cosize() - 1) * bits >= 2**63
        return
    assert addresses == [o * bits // 8 for o in offsets(layout)]
    assert memory.bit_in_byte(bits).tolist() == [o * bits % 8 for o in offsets(layout)]
    if max(addresses) < 2**59:
        assert memory.bit_addresses(bits).tolist() == [o * bits for o in offsets(layout)]


def test_element_types_are_found_by_any_of_their_names() -> None:
    assert element_type("F16").bits == 16
    assert element_type("f8E4M3FN").name == "f8e4m3"
    assert element_type("nvfp4").bits == 4
    assert MemoryLayout(Layout(4), None, "nvfp4").element(element_type("f16")).bits == 4
    assert MemoryLayout(Layout(4)).element(element_type("f16")).bits == 16
    with pytest.raises(LayoutError, match=r"did you mean .*f32"):
        element_type("f23")


# Fragments


@pytest.mark.parametrize("n", [8, 64, 256])
def test_a_tv_layout_and_its_fragment_say_the_same(n: int) -> None:
    tv = parse_layout(WGMMA_TV.format(n=n // 8))
    assert isinstance(tv, Layout)
    fragment = register_layout_from_tv(tv, (64, n))
    assert (fragment.threads, fragment.values, fragment.replicas) == (128, n // 2, 1)
    assert np.array_equal(fragment.held.T.ravel(), table(tv))
    again = register_layout_from_table(fragment.held, (64, n))
    assert np.array_equal(again.held, fragment.held)
    assert table(fragment.tv()).tolist() == table(tv).tolist()


def test_stride_zero_threads_are_replicas() -> None:
    fragment = register_layout_from_tv(Layout(((8, 4), 8), ((8, 0), 1)), (8, 8))
    assert (fragment.replicas, fragment.threads, fragment.values) == (4, 32, 8)
    assert fragment.thread_table.shape == (4, 64)
    assert sorted(fragment.thread_table[:, 0]) == [0, 8, 16, 24]
    assert np.array_equal(fragment.held[3], fragment.held[11])
    assert fragment.tv() == Layout(((8, 4), 8), ((8, 0), 1))
    assert register_layout_from_table(fragment.held, (8, 8)) == fragment


@given(digit_fragments())
def test_fragments_are_recovered_from_what_threads_hold(layout: Layout) -> None:
    fragment = RegisterLayout(
        layout, tuple(size(m) for m in layout), layout.extents().get("thread", 1)
    )
    again = register_layout_from_table(fragment.held, fragment.shape)
    assert np.array_equal(again.thread_table, fragment.thread_table)
    assert np.array_equal(again.value_table, fragment.value_table)
    if (fragment.held < 0).any():
        with pytest.raises(LayoutError, match="leaves registers empty"):
            fragment.tv()
    else:
        assert table(fragment.tv()).tolist() == fragment.held.T.ravel().tolist()


def test_fragments_that_cannot_be_are_refused() -> None:
    with pytest.raises(LayoutError, match="other axes"):
        RegisterLayout(Layout(4, E("lane")), (4,), 4)
    with pytest.raises(LayoutError, match=r"does not map a \(8\) tile"):
        RegisterLayout(Layout((4,), (E("thread"),)), (8,), 4)
    with pytest.raises(LayoutError, match=r"stride -1@thread of .* is negative"):
        RegisterLayout(Layout((4,), (E("thread", -1),)), (4,), 4)
    with pytest.raises(LayoutError, match="is negative"):
        RegisterLayout(Layout((4,), (E("thread") - E("value"),)), (4,), 4)
    assert RegisterLayout(Layout((1, 2), (E("thread", -1), E("value"))), (1, 2), 1).values == 2
    with pytest.raises(LayoutError, match="uses 4 threads of 2"):
        RegisterLayout(Layout((4,), (E("thread"),)), (4,), 2)
    with pytest.raises(LayoutError, match="no TV layout: it needs two modes"):
        register_layout_from_tv(Layout(4), (4,))
    with pytest.raises(LayoutError, match="does not hold every element"):
        register_layout_from_tv(Layout((4, 2), (2, 16)), (8,))
    with pytest.raises(LayoutError, match=r"holds 8 elements; a \(16\) tile has 16"):
        register_layout_from_tv(Layout((4, 2)), (16,))
    with pytest.raises(LayoutError, match="alike"):
        register_layout_from_table(np.array([[0, 1], [1, 2]]), (3,))
    shuffled = np.random.default_rng(3).permutation(32).reshape(8, 4)
    with pytest.raises(LayoutError, match="no layout describes"):
        register_layout_from_table(shuffled, (32,))


@given(st.permutations([0, 1]), st.permutations([0, 1]), st.data())
def test_a_tiled_copy_gives_each_thread_its_block(thread_order, value_order, data) -> None:
    sizes = st.sampled_from([1, 2, 3, 4])
    threads = make_ordered_layout((data.draw(sizes), data.draw(sizes)), tuple(thread_order))
    values = make_ordered_layout((data.draw(sizes), data.draw(sizes)), tuple(value_order))
    tile, tv = make_layout_tv(threads, values)
    (t0, t1), (v0, v1) = threads.shape, values.shape
    assert tile == (t0 * v0, t1 * v1)
    for i, j, p, q in np.ndindex(t0, t1, v0, v1):
        element = (p + v0 * i) + (q + v1 * j) * tile[0]
        assert tv(threads(i, j), values(p, q)) == element


def test_a_swizzle_on_the_left_of_a_composition() -> None:
    assert composition(Swizzle(1, 0, 1), Layout(4)) == ComposedLayout(
        Swizzle(1, 0, 1), 0, Layout(4)
    )
