# pyright: basic
"""Fourier transforms as products with small matrices of roots of unity.

A signal of n1 n2 elements is a matrix x of n1 rows.  Its transform, read column by column, is
`((F1 x) * W) F2`: transforms of the columns, twiddle factors, transforms of the rows.  Complex
numbers are pairs of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import F32, Array, Reals
from kernels.kernel import Reference

COMPLEX = 2**0.5
"""How much larger the modulus of an error may be than that of each of its two parts."""


def product(ar, ai, br, bi, zeros):
    """A complex product of matrices: its real and its imaginary part."""
    real = ct.mma(ar, br, zeros) - ct.mma(ai, bi, zeros)
    return real, ct.mma(ai, br, ct.mma(ar, bi, zeros))


@ct.kernel
def fft(xr, xi, yr, yi, f1r, f1i, wr, wi, f2r, f2i, n1: ct.Constant[int], n2: ct.Constant[int]):
    """The transform of a signal for each block."""
    signal, shape = ct.bid(0), (n1, n2)
    zeros = ct.full(shape, 0, dtype=ct.float32)
    a = ct.load(f1r, (0, 0), (n1, n1)), ct.load(f1i, (0, 0), (n1, n1))
    x = ct.load(xr, (signal, 0, 0), (1, n1, n2)), ct.load(xi, (signal, 0, 0), (1, n1, n2))
    re, im = product(a[0], a[1], ct.reshape(x[0], shape), ct.reshape(x[1], shape), zeros)
    w = ct.load(wr, (0, 0), shape), ct.load(wi, (0, 0), shape)
    re, im = re * w[0] - im * w[1], re * w[1] + im * w[0]
    b = ct.load(f2r, (0, 0), (n2, n2)), ct.load(f2i, (0, 0), (n2, n2))
    re, im = product(re, im, b[0], b[1], zeros)
    ct.store(yr, (signal, 0, 0), ct.reshape(ct.transpose(re), (1, n2, n1)))
    ct.store(yi, (signal, 0, 0), ct.reshape(ct.transpose(im), (1, n2, n1)))


def _roots(rows: int, columns: int, size: int) -> tuple[Array, Array]:
    """Powers of a root of unity by the product of row and column."""
    angles = -2 * np.pi * (np.outer(np.arange(rows), np.arange(columns)) % size) / size
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _bound(moduli: Reals, n1: int, n2: int) -> Reals:
    """The error of each part of an element, by the sum of the moduli of a signal.

    Roots are rounded once, and each of the three steps sums 2 n1, 2 and 2 n2 products in f32.
    Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.5 and 4.2.
    """
    growth = 1.0
    for terms in (2 * n1 + 2, 4, 2 * n2 + 2):
        unit = terms * F32.unit / (1 - terms * F32.unit)
        growth *= 1 + COMPLEX * (unit + F32.unit)
    return (growth - 1) * moduli


def _problem(count: int, n1: int, n2: int) -> Problem:
    """Transforms of `count` signals of n1 n2 elements."""

    def make(rng: np.random.Generator) -> Sequence[Any]:
        signals = [F32.random(rng, (count, n1, n2)) for _ in range(2)]
        unset = [F32.unset(rng, (count, n2, n1)) for _ in range(2)]
        matrices = (*_roots(n1, n1, n1), *_roots(n1, n2, n1 * n2), *_roots(n2, n2, n2))
        return *signals, *unset, *matrices, n1, n2

    def reference(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        real, imaginary = (part.astype(np.float64).reshape(count, -1) for part in arguments[:2])
        signal = real + 1j * imaginary
        exact = np.fft.fft(signal).reshape(count, n2, n1)
        bound = _bound(np.abs(signal).sum(axis=1)[:, None, None], n1, n2)
        return {2: Reference(exact.real, bound), 3: Reference(exact.imag, bound)}

    return Problem(f"fft {count} of {n1}x{n2}", fft, make, reference, (count, 1, 1))


PROBLEMS: Sequence[Problem] = (_problem(3, 16, 16), _problem(2, 32, 16), _problem(1, 32, 32))
