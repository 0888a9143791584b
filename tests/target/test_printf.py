"""Format strings: text as the C library gives it, and what no kernel prints."""

from __future__ import annotations

import ctypes
import random
import sys

import numpy as np
import pytest

from tileas_xdsl.target.printf import (
    Conversion,
    FormatError,
    format_text,
    formatted,
    parse_format,
)

FLAGS = ("", "-", "+", " ", "#", "0", "-0", "+0", "#0", "+ ", "-#+")
REALS = (0.0, -0.0, 1.0, 0.5, -2.25, 3.14159, 1e-300, 5e-324, 1.7e308, float("inf"), -1e10)
WHOLE = (0, 1, -1, 7, 255, -128, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 65535)


def c_text(text: str, value: float, *, is_float: bool) -> str:
    """What the C library of this machine prints."""
    room = ctypes.create_string_buffer(2048)
    argument = ctypes.c_double(value) if is_float else ctypes.c_longlong(int(value))
    ctypes.CDLL(None).snprintf(room, ctypes.c_size_t(2048), text.encode(), argument)
    return room.value.decode()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is compared with")
@pytest.mark.parametrize("kind", "diouxXeEfFgGaA")
def test_text_is_that_of_c(kind: str) -> None:
    rng = random.Random(kind)
    is_float = kind not in "diouxX"
    lengths = ("", "l") if is_float else ("", "hh", "h", "l", "ll")
    for _ in range(400):
        width, precision = (
            rng.choice(("", "1", "12", "25")),
            rng.choice(("", ".", ".0", ".1", ".9")),
        )
        text = f"%{rng.choice(FLAGS)}{width}{precision}{rng.choice(lengths)}{kind}"
        value = (
            rng.choice(REALS) * rng.choice((1.0, rng.random())) if is_float else rng.choice(WHOLE)
        )
        [part] = parse_format(text)
        assert isinstance(part, Conversion)
        assert part.shown(value) == c_text(text, value, is_float=is_float), (text, value)


def test_tiles_are_nested_lists() -> None:
    parts = parse_format("100%% of tile[%d]: %.1f!\n")
    tile = np.array([[0.25, 1], [-2, 3]], np.float32)
    assert formatted(parts, [7, tile]) == "100% of tile[7]: [[0.2, 1.0], [-2.0, 3.0]]!\n"
    assert format_text(parts) == "100%% of tile[%d]: %.1f!\n"


def test_nan_has_its_sign() -> None:
    [part] = parse_format("%5f")
    assert isinstance(part, Conversion)
    assert part.shown(float("nan")) == "  nan"


def test_whole_numbers_of_64_bits_are_shown_whole() -> None:
    [part] = parse_format("%+d")
    assert isinstance(part, Conversion)
    assert part.of_bits(64).text == "%+lld"
    assert part.of_bits(32) is part
    assert (part.bits, part.of_bits(64).bits) == (32, 64)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("%s", "prints by '%s'; formats are"),
        ("%*d", r"prints by '%\*d'"),
        ("100%", "prints by '%'"),
        ("%hf", "floats have no length but l"),
        ("%99999d", "prints by"),
        ("a\0b", "zero byte"),
    ],
)
def test_what_is_not_printed_is_refused(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        parse_format(text)
