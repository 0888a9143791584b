"""Canonical layouts: golden numbers, and descriptors against every element of a layout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.tiling import tile_to_shape
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, Swizzle
from tileas_xdsl.layout.tables import flat_table, table
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.canonical import (
    MODES,
    CanonicalLayout,
    canonical_atom,
    operand_refusal,
)
from tileas_xdsl.target.mma.canonical_match import Mismatch, match_canonical
from tileas_xdsl.target.mma.smem_descriptor import describe

SM90, SM100 = get_target("sm_90a"), get_target("sm_100a")


def matched(memory, mode, bits, major, target=SM100):
    found = match_canonical(memory, BYTE_SWIZZLES[mode], bits, major, target)
    assert isinstance(found, CanonicalLayout), found
    return found


def units(found):
    return found.leading_byte_offset // 16, found.stride_byte_offset // 16


# CUTLASS: make_umma_desc on tile_to_shape of each atom, in 16-byte units: (LBO, SBO)
GOLDEN = [
    ("128B", "k", (128, 64), (1, 64)),
    ("128B", "k", (64, 64), (1, 64)),
    ("128B", "k", (256, 64), (1, 64)),
    ("64B", "k", (128, 32), (1, 32)),
    ("32B", "k", (128, 16), (1, 16)),
    ("none", "k", (128, 64), (128, 8)),
    ("128B", "mn", (128, 64), (64, 128)),
    ("64B", "mn", (128, 64), (32, 128)),
    ("32B", "mn", (128, 64), (16, 128)),
    ("none", "mn", (128, 64), (128, 8)),
]


@pytest.mark.parametrize("target", [SM90, SM100], ids=lambda t: t.name)
@pytest.mark.parametrize(("mode", "major", "shape", "expected"), GOLDEN)
def test_golden_offsets(mode, major, shape, expected, target):
    memory = tile_to_shape(canonical_atom(mode, major, 16), shape)
    assert units(matched(memory, mode, 16, major, target)) == expected


def test_layout_of_a_plain_literal():
    """`<(128,64),(64,1),swizzle<3,4,3>>` of f16: 8 rows are 1024 bytes, a step of K is 32."""
    found = match_canonical(Layout((128, 64), (64, 1)), Swizzle(3, 4, 3), 16, "k", SM90)
    assert found == CanonicalLayout("128B", "k", 16, 16, 1024, Layout(4, 32))
    assert found.step == 32
    assert found.alignment == 1024


# What CuTe DSL's verifier accepts of one instruction's (MN, K), and how it names its refusals
ACCEPTED = [
    ("(128,16):(64,1)", Layout((128, 16), (64, 1)), "128B", 16, "k"),
    ("(128,16):(32,1)", Layout((128, 16), (32, 1)), "64B", 16, "k"),
    ("(128,16):(16,1)", Layout((128, 16), (16, 1)), "32B", 16, "k"),
    ("interleaved", Layout(((8, 16), (8, 2)), ((8, 128), (1, 64))), "none", 16, "k"),
    ("f32", Layout((128, 8), (32, 1)), "128B", 32, "k"),
    ("f8", Layout((128, 32), (128, 1)), "128B", 8, "k"),
    ("f4", Layout((128, 64), (256, 1)), "128B", 4, "k"),
    ("mn 128B", Layout(((64, 2), 16), ((1, 1024), 64)), "128B", 16, "mn"),
    ("mn 64B", Layout(((32, 4), (8, 2)), ((1, 512), (32, 256))), "64B", 16, "mn"),
    ("mn 32B", Layout(((16, 8), (8, 2)), ((1, 256), (16, 128))), "32B", 16, "mn"),
]
REFUSED = [
    (Layout((128, 16), (65, 1)), "128B", "k", "stride", "stride of 65 elements"),
    (Layout((128, 16), (32, 1)), "128B", "k", "stride", "128 bytes apart, found 64"),
    (Layout((128, 16), (72, 1)), "128B", "k", "stride", "128 bytes apart, found 144"),
    (Layout((128, 64), (64, 1)), "none", "k", "stride", "16 bytes apart, found 128"),
    (Layout((127, 16), (64, 1)), "128B", "k", "mn-size", "multiple of 8, not 127"),
    (Layout((128, 24), (64, 1)), "128B", "k", "k-size", "K is 24"),
    (Layout((64, 24), (1, 64)), "128B", "mn", "k-size", "K is 24"),
    (Layout((64, 16), (1, 64)), "64B", "mn", "stride", "64 bytes apart, found 128"),
    (Layout((64, 16), (2, 64)), "64B", "mn", "stride", "should fill 16 bytes"),
    (Layout((128, 16), (64, 2)), "128B", "k", "stride", "should fill 16 bytes, found 8:2"),
    (Layout((128, 128), (128, 1)), "128B", "k", "stride", "128 bytes apart, found 256"),
    (Layout((128, 64, 2)), "128B", "k", "profile", "3 modes"),
    (Layout((16, 16), (131072, 1)), "none", "k", "stride", "found 262144"),
    (Layout(((8, 2), 64), ((64, 1 << 18), 1)), "128B", "k", "range", "byte offset of 524288"),
    (Layout(((8, 2), 64), ((64, -512), 1)), "128B", "k", "range", "byte offset of -1024"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "memory", "mode", "bits", "major"), ACCEPTED)
def test_accepted_by_the_dsl(name, memory, mode, bits, major):
    matched(memory, mode, bits, major)


@pytest.mark.parametrize(("memory", "mode", "major", "fault", "words"), REFUSED)
def test_refusals_say_why(memory, mode, major, fault, words):
    found = match_canonical(memory, BYTE_SWIZZLES[mode], 16, major, SM100)
    assert isinstance(found, Mismatch)
    assert found.fault == fault
    assert words in found.reason


def test_k_beyond_the_swizzle_span_starts_unevenly():
    memory = tile_to_shape(canonical_atom("128B", "k", 16), (128, 128))
    found = matched(memory, "128B", 16, "k", SM90)
    assert units(found) == (1, 64)
    assert found.step is None
    starts = [0, 32, 64, 96, 16384, 16416, 16448, 16480]
    assert flat_table(found.starts).tolist() == starts
    half = tile_to_shape(canonical_atom("64B", "k", 16), (128, 64))
    assert flat_table(matched(half, "64B", 16, "k", SM90).starts).tolist() == [0, 32, 8192, 8224]


@pytest.mark.parametrize(
    ("memory", "mode", "major", "step"),
    [
        (Layout((128, 16), (64, 1)), "128B", "k", 0),
        (Layout((128, 64), (64, 1)), "128B", "k", 32),
        (Layout((64, 16), (1, 64)), "128B", "mn", 0),
        (Layout((64, 64), (1, 64)), "128B", "mn", 2048),
        (Layout((64, (16, 2, 2)), (1, (64, 1024, 4096))), "128B", "mn", None),
    ],
)
def test_steps(memory, mode, major, step):
    assert matched(memory, mode, 16, major).step == step


def test_what_one_instruction_reads_is_even():
    memory = Layout((128, (8, 2, 2)), (1, (128, 1024, 8192)))
    found = match_canonical(memory, BYTE_SWIZZLES["128B"], 8, "mn", SM100)
    assert isinstance(found, Mismatch)
    assert found.fault == "profile"
    words = "the groups of 8 units (16 bytes) along K are not evenly spaced, found (2,2):(64,512)"
    assert words in found.reason


@pytest.mark.parametrize(
    ("swizzle", "target", "words"),
    [
        (Swizzle(2, 5, 2), SM90, "sm_90a has no mode with swizzle S<2,5,2>"),
        (Swizzle(3, 3, 3), SM100, "sm_100a has no mode with swizzle S<3,3,3>"),
        (Swizzle(2, 5, 2), SM100, "MN-major operands only"),
    ],
)
def test_unsupported_swizzles(swizzle, target, words):
    found = match_canonical(Layout((128, 64), (64, 1)), swizzle, 16, "k", target)
    assert isinstance(found, Mismatch)
    assert found.fault == "swizzle"
    assert words in found.reason


def test_widths_and_modes_that_do_not_exist():
    with pytest.raises(TargetError, match="not of 64"):
        match_canonical(Layout((8, 8), (8, 1)), Swizzle(0, 4, 3), 64, "k", SM90)
    with pytest.raises(TargetError, match="major 'q' is unknown; known: k, mn"):
        match_canonical(Layout((64, 16), (1, 64)), Swizzle(3, 4, 3), 16, "q", SM90)
    with pytest.raises(TargetError, match="major 'MN' is unknown"):
        canonical_atom("128B", "MN", 16)
    with pytest.raises(TargetError, match="known: none, 32B"):
        canonical_atom("256B", "k", 16)
    with pytest.raises(TargetError, match="MN-major operands only"):
        canonical_atom("128B_BASE32B", "k", 16)


@pytest.mark.parametrize(
    ("target", "bits", "major", "mode", "words"),
    [
        (SM90, 8, "mn", "128B", "sm_90a reads 8-bit operands K-major only"),
        (SM90, 4, "k", "128B", "no matrix instruction for 4-bit"),
        (SM100, 4, "mn", "128B", "sm_100a reads 4-bit operands K-major only"),
        (SM100, 32, "mn", "128B", "in mode 128B_BASE32B, not 128B"),
        (SM100, 16, "mn", "128B_BASE32B", "not 128B_BASE32B"),
        (SM90, 16, "mn", "128B", None),
        (SM100, 32, "mn", "128B_BASE32B", None),
        (SM100, 4, "k", "64B", None),
    ],
)
def test_operands_that_instructions_refuse(target, bits, major, mode, words):
    refusal = operand_refusal(CanonicalLayout(mode, major, bits, 16, 1024, Layout(4, 32)), target)
    assert refusal is None if words is None else words in refusal


@st.composite
def operands(draw):
    major = draw(st.sampled_from(["k", "mn"]))
    mode = draw(st.sampled_from([m for m in MODES if major == "mn" or m != "128B_BASE32B"]))
    bits = draw(st.sampled_from([4, 8, 16, 32]))
    atom = canonical_atom(mode, major, bits)
    rows, columns = atom.shape
    instruction = 256 // bits
    if major == "k":
        shape = rows * draw(st.integers(1, 9)), columns
        if mode == "none":
            shape = shape[0], instruction * draw(st.integers(1, 4))
    else:
        shape = rows * draw(st.integers(1, 4)), instruction * draw(st.integers(1, 4))
    order = draw(st.sampled_from([(0, 1), (1, 0)]))
    if mode == "none" and major == "k":
        order = (0, 1)
    return mode, major, bits, tile_to_shape(atom, shape, order)


@given(operands())
def test_descriptor_reaches_every_element(case):
    mode, major, bits, memory = case
    found = matched(memory, mode, bits, major)
    mn, k = (mode_.size() for mode_ in memory)
    elements = table(memory).reshape(k, mn).T
    expected = BYTE_SWIZZLES[mode](elements * bits // 8)
    reached = found.byte_address(np.arange(mn)[:, None], np.arange(k)[None, :])
    assert np.array_equal(reached, expected)


@given(
    st.sampled_from(["none", "32B", "64B", "128B"]),
    st.sampled_from([4, 8, 16, 32]),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(0, 4),
)
def test_padded_groups_and_steps(mode, bits, groups, steps, padding):
    """Groups of 8 rows may be spaced at will, the K of instructions as well."""
    atom = canonical_atom(mode, "k", bits)
    unit, pitch = 128 // bits, atom.size() + 1024 * padding
    far = pitch * groups
    if mode == "none":
        memory = Layout(((8, groups), (unit, 2, steps)), ((unit, pitch), (1, far, 2 * far)))
    else:
        memory = Layout(((8, groups), (2 * unit, steps)), ((atom.shape[1], pitch), (1, far)))
    found = match_canonical(memory, BYTE_SWIZZLES[mode], bits, "k", SM100)
    if isinstance(found, Mismatch):
        assert found.fault == "range"
        return
    mn, k = (mode_.size() for mode_ in memory)
    expected = BYTE_SWIZZLES[mode](table(memory).reshape(k, mn).T * bits // 8)
    reached = found.byte_address(np.arange(mn)[:, None], np.arange(k)[None, :])
    assert np.array_equal(reached, expected)


@st.composite
def operands_of_several_atoms(draw):
    """K beyond the atom, in any order and with gaps: starts need not be evenly spaced."""
    major = draw(st.sampled_from(["k", "mn"]))
    mode = draw(st.sampled_from([m for m in MODES if major == "mn" or m != "128B_BASE32B"]))
    bits = draw(st.sampled_from([4, 8, 16, 32]))
    atom, instruction = canonical_atom(mode, major, bits), 256 // bits
    if major == "k" and mode != "none":
        shape = 8 * draw(st.integers(1, 4)), atom.shape[1] * draw(st.integers(1, 4))
        return mode, major, bits, tile_to_shape(atom, shape, draw(st.permutations((0, 1))))
    shape = (8 if major == "k" else atom.shape[0]) * draw(st.integers(1, 3)), instruction
    one = tile_to_shape(atom, shape)
    counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    strides, pitch = [], one.size()
    for count in counts:
        strides.append(pitch)
        pitch = pitch * count + 1024 * draw(st.integers(0, 2))
    along = make_layout(one[1], Layout(tuple(counts), tuple(strides)))
    return mode, major, bits, make_layout(one[0], along)


def addresses_of_instruction(word, mode, major, bits, mn, k):
    """What the hardware reads for element `(mn, k)` of one instruction, from its descriptor."""
    start, lead, stride = (16 * (word >> low & 0x3FFF) for low in (0, 16, 32))
    width, rows = MODES[mode].width, 8 if major == "k" else MODES[mode].mn_major_rows
    along, across = (k, mn) if major == "k" else (mn, k)
    byte = along * bits // 8
    panel, group = lead, stride
    if mode == "none" and major == "mn":
        panel, group = stride, lead
    panel_bytes = 16 if mode == "none" else 16 * width
    address = start + byte // panel_bytes * panel + byte % panel_bytes
    return BYTE_SWIZZLES[mode](address + across % rows * 16 * width + across // rows * group)


@given(operands_of_several_atoms(), st.sampled_from([0, 1024, 0x2400]))
def test_each_instruction_has_a_descriptor(case, base):
    mode, major, bits, memory = case
    found = match_canonical(memory, BYTE_SWIZZLES[mode], bits, major, SM100)
    if isinstance(found, Mismatch):
        assert found.fault == "range"
        return
    mn, k = (part.size() for part in memory)
    elements = table(memory).reshape(k, mn).T
    expected = BYTE_SWIZZLES[mode](base + elements * bits // 8)
    starts, reads = flat_table(found.starts), 256 // bits
    assert len(starts) == k // reads
    if starts.max() + base >= 1 << 18:
        return
    descriptor = describe(found, base, SM100)
    rows, columns = np.arange(mn)[:, None], np.arange(reads)[None, :]
    for i, start in enumerate(starts.tolist()):
        word = descriptor.advance(start).encode()
        reached = addresses_of_instruction(word, mode, major, bits, rows, columns)
        assert np.array_equal(reached, expected[:, reads * i : reads * (i + 1)])


@st.composite
def bent_operands(draw):
    """A canonical layout with one stride changed, read in any mode: few are canonical again."""
    mode, major, bits, memory = draw(operands())
    leaves = [list(part.leaves()) for part in memory]
    side = draw(st.integers(0, 1))
    digit = draw(st.integers(0, len(leaves[side]) - 1))
    extent, stride = leaves[side][digit]
    factor = draw(st.sampled_from([0, 1, 2, 4]))
    leaves[side][digit] = extent, stride * factor + draw(st.sampled_from([0, 0, 1, 8, 1024]))
    modes = [Layout(tuple(s for s, _ in part), tuple(d for _, d in part)) for part in leaves]
    mode = draw(st.sampled_from([mode, mode, *MODES]))
    return mode, draw(st.sampled_from([major, major, "k", "mn"])), bits, make_layout(*modes)


@given(bent_operands())
def test_whatever_matches_is_read_exactly(case):
    mode, major, bits, memory = case
    found = match_canonical(memory, BYTE_SWIZZLES[mode], bits, major, SM100)
    if isinstance(found, Mismatch):
        assert found.reason
        return
    mn, k = (part.size() for part in memory)
    expected = BYTE_SWIZZLES[mode](table(memory).reshape(k, mn).T * bits // 8)
    reached = found.byte_address(np.arange(mn)[:, None], np.arange(k)[None, :])
    assert np.array_equal(reached, expected)
