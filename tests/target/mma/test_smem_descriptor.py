"""Shared-memory matrix descriptors: golden words, round trips, refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.arch import TARGETS, get_target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.canonical import CanonicalLayout
from tileas_xdsl.target.mma.canonical_match import match_canonical
from tileas_xdsl.target.mma.smem_descriptor import SmemDescriptor, decode, describe

SM90, SM100 = get_target("sm_90a"), get_target("sm_100a")


def operand(target):
    """The descriptor of a (128, 64) tile of f16, 128-byte rows, at address 0x2400."""
    memory = Layout((128, 64), (64, 1))
    layout = match_canonical(memory, BYTE_SWIZZLES["128B"], 16, "k", target)
    assert isinstance(layout, CanonicalLayout)
    return describe(layout, 0x2400, target)


def test_golden_words():
    """The constants of hand-written kernels that run on hardware."""
    assert operand(SM90).encode() == 0x4000004000010000 | 0x2400 >> 4
    assert operand(SM100).encode() == 0x4000404000010000 | 0x2400 >> 4
    none = SmemDescriptor(SM90, "none", 0x400, 2048, 128)
    assert none.encode() == 8 << 32 | 128 << 16 | 0x40


def test_codes_of_modes():
    codes = {
        (t.name, mode): SmemDescriptor(t, mode, 0, 0, 0).encode() >> 61
        for t in TARGETS.values()
        for mode in t.matrix_unit.layout_types
    }
    assert codes == {
        ("sm_90a", "none"): 0,
        ("sm_90a", "128B"): 1 << 1,
        ("sm_90a", "64B"): 2 << 1,
        ("sm_90a", "32B"): 3 << 1,
        ("sm_100a", "none"): 0,
        ("sm_100a", "128B_BASE32B"): 1,
        ("sm_100a", "128B"): 2,
        ("sm_100a", "64B"): 4,
        ("sm_100a", "32B"): 6,
    }


@pytest.mark.parametrize("target", [SM90, SM100], ids=lambda t: t.name)
def test_advance_adds_to_the_low_word(target):
    start = operand(target)
    assert start.advance(32).encode() == start.encode() + 2


OFFSETS = st.integers(0, (1 << 14) - 1).map(lambda units: 16 * units)


@st.composite
def descriptors(draw):
    target = draw(st.sampled_from([SM90, SM100]))
    return SmemDescriptor(
        target,
        draw(st.sampled_from(sorted(target.matrix_unit.layout_types))),
        draw(OFFSETS),
        draw(OFFSETS),
        draw(OFFSETS),
        draw(st.integers(0, 7)),
        draw(st.booleans()) if target is SM100 else False,
    )


@settings(deadline=None)
@given(descriptors())
def test_round_trip(descriptor):
    assert decode(descriptor.encode(), descriptor.target) == descriptor


@settings(deadline=None)
@given(st.integers(0, (1 << 64) - 1), st.sampled_from([SM90, SM100]))
def test_words_decode_or_are_refused(word, target):
    try:
        found = decode(word, target)
    except TargetError:
        return
    assert found.encode() == word


REFUSED = [
    (SmemDescriptor(SM90, "128B", 1 << 18, 16, 1024), "address 262144 is not in 0..262143"),
    (SmemDescriptor(SM90, "128B", 8, 16, 1024), "address 8 is no multiple of 16"),
    (SmemDescriptor(SM90, "128B", 0, 24, 1024), "leading_byte_offset 24 is no multiple of 16"),
    (SmemDescriptor(SM90, "128B", 0, 16, -16), "stride_byte_offset -16 is not in"),
    (SmemDescriptor(SM100, "128B", 0, 16, 1024, 8), "base_offset 8 is not in 0..7"),
    (SmemDescriptor(SM90, "128B_BASE32B", 0, 16, 1024), "'128B_BASE32B' is unknown; known: none"),
    (SmemDescriptor(SM90, "none", 0, 0, 0, 0, True), "needs sm_100a"),
    (operand(SM90).advance((1 << 18) - 0x2400), "address 262144 is not in"),
]


@pytest.mark.parametrize(("descriptor", "words"), REFUSED)
def test_encode_refuses(descriptor, words):
    with pytest.raises(TargetError, match=words):
        descriptor.encode()


@pytest.mark.parametrize(
    ("word", "target", "words"),
    [
        (1 << 64, SM90, "no 64-bit word"),
        (1 << 14, SM90, "reserved bit 14"),
        (1 << 46, SM90, "reserved bit 46"),
        (0, SM100, "version 0 instead of 1"),
        (1 << 46 | 3 << 61, SM100, "layout type 3 is reserved; known: 0 none, 1 128B_BASE32B"),
        (1 << 46 | 1 << 53, SM100, "reserved bit 53"),
    ],
)
def test_decode_refuses(word, target, words):
    with pytest.raises(TargetError, match=words):
        decode(word, target)


def test_addresses_that_shift_the_pattern():
    layout = CanonicalLayout("128B", "k", 16, 16, 1024, Layout(4, 32))
    with pytest.raises(TargetError, match="multiple of 1024 bytes, not at 512"):
        describe(layout, 512, SM90)
