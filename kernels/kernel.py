"""What a kernel is: text with parameters, arguments to run it on, and what it should compute.

A subclass is a frozen dataclass whose fields are the parameters of the text (tiles, stages,
element types); the sizes of a problem are given to the methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from textwrap import indent
from typing import ClassVar

import numpy as np

from kernels.elements import Array, Reals

Sizes = Mapping[str, int]
Grid = tuple[int, int, int]

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Reference:
    """What an argument should hold after the run, and how far off each element may be."""

    value: Reals | Array
    """Exact (float64) where `bound` is not zero."""
    bound: Reals | float = 0.0
    """The largest error that rounding explains; 0 means the same bits."""


@dataclass(frozen=True)
class Deviation:
    """How far an argument is from its reference."""

    error: float
    """The largest absolute error; NaN if an element is not a number."""
    share: float
    """The largest part of its bound that an error takes; right is at most 1."""

    @property
    def is_right(self) -> bool:
        """Whether rounding explains every error."""
        return self.share <= 1


class Kernel(ABC):
    """A kernel in `nv_tileas` text, with its parameters."""

    name: ClassVar[str]
    sizes: ClassVar[Sizes]
    """A problem that is small and ragged."""

    def __str__(self) -> str:
        """The name and the parameters that are not the usual ones."""
        mine, usual = vars(self), vars(type(self)())
        changed = [f"{key}={value}" for key, value in mine.items() if value != usual[key]]
        return " ".join([self.name, *changed])

    @property
    def target(self) -> str:
        """The first target that has its instructions."""
        return "sm_90a"

    @property
    def pipeline(self) -> str:
        """The name of the passes that lower it to PTX."""
        return "tileas-to-ptx"

    @abstractmethod
    def text(self) -> str:
        """The module."""

    @abstractmethod
    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        """The arguments of a launch: random inputs, outputs that hold NaN or noise."""

    @abstractmethod
    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """By the position of each output, what numpy computes of the same arguments."""

    @abstractmethod
    def grid(self, sizes: Sizes) -> Grid:
        """How many blocks a launch has along x, y, z."""

    def check(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> Deviation:
        """The worst deviation of the arguments after a run; inputs that changed count too."""
        return worst_deviation(self.reference(inputs), inputs, outputs)


def worst_deviation(
    expected: Mapping[int, Reference], inputs: Sequence[Array], outputs: Sequence[Array]
) -> Deviation:
    """The worst deviation of the arguments after a run; inputs that changed count too."""
    unchanged = {k: Reference(given) for k, given in enumerate(inputs) if k not in expected}
    every = {**expected, **unchanged}
    found = [_deviation(reference, outputs[k]) for k, reference in every.items()]
    return max(found, key=lambda deviation: _rank(deviation.share))


def _deviation(reference: Reference, found: Array) -> Deviation:
    if isinstance(reference.bound, float):
        same = np.array_equal(_bits(reference.value.astype(found.dtype)), _bits(found))
        return Deviation(0.0, 0.0) if same else Deviation(float("nan"), float("nan"))
    errors = np.abs(found.astype(np.float64) - reference.value)
    shares = np.divide(errors, reference.bound)
    return Deviation(float(np.max(errors)), float(np.max(shares)))


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(np.dtype(f"u{values.dtype.itemsize}"))


def _rank(share: float) -> float:
    """NaN is the worst share."""
    return float("inf") if np.isnan(share) else share


def fill(path: str, values: Mapping[str, str | int]) -> str:
    """The file with each `$NAME` replaced.

    A name on a line of its own may stand for several lines, which get its indentation, or for none.
    """
    text = (FOLDER / path).read_text(encoding="utf-8")
    return "".join(_filled(line, values) for line in text.splitlines(keepends=True))


def _filled(line: str, values: Mapping[str, str | int]) -> str:
    name = line.strip().removeprefix("$")
    if line.strip() != f"${name}" or name not in values:
        return Template(line).substitute(values)
    value, margin = str(values[name]).rstrip("\n"), line[: len(line) - len(line.lstrip())]
    return indent(value, margin) + "\n" if value else ""


def tiles_of(extent: int, tile: int) -> int:
    """How many tiles cover an extent."""
    return -(-extent // tile)
