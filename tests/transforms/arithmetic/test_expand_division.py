"""`expand-division`: quotients of fragments have the bits of a division, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, Block, SSAValue

from kernels.cutile.softmax import softmax
from tests.support.emulating import emulate
from tests.support.thread_kernels import THREADS, elementwise, parse
from tileas_xdsl.analysis.values.float_intervals import FloatRange
from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.compiler import compile
from tileas_xdsl.dialects.cute import YieldFragmentOp
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import VectorizedBody
from tileas_xdsl.transforms.arithmetic.expand_division import ExpandDivision
from tileas_xdsl.transforms.arithmetic.fma_quotients import Operands, Quotient
from tileas_xdsl.transforms.math_functions.expression_builder import Scope

Floats = NDArray[np.float32]

SIGNATURE = "x: {0}, y: {0}, rows=1, columns=4096"
COUNT = 32
SIZE = THREADS * COUNT


def _rounded(a: Floats, b: Floats, *kinds: Attribute) -> Floats:
    """The sequence of `Operands.rounded`, interpreted."""
    block = Block(arg_types=[f32, f32])
    scope = Scope(block.add_op)
    dividend, divisor = (scope.take(argument) for argument in block.args)
    op = arith.DivfOp(dividend.ssa, divisor.ssa)
    quotient = Quotient(op, FloatRange(), FloatRange(), *kinds)
    block.add_op(YieldFragmentOp([Operands(quotient, dividend, divisor).rounded().ssa]))
    op.erase()
    return VectorizedBody(block, _no_outside)(a, b)


def _no_outside(value: SSAValue) -> None:
    raise AssertionError(f"{value} is not of the body")


def _with_exponents(rng: np.random.Generator, size: int, low: int, high: int) -> Floats:
    significands = rng.integers(0, 1 << 23, size, np.uint32)
    edges = rng.choice(np.array([0, 1, 2, 0x7FFFFF, 0x7FFFFE, 0x400000], np.uint32), size)
    significands = np.where(rng.random(size) < 0.1, edges, significands)
    exponents = rng.integers(low + 127, high + 128, size).astype(np.uint32) << np.uint32(23)
    return (significands | exponents).view(np.float32)


def test_three_operations_round_as_a_division() -> None:
    rng = np.random.default_rng(5)
    a = _with_exponents(rng, 1_000_000, -64, 59)
    b = _with_exponents(rng, 1_000_000, -60, 59)
    a[::2] *= -1
    a[:10] = 0.0
    a[:5] = -0.0
    assert np.array_equal(_rounded(a, b).view(np.uint32), (a / b).view(np.uint32))


def _pairs(step: int) -> Iterator[tuple[Floats, Floats]]:
    """Dividends of 11 bits, and all divisors whose quotients are within 3 ulp of a middle.

    Middles of floats of 11 bits have 12 bits: `middle = dividend 2^k / divisor`.
    """
    dividends = np.arange(1 << 10, 1 << 11, dtype=np.int64)
    for middle in range(1 << 11, 1 << 12, step):
        near = np.floor(dividends / middle * (1 << 24)).astype(np.int64)
        near = np.where(near < 1 << 23, 2 * near, near)
        for apart in range(-3, 5):
            yield dividends.astype(np.float32), (near + apart).astype(np.float32)


def _bits_of_half(x: Floats) -> NDArray[np.uint32]:
    """The significand rounded to 11 bits, and the exponent: a half without a range."""
    bits = x.view(np.uint32)
    return (bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))) >> np.uint32(13)


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.slow)])
def test_short_quotients_need_no_rounded_inverse(step: int) -> None:
    """Of what is rounded to 11 bits; floats of 8 bits and small ones have some of the middles."""
    for a, b in _pairs(step):
        found = _rounded(a, b, f16, f16)
        assert np.array_equal(_bits_of_half(found), _bits_of_half(a / b))


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_a_row_of_softmax_has_one_exact_division(element: str) -> None:
    """ptxas makes of each a check (`FCHK`) and a call, f64 takes thrice as long."""
    matrix = f"{element}[?, ?%8]"
    text = compile(softmax, target="sm_90a", signature=SIGNATURE.format(matrix)).ptx
    assert sum(map(text.count, ("div.rn", "rcp.rn", "rcp.approx.ftz.f64"))) == 1
    assert text.count("rcp.approx.ftz.f32") + text.count("div.approx") <= 1
    assert text.count("max.f32") < 50


OPERANDS: dict[str, str] = {
    "fragments": "%r = arith.divf %x0, %x1 : vector<32x{t}>",
    "common": """
        %b = vector.extract %x1[0] : {t} from vector<32x{t}>
        %bs = vector.broadcast %b : {t} to vector<32x{t}>
        %r = arith.divf %x0, %bs : vector<32x{t}>""",
    "positive": """
        %m = math.absf %x1 : vector<32x{t}>
        %r = arith.divf %x0, %m : vector<32x{t}>""",
    "wide": """
        %w0 = arith.extf %x0 : vector<32x{t}> to vector<32xf32>
        %w1 = arith.extf %x1 : vector<32x{t}> to vector<32xf32>
        %p = arith.mulf %w1, %w1 : vector<32xf32>
        %s = arith.addf %p, %w1 : vector<32xf32>
        %q = arith.divf %w0, %s : vector<32xf32>
        %r = arith.truncf %q : vector<32xf32> to vector<32x{t}>""",
    "inverse": """
        %one = arith.constant dense<1.0> : vector<32x{t}>
        %r = arith.divf %one, %x1 : vector<32x{t}>""",
}


def _compiled(body: str, element: str) -> str:
    module = parse(elementwise([element, element], element, body.format(t=element), COUNT))
    ExpandDivision().apply(Context(), module)
    module.verify()
    assert "scf.if" in str(module)
    ConvertCuteNvgpuToPtx(arch="sm_90a").apply(Context(), module)
    return ptx_text(module, "sm_90a")


def _quotients(name: str, a: NDArray[np.generic], b: NDArray[np.generic]) -> NDArray[np.generic]:
    with np.errstate(all="ignore"):
        divisors = _divisors(name, b)
        dividends = np.ones_like(a) if name == "inverse" else a
        wide = dividends.astype(np.float32) / divisors.astype(np.float32)
        return wide.astype(a.dtype)


def _divisors(name: str, b: NDArray[np.generic]) -> NDArray[np.generic]:
    return {
        "fragments": lambda: b,
        "common": lambda: np.repeat(b[::COUNT], COUNT),
        "positive": lambda: np.abs(b),
        "wide": lambda: b.astype(np.float32) * b.astype(np.float32) + b.astype(np.float32),
        "inverse": lambda: b,
    }[name]()


def _any_bits(rng: np.random.Generator) -> Floats:
    return rng.integers(0, 1 << 32, SIZE, np.uint64).astype(np.uint32).view(np.float32)


def _moderate(rng: np.random.Generator) -> Floats:
    return rng.standard_normal(SIZE, np.float32)


def _with_zeros(rng: np.random.Generator) -> Floats:
    found = rng.standard_normal(SIZE, np.float32)
    return found * rng.choice(np.array([-1.0, 0.0, 1.0], np.float32), SIZE)


def _edges(rng: np.random.Generator) -> Floats:
    """In each thread numbers of one exponent: both ends of what the test lets pass."""
    exponents = [-149, -127, -126, -125, -103, -102, -65, -64, -61, -60, 0, 59, 60, 61, 126, 127]
    power = np.repeat(rng.choice(exponents, THREADS), COUNT)
    significands = rng.choice([1.0, 1 + 2.0**-23, 2 - 2.0**-23, 1.5, 1.7182818], SIZE)
    return np.ldexp(significands, power).astype(np.float32)


def _special(rng: np.random.Generator) -> Floats:
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 3.0, -2.5, 1e-45, -3e-39, 3.4e38]
    return rng.choice(np.array(numbers, np.float32), SIZE)


DATA: tuple[Callable[[np.random.Generator], Floats], ...] = (
    _any_bits, _moderate, _with_zeros, _edges, _special,
)  # fmt: skip


CASES = (
    *(("wide", element) for element in ("f16", "bf16")),
    *((name, element) for name in OPERANDS if name != "wide" for element in ("f32", "f16", "bf16")),
)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "element"), CASES)
def test_bits_are_those_of_a_division(name: str, element: str) -> None:
    dtype = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[element]
    text = _compiled(OPERANDS[name], element)
    rng = np.random.default_rng(len(name))
    for first, second in [(d, d) for d in DATA] + [(_edges, _moderate), (_with_zeros, _moderate)]:
        with np.errstate(all="ignore"):
            a, b = first(rng).astype(dtype), second(rng).astype(dtype)
        found = emulate(text, [a, b, np.zeros(SIZE, dtype)])[-1]
        expected = _quotients(name, a, b)
        number = ~np.isnan(expected.astype(np.float32))
        assert np.array_equal(np.isnan(found.astype(np.float32)), ~number)
        bits = f"u{np.dtype(dtype).itemsize}"
        assert np.array_equal(found.view(bits)[number], expected.view(bits)[number])


COARSE = {
    "f8E4M3FN": "%r = arith.truncf %q : vector<32xf32> to vector<32xf8E4M3FN>",
    "f8E5M2": "%r = arith.truncf %q : vector<32xf32> to vector<32xf8E5M2>",
    "f16": "%r = arith.truncf %q : vector<32xf32> to vector<32xf16>",
    "i32": "\n".join(
        (
            *(f"%e{i} = vector.extract %q[{i}] : f32 from vector<32xf32>" for i in range(COUNT)),
            *(f"%i{i} = arith.fptosi %e{i} : f32 to i32" for i in range(COUNT)),
            f"%r = cute.fragment.make {', '.join(f'%i{i}' for i in range(COUNT))} : "
            f"{', '.join(['i32'] * COUNT)} -> vector<32xi32>",
        )
    ),
    "to nearest": "%r = math.roundeven %q : vector<32xf32>",
    "half more": """
        %half = arith.constant dense<0.5> : vector<32xf32>
        %r = arith.addf %q, %half : vector<32xf32>""",
}
"""What rounds quotients below 2**-26 away, by the type of results, of f32 by what is done."""

DTYPES = {
    "f8E4M3FN": np.uint8, "f8E5M2": np.uint8, "f16": np.uint16, "i32": np.int32, "f32": np.uint32,
}  # fmt: skip


@pytest.mark.parametrize("name", COARSE)
def test_dividends_of_any_size_where_tiny_quotients_do_not_show(name: str) -> None:
    """Their magnitudes are not compared one by one; results are those of `div.rn`."""
    body = "%q = arith.divf %x0, %x1 : vector<32xf32>\n" + COARSE[name]
    target = name if name in DTYPES else "f32"
    texts: list[str] = []
    for expand in (False, True):
        module = parse(elementwise(["f32", "f32"], target, body, COUNT))
        if expand:
            ExpandDivision().apply(Context(), module)
            assert "arith.minui" not in str(module)
        ConvertCuteNvgpuToPtx(arch="sm_90a").apply(Context(), module)
        texts.append(ptx_text(module, "sm_90a"))
    rng = np.random.default_rng(len(target))
    for first, second in [(_edges, _edges), (_special, _special), (_any_bits, _moderate)]:
        with np.errstate(all="ignore"):
            a, b = first(rng), second(rng)
            number = ~np.isnan(a / b)
        expected, found = (
            emulate(text, [a, b, np.zeros(SIZE, DTYPES[target])])[-1] for text in texts
        )
        # A NaN has any bits.
        compared = number if target == "f32" else slice(None)
        assert np.array_equal(found[compared], expected[compared])


INVERSE_OF_FINITE = """
    %w = arith.extf %x0 : vector<32x{t}> to vector<32xf32>
    %m = math.absf %w : vector<32xf32>
    %p = arith.constant dense<{factor}> : vector<32xf32>
    %one = arith.constant dense<1.0> : vector<32xf32>
    %s = math.fma %p, %m, %one : vector<32xf32>
    %r = arith.divf %one, %s : vector<32xf32>"""


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_inverses_that_are_normal_or_zero_need_no_test(name: str) -> None:
    """Of all numbers of 16 bits, infinities and NaN as well."""
    element = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[name]
    body = INVERSE_OF_FINITE.format(t=name, factor=0.2316419)
    module = parse(elementwise([name], "f32", body, COUNT))
    ExpandDivision().apply(Context(), module)
    assert "scf.if" not in str(module)
    ConvertCuteNvgpuToPtx(arch="sm_90a").apply(Context(), module)
    text = ptx_text(module, "sm_90a")
    for x in np.arange(1 << 16, dtype=np.uint16).view(element).reshape(-1, SIZE):
        found = emulate(text, [x, np.zeros(SIZE, np.float32)])[-1]
        with np.errstate(invalid="ignore"):
            sums = np.float64(np.float32(0.2316419)) * np.abs(x).astype(np.float64) + 1
            expected = np.float32(1) / sums.astype(np.float32)
        number = ~np.isnan(expected)
        assert np.array_equal(np.isnan(found), ~number)
        assert np.array_equal(found[number].view(np.uint32), expected[number].view(np.uint32))


def test_inverses_of_what_may_be_large_have_a_test() -> None:
    module = parse(
        elementwise(["bf16"], "f32", INVERSE_OF_FINITE.format(t="bf16", factor=1.0), COUNT)
    )
    ExpandDivision().apply(Context(), module)
    assert "scf.if" in str(module)
