"""Comparison and selection instructions.  Source: PTX ISA 9.7.6 and 9.7.7."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import (
    as_value,
    binary,
    elementwise,
    typed,
)
from tileas_xdsl.interpreters.ptx.numerics.float_formats import decode
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED, ScalarType
from tileas_xdsl.interpreters.ptx.parsing.syntax import Pair, Sink

Relation = Callable[[Any, Any], Any]

RELATIONS: Mapping[str, Relation] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}
"""Comparison operators; on floats they are ordered (false if either operand is NaN)."""

UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
"""Unordered float comparisons (true if either operand is NaN), by their ordered operator."""

COMBINE: Mapping[str, Callable[[Value, Value], Value]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}

INTEGERS = tuple(f"{k}{b}" for k in "bus" for b in (16, 32, 64))
FLOATS = ("f16", "bf16", "f32", "f64")
PACKED = ("f16x2", "bf16x2")


def float_relation(name: str) -> Relation:
    """Return the comparison of floats of this name."""
    if name == "num":
        return lambda a, b: ~np.isnan(a) & ~np.isnan(b)
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name in UNORDERED:
        plain = RELATIONS[UNORDERED[name]]
        return lambda a, b: plain(a, b) | np.isnan(a) | np.isnan(b)
    if name == "ne":
        return lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b)
    return RELATIONS[name]


SMALLEST_NORMAL: Mapping[str, float] = {
    "f32": 2.0**-126,
    "f16": 2.0**-14,
    "f64": 2.0**-1022,
}
"""The smallest normal number of each format that `.ftz` flushes."""


def flush(values: Array, name: str = "f32") -> Array:
    """Flush subnormal numbers to sign-preserving zero; other formats are unchanged."""
    if name not in SMALLEST_NORMAL:
        return values
    tiny = (np.abs(values) < np.float64(SMALLEST_NORMAL[name])) & (values != 0)
    return np.where(tiny, np.copysign(0.0, values), values)


def _integer_step(dest: int, a: int, b: int, type_: ScalarType, name: str) -> Step:
    relation = RELATIONS[name]
    if type_.signed and name not in ("eq", "ne"):
        bias = 1 << (type_.bits - 1)
        return binary(dest, a, b, lambda x, y: relation(x ^ bias, y ^ bias))
    return binary(dest, a, b, relation)


def _comparison(site: Site, dest: int, first: int, type_: ScalarType, name: str) -> Step:
    """Build a comparison of operand `first` with the next one into the predicate `dest`."""
    a, b = site.source(first, type_), site.source(first + 1, type_)
    ftz = site.flag("ftz")
    if type_.kind != "float":
        if name not in RELATIONS:
            site.fail(f".{name} does not compare .{type_.name}")
        return _integer_step(dest, a, b, type_, name)
    relation = float_relation(name)
    unsigned = UNSIGNED[type_.bits]

    def function(x: Array, y: Array) -> Array:
        u, v = decode(x, type_.name), decode(y, type_.name)
        if ftz:
            u, v = flush(u, type_.name), flush(v, type_.name)
        return relation(u, v)

    return elementwise(dest, [(a, unsigned), (b, unsigned)], TYPES["pred"], function)


def build_setp(site: Site) -> Step:
    """`setp`: a predicate and optionally its complement, combined with a third predicate."""
    type_ = site.type((*INTEGERS, *FLOATS, *PACKED))
    name = site.choose((*RELATIONS, *UNORDERED, "num", "nan"))
    combine = site.choose(COMBINE, "")
    if type_.name in PACKED:
        return _packed_setp(site, type_, name, combine)
    site.count(4 if combine else 3)
    target = site.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    pred = TYPES["pred"]
    dest = site.destination(first, pred)
    compare = _comparison(site, dest, 1, type_, name)
    site.no_more()
    if not combine and second is None:
        return compare
    other = None if second is None or isinstance(second, Sink) else site.destination(second, pred)
    return _combined(site, compare, dest, other, combine)


def _combined(site: Site, compare: Step, dest: int, other: int | None, combine: str) -> Step:
    slot, inverted = site.predicate(3) if combine else (dest, False)
    join = COMBINE[combine] if combine else None

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        third = r[slot] ^ inverted if join is not None else None
        compare(f)
        found = r[dest]
        opposite = ~found if found.__class__ is np.ndarray else not found
        if join is not None:
            found, opposite = join(found, third), join(opposite, third)
        r[dest] = found
        if other is not None:
            r[other] = opposite

    return step


def _packed_setp(site: Site, type_: ScalarType, name: str, combine: str) -> Step:
    """Build `setp` of a packed type: one predicate for each half."""
    target = site.operands[0]
    if not isinstance(target, Pair):
        site.fail("two predicates p|q are expected")
    pred = TYPES["pred"]
    dests = (site.destination(target.first, pred), site.destination(target.second, pred))
    halves = _comparison_of_halves(site, type_, name, combine)

    def step(f: ConvergenceGroup) -> None:
        for dest, found in zip(dests, halves(f), strict=True):
            f.r[dest] = found

    return step


def _comparison_of_halves(
    site: Site, type_: ScalarType, name: str, combine: str
) -> Callable[[ConvergenceGroup], Sequence[Value]]:
    """Return what compares both halves of operands 1 and 2, combined with the predicate 3."""
    ftz = site.flag("ftz")
    site.no_more()
    a, b = site.source(1, type_), site.source(2, type_)
    third, inverted = site.predicate(3) if combine else (a, False)
    relation, element = float_relation(name), type_.name[:-2]
    word = UNSIGNED[32]

    def halves(f: ConvergenceGroup) -> Sequence[Value]:
        r = f.r
        x, y = typed(r[a], word, word), typed(r[b], word, word)
        results: list[Value] = []
        for shift in (np.uint32(0), np.uint32(16)):
            u = decode((x >> shift & np.uint32(0xFFFF)).astype(np.uint16), element)
            v = decode((y >> shift & np.uint32(0xFFFF)).astype(np.uint16), element)
            if ftz:
                u, v = flush(u, element), flush(v, element)
            found = as_value(np.asarray(relation(u, v)), UNSIGNED[1])
            results.append(COMBINE[combine](found, r[third] ^ inverted) if combine else found)
        return results

    return halves


ONES = {"f32": 0x3F80_0000, "f16": 0x3C00, "bf16": 0x3F80}
"""1.0, which `set` gives where the result is a float."""


def _packed_set(site: Site, type_: ScalarType, result: ScalarType, name: str) -> Step:
    """Build `set` of a packed type: 1.0 or 0.0, or all ones or zero, in each half of a word."""
    combine = site.choose(COMBINE, "")
    site.count(4 if combine else 3)
    dest = site.destination(0, result)
    halves = _comparison_of_halves(site, type_, name, combine)
    yes = ONES.get(result.name.removesuffix("x2"), 0xFFFF)
    word = UNSIGNED[32]

    def step(f: ConvergenceGroup) -> None:
        low, high = (np.asarray(found).astype(word) * word.type(yes) for found in halves(f))
        f.r[dest] = as_value(np.asarray(low | high << word.type(16)), word)

    return step


def build_set(site: Site) -> Step:
    """`set`: all ones or zero, or 1.0 or 0.0, by a comparison."""
    type_ = site.type((*INTEGERS, *FLOATS, *PACKED))
    result = site.type(("u32", "s32", "f32", "u16", "s16", "f16", "bf16", *PACKED))
    name = site.choose((*RELATIONS, *UNORDERED, "num", "nan"))
    if type_.name in PACKED:
        return _packed_set(site, type_, result, name)
    combine = site.choose(COMBINE, "")
    site.count(4 if combine else 3)
    dest = site.destination(0, result)
    pred = site.program.slots.scratch_predicate()
    compare = _comparison(site, pred, 1, type_, name)
    site.no_more()
    steps = _combined(site, compare, pred, None, combine) if combine else compare
    yes = ONES.get(result.name, (1 << result.bits) - 1)
    unsigned = UNSIGNED[result.bits]

    def step(f: ConvergenceGroup) -> None:
        steps(f)
        found = f.r[pred]
        if found.__class__ is np.ndarray:
            f.r[dest] = np.where(found, unsigned.type(yes), unsigned.type(0))
        else:
            f.r[dest] = yes if found else 0

    return step


def select(p: Value, a: Value, b: Value, dtype: np.dtype[Any]) -> Value:
    """Return `a` where `p` holds, else `b`."""
    if p.__class__ is not np.ndarray:
        return a if p else b
    return np.where(p, _as_array(a, dtype), _as_array(b, dtype))


def _as_array(value: Value, dtype: np.dtype[Any]) -> Array:
    return value if value.__class__ is np.ndarray else np.array(value, dtype)


def build_selp(site: Site) -> Step:
    """`selp`: select one of two values by a predicate."""
    type_ = site.type((*INTEGERS, "f16", "bf16", "f32", "f64"))
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    a, b = site.source(1, type_), site.source(2, type_)
    p, inverted = site.predicate(3)
    if inverted:
        a, b = b, a
    unsigned = UNSIGNED[type_.bits]

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = select(r[p], r[a], r[b], unsigned)

    return step


def build_slct(site: Site) -> Step:
    """`slct`: select one of two values by the sign of a third."""
    by = site.type(("s32", "f32"))
    type_ = site.type((*INTEGERS, "f32", "f64"))
    site.flag("ftz")
    site.no_more()
    site.count(4)
    dest = site.destination(0, type_)
    unsigned = UNSIGNED[type_.bits]
    slots = [(site.source(1, type_), unsigned), (site.source(2, type_), unsigned)]
    dtype = SIGNED[32] if by.signed else np.dtype(np.float32)
    return elementwise(
        dest,
        [*slots, (site.source(3, by), dtype)],
        type_,
        _by_sign,
    )


def _by_sign(a: Array, b: Array, c: Array) -> Array:
    return np.where(c >= 0, a, b)


TESTS: Mapping[str, Callable[[Array, Array], Array]] = {
    "finite": lambda x, tiny: np.isfinite(x),
    "infinite": lambda x, tiny: np.isinf(x),
    "number": lambda x, tiny: ~np.isnan(x),
    "notanumber": lambda x, tiny: np.isnan(x),
    "normal": lambda x, tiny: np.isfinite(x) & (x != 0) & ~tiny,
    "subnormal": lambda x, tiny: tiny,
}


def build_testp(site: Site) -> Step:
    """`testp`: test the class of a float (finite, NaN, subnormal, ...)."""
    type_ = site.type(("f32", "f64"))
    test = TESTS[site.choose(TESTS)]
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, TYPES["pred"]), site.source(1, type_)
    smallest = 2.0**-126 if type_.name == "f32" else 2.0**-1022

    def function(x: Array) -> Array:
        value = decode(x, type_.name)
        return test(value, (np.abs(value) < smallest) & (value != 0))

    return elementwise(dest, [(a, UNSIGNED[type_.bits])], TYPES["pred"], function)


TABLE = (
    Semantics("setp", build_setp),
    Semantics("set", build_set),
    Semantics("selp", build_selp),
    Semantics("slct", build_slct),
    Semantics("testp", build_testp),
)
