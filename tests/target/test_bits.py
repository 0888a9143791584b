"""Words of bit fields."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.target.bits import BitField, code_of, named, pack, unpack
from tileas_xdsl.target.errors import TargetError

FIELDS = (BitField("low", 0, 3), BitField("bytes", 4, 6, dropped=4), BitField("flag", 15, 1))


def test_pack():
    assert pack(FIELDS, {"low": 5, "bytes": 32, "flag": 1}, "word") == 5 | 2 << 4 | 1 << 15
    assert pack(FIELDS, {}, "word") == 0


@settings(deadline=None)
@given(st.integers(0, 7), st.integers(0, 63), st.integers(0, 1))
def test_round_trip(low, units, flag):
    values = {"low": low, "bytes": 16 * units, "flag": flag}
    assert unpack(FIELDS, pack(FIELDS, values, "word"), 16, "word") == values


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"low": 8}, "word: low 8 is not in 0..7"),
        ({"low": -1}, "word: low -1 is not in 0..7"),
        ({"bytes": 1024}, "word: bytes 1024 is not in 0..1023"),
        ({"bytes": 24}, "word: bytes 24 is no multiple of 16"),
        ({"bytes": 32.0}, r"word: bytes is 32\.0, not an integer"),
        ({"low": "1"}, "word: low is '1', not an integer"),
    ],
)
def test_values_that_do_not_fit(values, words):
    with pytest.raises(TargetError, match=words):
        pack(FIELDS, values, "word")


def test_words_that_are_none():
    with pytest.raises(TargetError, match="word: 0x10000 is no 16-bit word"):
        unpack(FIELDS, 1 << 16, 16, "word")
    with pytest.raises(TargetError, match="word: reserved bit 3 of 0x8 is set"):
        unpack(FIELDS, 8, 16, "word")


def test_names_and_codes():
    codes = {"a": 0, "b": 2}
    assert named(codes, 2, "letter") == "b"
    assert code_of(codes, "b", "letter") == 2
    with pytest.raises(TargetError, match="letter 1 is reserved; known: 0 a, 2 b"):
        named(codes, 1, "letter")
    with pytest.raises(TargetError, match="letter 'c' is unknown; known: a, b"):
        code_of(codes, "c", "letter")
