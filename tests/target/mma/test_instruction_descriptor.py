"""Instruction descriptors of tcgen05.mma: golden words, round trips, refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
    decode,
)
from tileas_xdsl.target.mma.mma_kinds import KINDS, get_kind

# CUTLASS make_instr_desc, and words of kernels that run
GOLDEN = [
    (InstructionDescriptor("f16", "f16", "f16", 128, 256), 0x08400010),
    (InstructionDescriptor("f16", "f16", "f16", 256, 256, group="2"), 0x10400010),
    (InstructionDescriptor("f16", "bf16", "bf16", 128, 128), 0x08200490),
    (InstructionDescriptor("f16", "bf16", "bf16", 128, 128, a_major="mn"), 0x08208490),
    (InstructionDescriptor("f16", "bf16", "bf16", 256, 256, group="2"), 0x10400490),
    (InstructionDescriptor("tf32", "tf32", "tf32", 128, 128), 0x08200910),
    (InstructionDescriptor("i8", "s8", "s8", 128, 128, d="s32"), 0x082004A0),
    (InstructionDescriptor("f8f6f4", "f8e4m3", "f8e5m2", 128, 128), 0x08200410),
    (BlockScaledDescriptor("mxf8f6f4", "f8e4m3", "f8e4m3", 128, 128), 0x08A00000),
    (
        BlockScaledDescriptor("mxf4nvf4", "f4e2m1", "f4e2m1", 128, 256, scale="ue4m3"),
        0x08400480,
    ),
]


@pytest.mark.parametrize(("descriptor", "word"), GOLDEN)
def test_golden_words(descriptor, word):
    assert descriptor.encode() == word
    assert decode(word, descriptor.kind, descriptor.group) == descriptor


def test_every_field_has_its_place():
    plain = InstructionDescriptor("f16", "f16", "f16", 64, 8, d="f16")
    base = 4 << 24 | 1 << 17
    assert plain.encode() == base
    for change, bits in (
        ({"negate_a": True}, 1 << 13),
        ({"negate_b": True}, 1 << 14),
        ({"a_major": "mn"}, 1 << 15),
        ({"b_major": "mn"}, 1 << 16),
        ({"sparse": True, "sparsity_selector": 3}, 0b111),
    ):
        changed = InstructionDescriptor("f16", "f16", "f16", 64, 8, d="f16", **change)
        assert changed.encode() == base | bits
    saturated = InstructionDescriptor("i8", "u8", "u8", 64, 8, d="s32", saturate=True)
    assert saturated.encode() == base | 2 << 4 | 1 << 3
    shifted = InstructionDescriptor("f16", "f16", "f16", 32, 64, group="ws", max_shift=32)
    assert shifted.encode() == 2 << 24 | 8 << 17 | 1 << 4 | 3 << 30
    scaled = BlockScaledDescriptor(
        "mxf8f6f4", "f4e2m1", "f6e2m3", 128, 8, a_scale_id=3, b_scale_id=2
    )
    assert scaled.encode() == 1 << 27 | 3 << 29 | 2 << 4 | 1 << 23 | 1 << 17 | 5 << 7 | 3 << 10


@st.composite
def descriptors(draw):
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    group = draw(st.sampled_from(sorted(kind.shapes)))
    shapes = kind.shapes[group]
    a = draw(st.sampled_from(sorted(kind.operands)))
    b = a if kind.same_operands else draw(st.sampled_from(sorted(kind.operands)))
    n = draw(st.sampled_from(shapes.n))
    transposed = b in kind.mn_major and (kind.k != 32 or n % 32 == 0)
    common = {
        "kind": kind.name,
        "a": a,
        "b": b,
        "m": draw(st.sampled_from(shapes.m)),
        "n": n,
        "a_major": draw(st.sampled_from(["k", "mn"] if a in kind.mn_major else ["k"])),
        "b_major": draw(st.sampled_from(["k", "mn"] if transposed else ["k"])),
        "negate_a": kind.negate and draw(st.booleans()),
        "negate_b": kind.negate and draw(st.booleans()),
        "group": group,
    }
    if kind.scales:
        return BlockScaledDescriptor(
            **common,
            scale=draw(st.sampled_from(sorted(kind.scales))),
            a_scale_id=draw(st.sampled_from(kind.scale_ids)),
            b_scale_id=draw(st.sampled_from(kind.scale_ids)),
        )
    accumulators = set(kind.accumulators) - ({"f16"} if a == "bf16" else set())
    return InstructionDescriptor(
        **common,
        d=draw(st.sampled_from(sorted(accumulators))),
        saturate=kind.saturate and draw(st.booleans()),
        max_shift=draw(st.sampled_from([0, 8, 16, 32])) if group == "ws" else 0,
    )


@given(descriptors())
def test_round_trip(descriptor):
    assert decode(descriptor.encode(), descriptor.kind, descriptor.group) == descriptor


@settings(deadline=None)
@given(st.integers(0, (1 << 32) - 1), st.sampled_from(sorted(KINDS)))
def test_words_decode_or_are_refused(word, kind):
    try:
        found = decode(word, kind)
    except TargetError:
        return
    assert found.encode() == word


def plain(kind, a, m, n, **rest):
    return InstructionDescriptor(kind, a, rest.pop("b", a), m, n, **rest)


def scaled(kind, a, m, n, **rest):
    return BlockScaledDescriptor(kind, a, rest.pop("b", a), m, n, **rest)


REFUSED = [
    (plain("f16", "f16", 96, 128), "cta_group::1 has M 64 or 128, not 96"),
    (plain("f16", "f16", 256, 128), "cta_group::1 has M 64 or 128, not 256"),
    (plain("f16", "f16", 64, 128, group="2"), "cta_group::2 has M 128 or 256, not 64"),
    (plain("f16", "f16", 128, 12), "N 8 to 256 in steps of 8, not 12"),
    (plain("f16", "f16", 128, 264), "N 8 to 256 in steps of 8, not 264"),
    (plain("f16", "f16", 256, 24, group="2"), "N 16 to 256 in steps of 16, not 24"),
    (plain("i8", "s8", 128, 40, d="s32"), "N 8, 16, 24, 32, 48, .* not 40"),
    (plain("i8", "s8", 256, 48, d="s32", group="2"), "in steps of 32, not 48"),
    (plain("i8", "s8", 128, 64), "accumulator 'f32' is unknown; known: s32"),
    (plain("i8", "s8", 128, 64, d="s32", negate_a=True), "cannot be negated"),
    (plain("f16", "f16", 128, 64, b="bf16"), "A is f16 and B bf16"),
    (plain("f16", "bf16", 128, 64, d="f16"), "accumulate in f32, not in f16"),
    (plain("f16", "f8e4m3", 128, 64), "element of A 'f8e4m3' is unknown; known: f16, bf16"),
    (plain("f16", "f16", 128, 64, saturate=True), "only kind::i8 saturates"),
    (plain("f16", "f16", 128, 64, sparsity_selector=1), "needs a sparse instruction"),
    (plain("f16", "f16", 128, 64, max_shift=8), "cta_group::1 has no shift of B"),
    (plain("f16", "f16", 128, 64, max_shift=4, group="ws"), "shift of 4 is not 0, 8, 16 or 32"),
    (plain("f16", "f16", 128, 256, sparse=True, group="ws"), "N 64 or 128, not 256"),
    (plain("i8", "s8", 128, 8, d="s32", b_major="mn"), "N in steps of 16 where B is N-major"),
    (plain("f8f6f4", "f8e4m3", 256, 48, b_major="mn", group="2"), "N in steps of 32 where B"),
    (plain("i8", "s8", 128, 32, d="s32", sparse=True, sparsity_selector=1), "selector is 0, not 1"),
    (plain("f8f6f4", "f6e2m3", 128, 64, a_major="mn"), "A of f6e2m3 is K-major only"),
    (plain("f16", "f16", 128, 64, a_major="x"), "major of A 'x' is unknown; known: k, mn"),
    (scaled("mxf4", "f4e2m1", 128, 64, b_major="MN"), "major of B 'MN' is unknown; known: k, mn"),
    (plain("f16", "f16", 128.0, 64), r"M is 128\.0, not an integer"),
    (scaled("mxf4", "f4e2m1", 128, "64"), "N is '64', not an integer"),
    (plain("mxf4", "f4e2m1", 128, 64), "has the block-scaled instruction descriptor"),
    (plain("f64", "f64", 128, 64), "unknown kind 'f64' of tcgen05.mma; known: f16"),
    (scaled("f16", "f16", 128, 64), "has the plain instruction descriptor"),
    (scaled("mxf4", "f4e2m1", 64, 64), "has M 128, not 64"),
    (scaled("mxf4", "f4e2m1", 128, 64, b_major="mn"), "B of f4e2m1 is K-major only"),
    (scaled("mxf4", "f4e2m1", 128, 64, scale="ue4m3"), "scale format 'ue4m3' is unknown"),
    (scaled("mxf4", "f4e2m1", 128, 64, a_scale_id=1), "scale id of A is 1, not 0, 2"),
    (scaled("mxf4", "f4e2m1", 128, 64, k96=True), "K = 96 needs sm_103a"),
    (scaled("mxf4", "f4e2m1", 128, 64, group="ws"), "has no form for .ws"),
    (scaled("mxf4", "f4e2m1", 128, 64, group="2", sparse=True), "has M 256, not 128"),
]


@pytest.mark.parametrize(("descriptor", "words"), REFUSED)
def test_illegal_combinations(descriptor, words):
    with pytest.raises(TargetError, match=words):
        descriptor.encode()


@pytest.mark.parametrize(
    ("word", "kind", "words"),
    [
        (1 << 32, "f16", "no 32-bit word"),
        (0x08400010 | 1 << 6, "f16", "reserved bit 6"),
        (0x08400010 | 3 << 7, "f16", "format code of A 3 is reserved; known: 0 f16, 1 bf16"),
        (0x08A00000 | 1 << 24, "mxf8f6f4", "reserved bit 24"),
        (0x00000010, "f16", "M 64 or 128, not 0"),
    ],
)
def test_decode_refuses(word, kind, words):
    with pytest.raises(TargetError, match=words):
        decode(word, kind)


def test_k_of_each_kind_is_256_bits():
    bits = {"f16": 16, "tf32": 32, "f8f6f4": 8, "i8": 8, "mxf8f6f4": 8, "mxf4": 4, "mxf4nvf4": 4}
    assert {name: get_kind(name).k * width for name, width in bits.items()} == dict.fromkeys(
        KINDS, 256
    )
