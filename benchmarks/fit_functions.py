"""Minimax fits of the polynomials of `tileas_xdsl/transforms/math_functions/coefficients.py`.

    python benchmarks/fit_functions.py

Prints every polynomial: its coefficients, rounded one by one from the lowest on while the others
are fitted again, and the largest weighted error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Wide = NDArray[np.longdouble]
POINTS = 4001
ROUNDS = 60


@dataclass(frozen=True)
class Fit:
    """What to fit: `weight * (polynomial - function)` is small on an interval."""

    name: str
    low: float
    high: float
    degree: int
    function: Callable[[Wide], Wide]
    weight: Callable[[Wide], Wide]
    dtype: type = np.float32


def _grid(fit: Fit) -> Wide:
    """Points that lie closer at the ends, none so near to zero that differences cancel."""
    angles = np.linspace(0, np.pi, POINTS, dtype=np.longdouble)
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    points = np.longdouble(middle) - half * np.cos(angles)
    return points[np.abs(points) > 1e-4 * max(abs(fit.low), abs(fit.high))]


def _minimax(points: Wide, wanted: Wide, weight: Wide, powers: NDArray[np.int64]) -> Wide:
    """Remez: the coefficients of `powers`, weighted errors level at their extremes."""
    scale = np.max(np.abs(points))
    basis = (points / scale)[:, None] ** powers
    count = len(powers) + 1
    picked = np.linspace(0, len(points) - 1, count).round().astype(int)
    signs = (-1.0) ** np.arange(count)
    solution = np.zeros(count)
    for _ in range(ROUNDS):
        matrix = np.column_stack([basis[picked], signs / weight[picked]]).astype(np.float64)
        solution = np.linalg.solve(matrix, wanted[picked].astype(np.float64))
        for _ in range(3):
            residual = wanted[picked] - matrix.astype(np.longdouble) @ solution
            solution = solution + np.linalg.solve(matrix, residual.astype(np.float64))
        errors = weight * (wanted - basis @ solution[:-1])
        before, picked = picked, _extremes(errors, count)
        if np.array_equal(before, picked):
            break
    return solution[:-1] / scale**powers


def _extremes(errors: Wide, count: int) -> NDArray[np.int64]:
    """Return the indices of the largest errors of alternating signs."""
    cuts = np.nonzero(np.diff(np.sign(errors)) != 0)[0] + 1
    runs = np.split(np.arange(len(errors)), cuts)
    peaks = [int(run[np.argmax(np.abs(errors[run]))]) for run in runs]
    while len(peaks) > count:
        drop_first = abs(errors[peaks[0]]) < abs(errors[peaks[-1]])
        peaks = peaks[1:] if drop_first else peaks[:-1]
    if len(peaks) < count:
        peaks = list(np.linspace(0, len(errors) - 1, count).round().astype(int))
    return np.array(peaks)


def fitted(fit: Fit) -> tuple[list[float], float]:
    """Coefficients from the lowest on, and the largest weighted error."""
    points = _grid(fit)
    weight = np.abs(fit.weight(points))
    rest, found = fit.function(points), list[float]()
    best = _minimax(points, rest, weight, np.arange(fit.degree + 1))
    for lowest in range(fit.degree + 1):
        found.append(float(fit.dtype(best[0])))
        rest = rest - np.longdouble(found[-1]) * points**lowest
        best = best[1:] + _nudge(points, rest, weight, best[1:], lowest + 1)
    return found, float(np.max(np.abs(weight * rest)))


def _nudge(points: Wide, wanted: Wide, weight: Wide, best: Wide, lowest: int) -> Wide:
    """How the other coefficients change, by least squares, once a lower one is rounded."""
    scale = np.max(np.abs(points))
    powers = np.arange(lowest, lowest + len(best))
    basis = (points[:, None] / scale) ** powers * weight[:, None]
    rest = wanted * weight - basis @ (best * scale**powers)
    change = np.linalg.lstsq(basis.astype(np.float64), rest.astype(np.float64))[0]
    return change / scale**powers


def _odd(function: Callable[[Wide], Wide]) -> Callable[[Wide], Wide]:
    """`(f(x) - x) / x**3` as a function of `x**2`."""
    return lambda s: (function(np.sqrt(s)) - np.sqrt(s)) / (s * np.sqrt(s))


def _odd_weight(function: Callable[[Wide], Wide]) -> Callable[[Wide], Wide]:
    return lambda s: s * np.sqrt(s) / function(np.sqrt(s))


def _series(odd: Callable[[int], float]) -> Callable[[Wide], Wide]:
    def value(s: Wide) -> Wide:
        return sum((np.longdouble(odd(k)) * s**k for k in range(25)), np.zeros_like(s))

    return value


def _asin_term(k: int) -> float:
    k += 1
    return math.comb(2 * k, k) / 4**k / (2 * k + 1)


def _erf_wide(x: Wide) -> Wide:
    total, term = np.zeros_like(x), x.copy()
    for k in range(60):
        total = total + term / (2 * k + 1)
        term = -term * x * x / (k + 1)
    return total * 2 / np.sqrt(np.longdouble(np.pi))


def _minus_log_erfc(x: Wide) -> Wide:
    return -np.log(np.array([math.erfc(float(v)) for v in x], np.longdouble))


LN2 = np.log(np.longdouble(2))

FITS = (
    Fit("EXP", -0.3475, 0.3475, 4, lambda r: (np.expm1(r) - r) / r**2,
        lambda r: r**2 / np.exp(r)),
    Fit("SINH", 0, 1, 3, _odd(np.sinh), _odd_weight(np.sinh)),
    Fit("TANH", 0, 0.36, 3, _odd(np.tanh), _odd_weight(np.tanh)),
    Fit("SIN", 0, 0.6169, 2, _odd(np.sin), _odd_weight(np.sin)),
    Fit("COS", 0, 0.6169, 3, lambda s: (np.cos(np.sqrt(s)) - 1) / s, lambda s: s / np.cos(np.sqrt(s))),
    Fit("TAN", 0, 0.6169, 5, _odd(np.tan), _odd_weight(np.tan)),
    Fit("LOG", -0.3333, 0.3333, 8, lambda f: (np.log1p(f) - f) / f**2,
        lambda f: f**2 / np.log1p(f)),
    Fit("LOG2", -0.2930, 0.4145, 9,
        lambda f: (np.log1p(f) / LN2 - f * np.longdouble(np.float32(1 / LN2))) / f**2,
        lambda f: f**2 * LN2 / np.log1p(f)),
    Fit("LOG1P", -0.2930, 0.4145, 8, lambda f: (np.log1p(f) - f) / f**2,
        lambda f: f**2 / np.log1p(f)),
    Fit("LOG2_WIDE", -0.2930, 0.4145, 14, lambda f: np.log1p(f) / f / LN2,
        lambda f: f * LN2 / np.log1p(f), np.float64),
    Fit("EXP2", -0.5, 0.5, 6, lambda r: np.exp2(r), lambda r: np.exp2(-r)),
    Fit("ASIN", 0, 0.25, 5, _series(_asin_term), _odd_weight(np.arcsin)),
    Fit("ATAN", 0, 1, 8, _odd(np.arctan), _odd_weight(np.arctan)),
    Fit("ERF", 0, 0.851, 6, lambda s: _erf_wide(np.sqrt(s)) / np.sqrt(s) - 1,
        lambda s: np.sqrt(s) / _erf_wide(np.sqrt(s))),
    Fit("ERFC", 0.92, 4.0, 8, _minus_log_erfc,
        lambda x: np.array([math.erfc(float(v)) for v in x], np.longdouble)),
)  # fmt: skip

if __name__ == "__main__":
    for each in FITS:
        coefficients, error = fitted(each)
        print(f"{each.name} on [{each.low}, {each.high}], error {error:.3g}")
        print(*(f"    {coefficient!r}," for coefficient in coefficients), sep="\n")
