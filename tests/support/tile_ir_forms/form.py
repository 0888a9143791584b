"""One form of an operation: its operands, its text, and the kernels that run such forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.random_tile_ir.elements import DTYPES

Array = NDArray[Any]

NIBBLES = ("i4", "f4E2M1FN")
"""Types of 4 bits: their tiles are made of bytes."""


def tile(shape: Sequence[int], element: str) -> str:
    """The type of a tile."""
    return f"tile<{''.join(f'{n}x' for n in shape)}{element}>"


@dataclass(frozen=True)
class Operand:
    """An array that a form reads (and, if `updated`, changes) as a tile of random elements."""

    element: str
    shape: tuple[int, ...] = (32,)
    range: str = "any"
    """`any`, `small` (0 to 6), `nonzero`, `shift` or `positive`."""
    is_memory: bool = False
    """The form gets the pointers to its elements, not their values."""
    is_array: bool = False
    """The form gets the pointer to the first element."""

    @property
    def type(self) -> str:
        """The type of what the form gets."""
        if self.is_array:
            return f"tile<ptr<{self.element}>>"
        element = f"ptr<{self.element}>" if self.is_memory else self.element
        return tile(self.shape, element)


@dataclass(frozen=True)
class Form:
    """An operation: `@r` is its result, `@0` an operand, `@t0` its type, `@R` the result type."""

    name: str
    operands: tuple[Operand, ...]
    result: Operand | None
    text: str
    is_exact: bool = True
    blocks: int = field(default=1)


@dataclass
class Kernel:
    """The text of some forms, one after another, and random arguments."""

    text: str
    arguments: list[Array]
    inexact: list[int]


def _random(rng: np.random.Generator, operand: Operand, size: int) -> Array:
    element, span = operand.element, operand.range
    if element in NIBBLES:
        found = rng.integers(-128, 128, size // 2).astype(np.int8)
        return found & 0x77 if span in ("small", "positive") else found
    dtype = DTYPES[element]
    if element == "i1":
        return np.ones(size, bool) if span == "nonzero" else rng.random(size) < 0.5
    if element[0] == "i":
        return _integers(rng, span, size, dtype)
    if element == "f8E8M0FNU":
        low, high = (126, 130) if span == "positive" else (120, 134)
        return rng.integers(low, high, size).astype(np.uint8).view(dtype)
    values = rng.standard_normal(size) * 3
    if span in ("small", "positive"):
        values = np.abs(values) + (0 if span == "small" else 0.25)
    if element in ("tf32", "f8E4M3FN", "f8E5M2"):
        values = np.round(values * 2) / 2
    if span == "any":
        special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-41, 1e5, 6e-8], size)
        values = np.where(rng.random(size) < 0.2, special, values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _integers(rng: np.random.Generator, span: str, size: int, dtype: Any) -> Array:
    info: Any = np.iinfo(dtype)
    if span == "shift":
        return rng.integers(0, info.bits, size).astype(dtype)
    if span in ("small", "positive"):
        return rng.integers(span == "positive", 7, size).astype(dtype)
    wide: Array = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
    found = np.where(rng.random(size) < 0.5, wide, rng.integers(-9, 9, size).astype(dtype))
    return np.where(found == 0, 3, found).astype(dtype) if span == "nonzero" else found


@dataclass
class _Writer:
    """A kernel while it is written."""

    rng: np.random.Generator
    parameters: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    arguments: list[Array] = field(default_factory=list["Array"])

    def pointers(self, prefix: str, operand: Operand, data: Array) -> str:
        """The addresses of the elements of a new argument."""
        byte = operand.element in NIBBLES
        element = "i8" if byte else operand.element
        shape = (prod(operand.shape) // 2,) if byte else operand.shape
        count = prod(shape)
        own, flat = f"tile<{count}xptr<{element}>>", f"tile<{count}xi32>"
        self.parameters.append(f"%{prefix}: tile<ptr<{element}>>")
        self.arguments.append(data)
        if operand.is_array:
            return f"%{prefix}"
        scalar = f"tile<ptr<{element}>>"
        self.lines += [
            f"%{prefix}i = iota : {flat}",
            f"%{prefix}a = reshape %{prefix} : {scalar} -> tile<1xptr<{element}>>",
            f"%{prefix}b = broadcast %{prefix}a : tile<1xptr<{element}>> -> {own}",
            f"%{prefix}c = offset %{prefix}b, %{prefix}i : {own}, {flat} -> {own}",
        ]
        if shape == (count,):
            return f"%{prefix}c"
        self.lines.append(
            f"%{prefix}d = reshape %{prefix}c : {own} -> {tile(shape, f'ptr<{element}>')}"
        )
        return f"%{prefix}d"

    def loaded(self, prefix: str, operand: Operand) -> str:
        """The value of an operand."""
        size = prod(operand.shape)
        pointers = self.pointers(prefix, operand, _random(self.rng, operand, size))
        if operand.is_memory or operand.is_array:
            return pointers
        if operand.element not in NIBBLES:
            types = f"{tile(operand.shape, f'ptr<{operand.element}>')} -> {operand.type}"
            self.lines.append(
                f"%{prefix}v, %{prefix}t = load_ptr_tko weak {pointers} : {types}, token"
            )
            return f"%{prefix}v"
        half, flat = tile((size // 2,), "i8"), tile((size,), operand.element)
        self.lines += [
            f"%{prefix}u, %{prefix}t = load_ptr_tko weak {pointers} :"
            f" tile<{size // 2}xptr<i8>> -> {half}, token",
            f"%{prefix}w = unpack %{prefix}u : {half} -> {flat}",
            f"%{prefix}v = reshape %{prefix}w : {flat} -> {operand.type}",
        ]
        return f"%{prefix}v"

    def stored(self, prefix: str, operand: Operand, value: str) -> None:
        """Store a result to a new argument."""
        size = prod(operand.shape)
        if operand.element in NIBBLES:
            flat, half = tile((size,), operand.element), tile((size // 2,), "i8")
            self.lines += [
                f"%{prefix}w = reshape {value} : {operand.type} -> {flat}",
                f"%{prefix}u = pack %{prefix}w : {flat} -> {half}",
            ]
            pointers = self.pointers(prefix, operand, np.zeros(size // 2, np.int8))
            types = f"tile<{size // 2}xptr<i8>>, {half}"
            self.lines.append(
                f"%{prefix}t = store_ptr_tko weak {pointers}, %{prefix}u : {types} -> token"
            )
            return
        pointers = self.pointers(prefix, operand, np.zeros(size, DTYPES[operand.element]))
        types = f"{tile(operand.shape, f'ptr<{operand.element}>')}, {operand.type}"
        self.lines.append(f"%{prefix}t = store_ptr_tko weak {pointers}, {value} : {types} -> token")


def kernel_of(forms: Sequence[Form], seed: int = 0) -> Kernel:
    """A kernel that runs forms one after another."""
    w, inexact = _Writer(np.random.default_rng(seed)), list[int]()
    for number, form in enumerate(forms):
        values = [w.loaded(f"p{number}_{k}_", operand) for k, operand in enumerate(form.operands)]
        w.lines.append(_filled(form, values, f"%r{number}"))
        if form.result is not None:
            if not form.is_exact:
                inexact.append(len(w.arguments))
            w.stored(f"o{number}_", form.result, f"%r{number}")
    parameters = ", ".join(w.parameters)
    body = "\n    ".join(w.lines)
    text = (
        f"cuda_tile.module @m {{\n  entry @k({parameters}) {{\n    {body}\n    return\n  }}\n}}\n"
    )
    return Kernel(text, w.arguments, inexact)


def _filled(form: Form, values: Sequence[str], result: str) -> str:
    def place(found: re.Match[str]) -> str:
        word = found[1]
        if word == "R":
            assert form.result is not None
            return form.result.type
        if word[0] == "r":
            return result + word[1:]
        if word[0] == "t":
            return form.operands[int(word[1:])].type
        return values[int(word)]

    return re.sub(r"@(t\d+|r\w*|R|\d+)", place, form.text)
