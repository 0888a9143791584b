"""Numbers with an error bound: running error analysis of f32 arithmetic.

A reference evaluates the formula of a kernel once on these, which gives the exact value in f64 and
the error bound of the kernel, for any order of summation and any fusion.

Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.3 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, Element, Reals, accumulated
from kernels.kernel import Reference
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

SLACK = 1 + 2.0**-10
"""Allowance for second-order terms, and for the roundings of f64."""

SMALLEST_NORMAL = 2.0**-126
"""Of f32."""

Operand: TypeAlias = "Rounded | Reals | float"


@dataclass(frozen=True)
class Rounded:
    """Numbers in f32: exact values, and bounds of a kernel's absolute error."""

    value: Reals
    error: Reals

    # arithmetic: rounded once

    def __add__(self, other: Operand) -> Rounded:
        other = rounded(other)
        return _once(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Operand) -> Rounded:
        return self + -rounded(other)

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __mul__(self, other: Operand) -> Rounded:
        other = rounded(other)
        mixed = np.abs(self.value) * other.error + np.abs(other.value) * self.error
        return _once(self.value * other.value, mixed + self.error * other.error)

    def __truediv__(self, other: Operand) -> Rounded:
        other = rounded(other)
        value = self.value / other.value
        least = np.abs(other.value) - other.error
        return _once(value, (self.error + np.abs(value) * other.error) / least)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Operand) -> Rounded:
        return rounded(other) - self

    def __rtruediv__(self, other: Operand) -> Rounded:
        return rounded(other) / self

    # functions: as accurate as `MATH_FUNCTIONS` promises

    def exp(self) -> Rounded:
        """The exponential, which converts an absolute error to a relative one."""
        value = np.exp(self.value)
        return _within("exp", value, value * np.expm1(self.error))

    def exp2(self) -> Rounded:
        """Two to a power, which may be zero where it is subnormal."""
        value = np.exp2(self.value)
        off = np.expm1(self.error * np.log(2))
        return _within("exp2", value, value * off + SMALLEST_NORMAL)

    def log(self) -> Rounded:
        """The natural logarithm."""
        return _within("log", np.log(self.value), -np.log1p(-self.error / self.value))

    def rsqrt(self) -> Rounded:
        """One over the square root."""
        value = 1 / np.sqrt(self.value)
        return _within("rsqrt", value, 1 / np.sqrt(self.value - self.error) - value)

    def tanh(self) -> Rounded:
        """The hyperbolic tangent, which is nowhere steeper than 1."""
        return _within("tanh", np.tanh(self.value), self.error)

    # along an axis, which stays with one element

    def sum(self, axis: int) -> Rounded:
        """The sum in any order."""
        sizes = np.abs(self.value) + self.error
        error = self.error.sum(axis=axis, keepdims=True)
        error = error + accumulated(self.value.shape[axis], sizes.sum(axis=axis, keepdims=True))
        return Rounded(self.value.sum(axis=axis, keepdims=True), error * SLACK)

    def max(self, axis: int) -> Rounded:
        """The maximum, whose error bound is the largest of all elements."""
        error = np.max(self.error, axis=axis, keepdims=True)
        return Rounded(np.max(self.value, axis=axis, keepdims=True), error)

    # results

    def as_(self, element: Element | str) -> Rounded:
        """Rounded to an element type, and read again."""
        element = ELEMENTS[element] if isinstance(element, str) else element
        off = element.rounding(np.abs(self.value) + self.error) if element is not F32 else 0.0
        return Rounded(self.value, self.error + off)

    def reference(self, like: Array) -> Reference:
        """What an output array should hold: of its type and shape."""
        found = self.as_(element_of(like))
        value, error = np.broadcast_arrays(found.value, found.error)
        return Reference(value.reshape(like.shape), (error * SLACK).reshape(like.shape))


def rounded(number: Operand | Array) -> Rounded:
    """Numbers that are exact: arrays of any type, or constants that f32 rounds."""
    if isinstance(number, Rounded):
        return number
    if isinstance(number, float | int):
        value = np.array(float(number))
        return Rounded(value, np.abs(value - np.float64(np.float32(number))))
    value = np.asarray(number).astype(np.float64)
    return Rounded(value, np.zeros_like(value))


def element_of(array: Array) -> Element:
    """The element type of an array; raises `ValueError` for one that no kernel has."""
    (found,) = [element for element in ELEMENTS.values() if element.dtype == array.dtype]
    return found


def _once(value: Reals, error: Reals) -> Rounded:
    """Rounded to f32."""
    return Rounded(value, (error + F32.rounding(np.abs(value) + error)) * SLACK)


def _within(name: str, value: Reals, error: Reals) -> Rounded:
    """The rounded result of a function of `math`, with its error in units of the last place."""
    units = 2 * MATH_FUNCTIONS[name].bound + 1
    own = units * F32.rounding(np.abs(value) + error)
    return Rounded(value, (error + own) * SLACK)
