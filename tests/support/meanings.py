"""Operations on one fragment per thread, with what numpy says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "index": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


@dataclass(frozen=True)
class Meaning:
    """`body` computes `%r` from `%x0`, `%x1` ...; `expected` does the same with numpy."""

    name: str
    inputs: tuple[str, ...]
    output: str
    body: str
    expected: Callable[..., Array]
    count: int = 4
    out_count: int | None = None
    tolerance: float = 0.0
    """Relative error that an approximation may have."""
    positive: bool = False
    """Whether the first input must be positive."""
    nonzero: bool = False
    """Whether the last input must not be zero."""
    shift: bool = False
    """Whether the last input is a number of bits."""


def _vector(element: str, count: int) -> str:
    return element if count == 1 else f"vector<{count}x{element}>"


def _binary(
    op: str, element: str, expected: Callable[..., Array], count: int = 4, **flags: Any
) -> Meaning:
    type_ = _vector(element, count)
    body = f"%r = arith.{op} %x0, %x1 : {type_}"
    name = f"{op.replace(' ', '_')}-{type_}"
    return Meaning(name, (element, element), element, body, expected, count, **flags)


def _wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """Floats computed in f32 and rounded."""

    def computed(*operands: Array) -> Array:
        wide = [x if x.dtype == np.float64 else x.astype(np.float32) for x in operands]
        return function(*wide).astype(operands[0].dtype)

    return computed


def _unsigned(function: Callable[..., Array]) -> Callable[..., Array]:
    def computed(*operands: Array) -> Array:
        views = [x.view(f"u{x.dtype.itemsize}") for x in operands]
        return function(*views).astype(views[0].dtype).view(operands[0].dtype)

    return computed


def _towards_zero(x: Array, y: Array) -> Array:
    wide = [v.astype(object) for v in (x, y)]
    quotient = abs(wide[0]) // abs(wide[1]) * np.sign(wide[0]) * np.sign(wide[1])
    return _wrapped(quotient, x.dtype)


def _wrapped(values: Array, dtype: Any) -> Array:
    bits = 8 * dtype.itemsize
    return np.array([int(v) % 2**bits for v in values.ravel()], f"u{dtype.itemsize}").view(dtype)


def _remainder(x: Array, y: Array) -> Array:
    wide = [v.astype(object) for v in (x, y)]
    return _wrapped(np.sign(wide[0]) * (abs(wide[0]) % abs(wide[1])), x.dtype)


def _floor(x: Array, y: Array) -> Array:
    return _wrapped(x.astype(object) // y.astype(object), x.dtype)


def _ceil(x: Array, y: Array) -> Array:
    return _wrapped(-(-x.astype(object) // y.astype(object)), x.dtype)


def _ordered_zeros(function: Callable[..., Array], combine: Callable[..., Array]) -> Any:
    """A minimum or maximum for which -0 is below +0, as PTX has it and numpy leaves open."""

    def computed(x: Array, y: Array) -> Array:
        sign = np.where(combine(np.signbit(x), np.signbit(y)), -0.0, 0.0).astype(x.dtype)
        return np.where((x == 0) & (y == 0), sign, function(x, y))

    return computed


_EXTREMES = {
    "maximumf": _ordered_zeros(np.maximum, np.logical_and),
    "minimumf": _ordered_zeros(np.minimum, np.logical_or),
    "maxnumf": _ordered_zeros(np.fmax, np.logical_and),
    "minnumf": _ordered_zeros(np.fmin, np.logical_or),
}

INTEGERS = [
    _binary(op, element, function, count)
    for op, function in {
        "addi": np.add,
        "subi": np.subtract,
        "muli": np.multiply,
        "andi": np.bitwise_and,
        "ori": np.bitwise_or,
        "xori": np.bitwise_xor,
        "minsi": np.minimum,
        "maxsi": np.maximum,
        "minui": _unsigned(np.minimum),
        "maxui": _unsigned(np.maximum),
    }.items()
    for element, count in (("i32", 4), ("i64", 1), ("i16", 1))
]

DIVISIONS = [
    _binary(op, element, function, 1, nonzero=True)
    for op, function in {
        "divui": _unsigned(np.floor_divide),
        "remui": _unsigned(np.remainder),
        "divsi": _towards_zero,
        "remsi": _remainder,
        "floordivsi": _floor,
        "ceildivsi": _ceil,
        "ceildivui": _unsigned(lambda x, y: -(-x.astype(object) // y.astype(object))),
    }.items()
    for element in ("i32", "i64")
]

CONSTANT_DIVISORS = (1, 2, 3, 5, 7, 10, 64, 641, 1000003, -1, -8, -7, 2**31 - 1)


def _constant_division(
    op: str, function: Callable[..., Array], divisor: int, element: str
) -> Meaning:
    body = f"%d = arith.constant {divisor} : {element}\n%r = arith.{op} %x0, %d : {element}"

    def expected(x: Array) -> Array:
        return function(x, np.full_like(x, divisor))

    return Meaning(f"{op}-by-{divisor}-{element}", (element,), element, body, expected, 1)


DIVISIONS_BY_CONSTANTS = [
    _constant_division(op, function, divisor, element)
    for op, function in {
        "divui": _unsigned(np.floor_divide),
        "remui": _unsigned(np.remainder),
        "divsi": _towards_zero,
        "remsi": _remainder,
        "floordivsi": _floor,
        "ceildivsi": _ceil,
    }.items()
    for element in ("i32", "i64")
    for divisor in CONSTANT_DIVISORS
]

SHIFTS = [
    _binary(op, element, function, 1, shift=True)
    for op, function in {
        "shli": np.left_shift,
        "shrsi": np.right_shift,
        "shrui": _unsigned(np.right_shift),
    }.items()
    for element in ("i32", "i64")
]

FLOATS = [
    _binary(op, element, _wide(function), count)
    for op, function in {
        "addf": np.add,
        "subf": np.subtract,
        "mulf": np.multiply,
        "divf": np.divide,
        **_EXTREMES,
    }.items()
    for element, count in (("f32", 4), ("f16", 8), ("bf16", 8), ("f16", 1), ("bf16", 1))
] + [
    _binary("addf", "f64", np.add, 2),
    _binary("maxnumf", "f64", _EXTREMES["maxnumf"], 2),
    _binary("divf", "f64", np.divide, 1),
]

PREDICATES: dict[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": _unsigned(np.less),
    "uge": _unsigned(np.greater_equal),
}


def _comparison(predicate: str, element: str) -> Meaning:
    compare = PREDICATES[predicate]
    body = f"%c = arith.cmpi {predicate}, %x0, %x1 : {element}\n%r = arith.extui %c : i1 to i32"

    def expected(x: Array, y: Array) -> Array:
        return compare(x, y).astype(np.int32)

    return Meaning(f"cmpi-{predicate}-{element}", (element, element), "i32", body, expected, 1)


FLOAT_PREDICATES: dict[str, Callable[..., Array]] = {
    "oeq": np.equal,
    "one": lambda x, y: (x < y) | (x > y),
    "ogt": np.greater,
    "ole": np.less_equal,
    "ueq": lambda x, y: ~((x < y) | (x > y)),
    "ult": lambda x, y: ~(x >= y),
    "une": np.not_equal,
    "ord": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "uno": lambda x, y: np.isnan(x) | np.isnan(y),
    "true": lambda x, y: np.ones_like(x, bool),
    "false": lambda x, y: np.zeros_like(x, bool),
}


def _float_comparison(predicate: str, element: str) -> Meaning:
    compare = FLOAT_PREDICATES[predicate]
    body = f"%c = arith.cmpf {predicate}, %x0, %x1 : {element}\n%r = arith.extsi %c : i1 to i32"

    def expected(x: Array, y: Array) -> Array:
        wide = (v.astype(np.float32) for v in (x, y))
        return -compare(*wide).astype(np.int32)

    return Meaning(f"cmpf-{predicate}-{element}", (element, element), "i32", body, expected, 1)


COMPARISONS = [_comparison(p, e) for p in PREDICATES for e in ("i32", "i64")] + [
    _float_comparison(p, e) for p in FLOAT_PREDICATES for e in ("f32", "bf16")
]

FUNCTIONS = [
    Meaning(
        f"{op}-{_vector(element, count)}",
        (element,),
        element,
        f"%r = math.{op} %x0 : {_vector(element, count)}",
        _wide(function),
        count,
        tolerance=tolerance if element == "f32" else 2**-7,
        positive=positive,
    )
    for op, function, tolerance, positive in (
        ("exp2", np.exp2, 2e-6, False),
        ("exp", np.exp, 2e-6, False),
        ("log2", np.log2, 2e-6, True),
        ("log", np.log, 2e-6, True),
        ("sqrt", np.sqrt, 0.0, True),
        ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-6, True),
        ("tanh", np.tanh, 2**-10, False),
        ("absf", np.abs, 0.0, False),
        ("floor", np.floor, 0.0, False),
        ("ceil", np.ceil, 0.0, False),
        ("roundeven", np.round, 0.0, False),
    )
    for element, count in (("f32", 4), ("f16", 4), ("bf16", 2))
]


def _conversion(op: str, source: str, target: str, count: int, expected: Any = None) -> Meaning:
    source_type, target_type = _vector(source, count), _vector(target, count)
    body = f"%r = arith.{op} %x0 : {source_type} to {target_type}"

    def computed(x: Array) -> Array:
        wide = x.astype(np.float32) if "f8" in source + target else x
        return wide.astype(DTYPES[target])

    return Meaning(
        f"{op}-{source_type}-{target_type}", (source,), target, body, expected or computed, count
    )


def _saturated(target: str) -> Callable[[Array], Array]:
    dtype = DTYPES[target]
    largest = float(ml_dtypes.finfo(dtype).max)

    def computed(x: Array) -> Array:
        return np.clip(x.astype(np.float32), -largest, largest).astype(dtype)

    return computed


def _saturated_integers(x: Array) -> Array:
    """What PTX gives where the IR leaves the result open: the nearest integer, 0 for NaN."""
    wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=2.0**40, neginf=-(2.0**40))
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def _saturated_unsigned(x: Array) -> Array:
    wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=2.0**40, neginf=-1.0)
    return np.clip(wide, 0, 2**32 - 1).astype(np.uint32).view(np.int32)


CONVERSIONS = [
    *(
        _conversion("truncf", "f32", target, count)
        for target in ("f16", "bf16")
        for count in (1, 2, 8)
    ),
    *(
        _conversion("truncf", source, target, count, _saturated(target))
        for source in ("f32", "f16", "bf16")
        for target in ("f8E4M3FN", "f8E5M2")
        for count in (1, 2, 4, 16)
    ),
    *(
        _conversion("extf", source, "f32", count)
        for source in ("f16", "bf16", "f8E4M3FN", "f8E5M2")
        for count in (1, 2, 8)
    ),
    _conversion("extf", "f8E4M3FN", "f16", 4),
    _conversion("extf", "f32", "f64", 2),
    _conversion("truncf", "f64", "f32", 2),
    _conversion("sitofp", "i32", "f32", 1),
    _conversion("sitofp", "i64", "f32", 1),
    _conversion("sitofp", "i32", "f16", 1, lambda x: x.astype(np.float64).astype(np.float16)),
    _conversion("uitofp", "i32", "f32", 1, lambda x: x.view(np.uint32).astype(np.float32)),
    _conversion("extsi", "i32", "i64", 1),
    _conversion("extui", "i32", "i64", 1, lambda x: x.view(np.uint32).astype(np.int64)),
    _conversion("extsi", "i16", "i32", 1),
    _conversion("extsi", "i8", "i32", 1),
    _conversion("extui", "i8", "i32", 1, lambda x: x.view(np.uint8).astype(np.int32)),
    _conversion("trunci", "i64", "i32", 1),
    _conversion("trunci", "i32", "i16", 1),
    _conversion("trunci", "i32", "i8", 1),
    _conversion("fptosi", "f32", "i32", 1, _saturated_integers),
    _conversion("fptosi", "bf16", "i32", 1, _saturated_integers),
    _conversion(
        "fptosi", "f32", "i8", 1, lambda x: np.clip(np.nan_to_num(x), -128, 127).astype("i1")
    ),
    _conversion("fptoui", "f16", "i32", 1, _saturated_unsigned),
    _conversion("uitofp", "i8", "f32", 1, lambda x: x.view(np.uint8).astype(np.float32)),
    _conversion("bitcast", "f32", "i32", 4, lambda x: x.view(np.int32)),
    _conversion("bitcast", "i16", "bf16", 1, lambda x: x.view(ml_dtypes.bfloat16)),
    _conversion("bitcast", "i64", "f64", 1, lambda x: x.view(np.float64)),
]

MIXED: Sequence[Meaning] = (
    Meaning(
        "index",
        ("i64", "i64"),
        "i64",
        "%a = arith.index_cast %x0 : i64 to index\n%b = arith.index_cast %x1 : i64 to index\n"
        "%s = arith.addi %a, %b : index\n%r = arith.index_cast %s : index to i64",
        lambda x, y: (x + y).astype(np.int32).astype(np.int64),
        1,
    ),
    Meaning("negf", ("f32",), "f32", "%r = arith.negf %x0 : vector<4xf32>", np.negative),
    Meaning("negf-packed", ("bf16",), "bf16", "%r = arith.negf %x0 : vector<4xbf16>", np.negative),
    Meaning(
        "fma",
        ("f32", "f32", "f32"),
        "f32",
        "%r = math.fma %x0, %x1, %x2 : vector<4xf32>",
        lambda a, b, c: (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f4"),
    ),
    Meaning(
        "vector-fma",
        ("f16", "f16", "f16"),
        "f16",
        "%r = vector.fma %x0, %x1, %x2 : vector<4xf16>",
        lambda a, b, c: (a.astype("f8") * b.astype("f8") + c.astype("f8")).astype("f2"),
    ),
    Meaning(
        "select",
        ("i32", "i32"),
        "i32",
        "%c = arith.cmpi slt, %x0, %x1 : i32\n%r = arith.select %c, %x0, %x1 : i32",
        np.minimum,
        1,
    ),
    *(
        Meaning(
            f"select-elements-of-{element}",
            (element, element),
            element,
            "\n".join(
                f"%a{i} = vector.extract %x0[{i}] : {element} from vector<4x{element}>\n"
                f"%b{i} = vector.extract %x1[{i}] : {element} from vector<4x{element}>\n"
                f"%c{i} = arith.cmpf olt, %a{i}, %b{i} : {element}"
                for i in range(4)
            )
            + "\n%m = cute.fragment.make %c0, %c1, %c2, %c3 : i1, i1, i1, i1 -> vector<4xi1>\n"
            f"%r = cute.fragment.select %m, %x0, %x1 : vector<4xi1>, vector<4x{element}>, "
            f"vector<4x{element}> -> vector<4x{element}>",
            lambda x, y: np.where(x < y, x, y),
        )
        for element in ("f32", "bf16")
    ),
    Meaning(
        "select-bits",
        ("i32", "i32"),
        "i32",
        "%z = arith.constant 0 : i32\n%a = arith.cmpi slt, %x0, %z : i32\n"
        "%b = arith.cmpi slt, %x1, %z : i32\n%d = arith.cmpi slt, %x0, %x1 : i32\n"
        "%s = arith.select %d, %a, %b : i1\n%r = arith.extui %s : i1 to i32",
        lambda x, y: np.where(x < y, x < 0, y < 0).astype(np.int32),
        1,
    ),
    Meaning(
        "bits",
        ("i32", "i32"),
        "i32",
        "%z = arith.constant 0 : i32\n%a = arith.cmpi slt, %x0, %z : i32\n"
        "%b = arith.cmpi slt, %x1, %z : i32\n%e = arith.cmpi eq, %a, %b : i1\n"
        "%s = arith.addi %e, %a : i1\n%m = arith.maxsi %s, %b : i1\n"
        "%r = arith.extui %m : i1 to i32",
        lambda x, y: ((((x < 0) == (y < 0)) ^ (x < 0)) & (y < 0)).astype(np.int32),
        1,
    ),
    Meaning(
        "low-bit",
        ("i32",),
        "i32",
        "%b = arith.trunci %x0 : i32 to i1\n%r = arith.extui %b : i1 to i32",
        lambda x: x & 1,
        1,
    ),
    Meaning(
        "constants",
        ("f32",),
        "f32",
        "%c = arith.constant dense<[1.0, -2.5, 0.0, 3.25]> : vector<4xf32>\n"
        "%z = arith.constant dense<-0.0> : vector<4xf32>\n"
        "%s = arith.addf %x0, %c : vector<4xf32>\n%r = arith.addf %s, %z : vector<4xf32>",
        lambda x: x + np.tile(np.float32([1, -2.5, 0, 3.25]), len(x) // 4),
    ),
    Meaning(
        "packed-constants",
        ("bf16",),
        "bf16",
        "%c = arith.constant dense<[1.0, -2.5, 0.0, 3.25]> : vector<4xbf16>\n"
        "%r = arith.mulf %x0, %c : vector<4xbf16>",
        lambda x: (x.astype("f4") * np.tile(np.float32([1, -2.5, 0, 3.25]), len(x) // 4)).astype(
            x.dtype
        ),
    ),
    Meaning(
        "swapped-elements",
        ("f16",),
        "f16",
        "%a = vector.extract %x0[0] : f16 from vector<4xf16>\n"
        "%b = vector.extract %x0[3] : f16 from vector<4xf16>\n"
        "%s = vector.insert %b, %x0[0] : f16 into vector<4xf16>\n"
        "%r = vector.insert %a, %s[3] : f16 into vector<4xf16>",
        lambda x: x.reshape(-1, 4)[:, [3, 1, 2, 0]].ravel(),
    ),
    Meaning(
        "inserted-registers",
        ("f32",),
        "f32",
        "%a = vector.extract %x0[1] : f32 from vector<4xf32>\n"
        "%r = vector.insert %a, %x0[2] : f32 into vector<4xf32>",
        lambda x: x.reshape(-1, 4)[:, [0, 1, 1, 3]].ravel(),
    ),
    Meaning(
        "shuffled-elements",
        ("bf16", "bf16"),
        "bf16",
        "%r = vector.shuffle %x0, %x1 [0, 4, 1, 5] : vector<4xbf16>, vector<4xbf16>",
        lambda x, y: np.stack([x.reshape(-1, 4), y.reshape(-1, 4)], 2)[:, :2].ravel(),
    ),
    Meaning(
        "broadcast",
        ("f16",),
        "f16",
        "%r = vector.broadcast %x0 : f16 to vector<4xf16>",
        lambda x: np.repeat(x, 4),
        1,
        4,
    ),
    Meaning(
        "broadcast-bytes",
        ("i8",),
        "i8",
        "%r = vector.broadcast %x0 : i8 to vector<8xi8>",
        lambda x: np.repeat(x, 8),
        1,
        8,
    ),
    Meaning(
        "slices-joined",
        ("f32",),
        "f32",
        "%a = cute.fragment.slice %x0[2] : vector<4xf32> -> vector<2xf32>\n"
        "%b = cute.fragment.slice %x0[0] : vector<4xf32> -> vector<2xf32>\n"
        "%r = cute.fragment.make %a, %b : vector<2xf32>, vector<2xf32> -> vector<4xf32>",
        lambda x: x.reshape(-1, 4)[:, [2, 3, 0, 1]].ravel(),
    ),
    Meaning(
        "slices-across-registers",
        ("f16",),
        "f16",
        "%a = cute.fragment.slice %x0[1] : vector<4xf16> -> vector<2xf16>\n"
        "%b = cute.fragment.slice %x0[3] : vector<4xf16> -> vector<1xf16>\n"
        "%c = vector.extract %x0[0] : f16 from vector<4xf16>\n"
        "%r = cute.fragment.make %c, %b, %a : f16, vector<1xf16>, vector<2xf16> -> vector<4xf16>",
        lambda x: x.reshape(-1, 4)[:, [0, 3, 1, 2]].ravel(),
    ),
    Meaning(
        "bits-of-fragments",
        ("bf16",),
        "i32",
        "%r = vector.bitcast %x0 : vector<4xbf16> to vector<2xi32>",
        lambda x: x.view(np.int32),
        4,
        2,
    ),
)

ALL = (
    *INTEGERS,
    *DIVISIONS,
    *DIVISIONS_BY_CONSTANTS,
    *SHIFTS,
    *FLOATS,
    *COMPARISONS,
    *FUNCTIONS,
    *CONVERSIONS,
    *MIXED,
)
