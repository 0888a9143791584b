"""Comparisons of integers and of floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.backend.ptx.lowering.meanings.meaning import Array, Meaning, unsigned

PREDICATES: dict[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": unsigned(np.less),
    "uge": unsigned(np.greater_equal),
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
