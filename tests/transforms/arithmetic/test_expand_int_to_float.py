"""`expand-int-to-float`: small integers become the floats that a conversion makes of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context

from tests.support.emulating import emulate
from tests.support.thread_kernels import THREADS, elementwise, parse
from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.transforms.arithmetic.expand_int_to_float import ExpandIntToFloat

COUNT = 8

AWQ = (0, 16, 4, 20, 8, 24, 12, 28)
"""Shifts of the eight nibbles of a word: pairs are apart by 16 bits."""

IN_ORDER = tuple(range(0, 32, 4))

ACROSS_BYTES = (0, 3, 5, 7, 11, 14, 21, 26)
"""Shifts of six bits each."""

Ints = NDArray[np.int64]


def _convert(value: str, source: str, element: str, kind: str = "sitofp") -> str:
    fragment, floats = f"vector<{COUNT}x{source}>", f"vector<{COUNT}x{element}>"
    return f"""%r = cute.fragment.map {value} : {fragment} -> {floats} {{
    ^bb0(%a: {source}):
      %f = arith.{kind} %a : {source} to {element}
      cute.fragment.yield %f : {element}
    }}"""


def _constants(**numbers: object) -> str:
    return "\n".join(
        f"%{name} = arith.constant dense<{list(v) if isinstance(v, tuple) else v}> "
        f": vector<{COUNT}xi32>"
        for name, v in numbers.items()
    )


def _nibbles(shifts: tuple[int, ...], shift: str, mask: int = 15) -> str:
    """Bits of the first word of `%x0`, as many as its elements."""
    return f"""{_constants(c=shifts, m=mask)}
    %w = vector.extract %x0[0] : i32 from vector<{COUNT}xi32>
    %ws = vector.broadcast %w : i32 to vector<{COUNT}xi32>
    %s = arith.{shift} %ws, %c : vector<{COUNT}xi32>
    %q = arith.andi %s, %m : vector<{COUNT}xi32>"""


def _found(body: str, inputs: list[NDArray[np.generic]], element: str, rewrites: bool) -> Ints:
    """What the PTX gives for each thread, as integers."""
    names = [f"i{array.dtype.itemsize * 8}" for array in inputs]
    module = parse(elementwise(names, element, body, COUNT))
    ExpandIntToFloat().apply(Context(), module)
    module.verify()
    assert ("fragment.map" not in str(module)) == rewrites
    ConvertCuteNvgpuToPtx(arch="sm_90a").apply(Context(), module)
    text = ptx_text(module, "sm_90a")
    assert not rewrites or "cvt.rn" not in text
    out = np.zeros((THREADS, COUNT), np.float16 if element == "f16" else ml_dtypes.bfloat16)
    found = emulate(text, [*inputs, out])[-1]
    assert not np.signbit(found[found == 0].astype(np.float32)).any()
    return found.astype(np.int64)


def _words(seed: int) -> NDArray[np.int32]:
    rng = np.random.default_rng(seed)
    return rng.integers(-(1 << 31), 1 << 31, (THREADS, COUNT), np.int32)


def _bits(words: NDArray[np.int32], shifts: tuple[int, ...], bits: int) -> Ints:
    first = words[:, :1].astype(np.int64)
    return first >> np.array(shifts) & (1 << bits) - 1


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("shift", ["shrsi", "shrui"])
@pytest.mark.parametrize(
    ("shifts", "bits"), [(AWQ, 4), (IN_ORDER, 4), (ACROSS_BYTES, 6)], ids=["awq", "order", "six"]
)
def test_parts_of_words(shifts: tuple[int, ...], bits: int, shift: str, element: str) -> None:
    words = _words(1)
    body = _nibbles(shifts, shift, (1 << bits) - 1) + "\n" + _convert("%q", "i32", element)
    assert np.array_equal(_found(body, [words], element, True), _bits(words, shifts, bits))


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_less_a_constant(element: str) -> None:
    words = _words(2)
    body = f"""{_nibbles(IN_ORDER, "shrui")}
    {_constants(eight=8)}
    %d = arith.subi %q, %eight : vector<{COUNT}xi32>
    {_convert("%d", "i32", element)}"""
    assert np.array_equal(_found(body, [words], element, True), _bits(words, IN_ORDER, 4) - 8)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_less_another_one(element: str) -> None:
    """Of zeros of a quantisation: the other one is the low bits of another word for each."""
    words, zeros = _words(3), _words(4)
    body = f"""{_nibbles(AWQ, "shrsi")}
    %z = arith.andi %x1, %m : vector<{COUNT}xi32>
    %d = arith.subi %q, %z : vector<{COUNT}xi32>
    {_convert("%d", "i32", element)}"""
    want = _bits(words, AWQ, 4) - (zeros.astype(np.int64) & 15)
    assert np.array_equal(_found(body, [words, zeros], element, True), want)


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("half", ["low", "high"])
def test_halves_of_bytes_with_signs(half: str, element: str) -> None:
    rng = np.random.default_rng(5)
    bytes_ = rng.integers(-128, 128, (THREADS, COUNT), np.int8)
    up = f"%u = arith.shli %x0, %c : vector<{COUNT}xi8>" if half == "low" else ""
    body = f"""%c = arith.constant dense<4> : vector<{COUNT}xi8>
    {up}
    %q = arith.shrsi {"%u" if up else "%x0"}, %c : vector<{COUNT}xi8>
    {_convert("%q", "i8", element)}"""
    want = (bytes_ << np.int8(4) if up else bytes_) >> np.int8(4)
    assert np.array_equal(_found(body, [bytes_], element, True), want)


@pytest.mark.parametrize(
    ("mask", "element"), [(1023, "f16"), (2047, "f16"), (127, "bf16"), (255, "bf16")]
)
def test_as_many_bits_as_a_significand_stores(mask: int, element: str) -> None:
    """More of them are converted as before."""
    words = _words(6)
    body = f"""{_constants(m=mask)}
    %q = arith.andi %x0, %m : vector<{COUNT}xi32>
    {_convert("%q", "i32", element)}"""
    found = _found(body, [words], element, mask in (1023, 127))
    assert np.array_equal(found, (words & mask).astype(np.int64))


def test_words_of_unknown_size_and_bytes_stay() -> None:
    """Four bytes of a register are converted at once by their lowering."""
    rng = np.random.default_rng(7)
    words = rng.integers(-100, 100, (THREADS, COUNT), np.int32)
    assert np.array_equal(_found(_convert("%x0", "i32", "f16"), [words], "f16", False), words)
    module = parse(elementwise(["i8"], "f16", _convert("%x0", "i8", "f16"), COUNT))
    ExpandIntToFloat().apply(Context(), module)
    assert "fragment.map" in str(module)


def test_an_unsigned_conversion_reads_no_sign() -> None:
    """The highest bit of a byte whose sign a shift repeats is 128, not -128."""
    module = parse(
        elementwise(
            ["i8"],
            "f16",
            f"""%c = arith.constant dense<4> : vector<{COUNT}xi8>
            %q = arith.shrsi %x0, %c : vector<{COUNT}xi8>
            {_convert("%q", "i8", "f16", "uitofp")}""",
            COUNT,
        )
    )
    ExpandIntToFloat().apply(Context(), module)
    assert "uitofp" in str(module)
