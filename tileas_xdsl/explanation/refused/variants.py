"""A refused kernel with smaller sizes: constants of its signature, or numbers of its text.

Where the sizes of tiles are constants of Python they have names.  In a text they are numbers, in
types and in constants of whole numbers alike: halving 128 halves it wherever it is such a number.

    tl.alloc_shared : memref<128x64xf16, ...>          memref<64x64xf16, ...>
    %bm = arith.constant 128 : index            ->     %bm = arith.constant 64 : index
    tl.kernel (...) threads(128)                       tl.kernel (...) threads(128)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.signature import ConstantParameter, Parameter

SMALLEST = 16
"""Sizes that are halved stay at least this: products take no fewer rows, columns or depth."""

_BEFORE = r"(?:(?<=\dx)|(?<=\?x)|(?<![\w.%@#!$\-]))(?<!threads\()"
_AFTER = r"(?=x|[^\w.]|$)(?!\s*:\s*b?f\d)"
_COMMENT = re.compile(r"//.*")


class Variants(Protocol):
    """The sizes that a kernel may have instead of its own."""

    def sizes(self, extents: Collection[int]) -> Mapping[str, int]:
        """Return what can be halved, by name; `extents` are those of tiles that are too large."""
        ...

    def compiled(self, sizes: Mapping[str, int]) -> CompiledKernel:
        """Compile the kernel with some sizes; raises `DiagnosticError`."""
        ...

    def change(self, name: str, size: int) -> str:
        """Return a change of a size in words."""
        ...


@dataclass(frozen=True)
class ConstantVariants:
    """Constants of a signature."""

    parameters: Sequence[Parameter]
    compile: Callable[[Sequence[Parameter]], CompiledKernel]

    def sizes(self, extents: Collection[int]) -> Mapping[str, int]:
        """Return all constants that are whole numbers and can be halved."""
        del extents
        return {
            one.name: one.value
            for one in self.parameters
            if isinstance(one, ConstantParameter) and _can_shrink(one.value)
        }

    def compiled(self, sizes: Mapping[str, int]) -> CompiledKernel:
        """Compile the kernel with some constants."""
        return self.compile(with_constants(self.parameters, sizes))

    def change(self, name: str, size: int) -> str:
        """Return `name=size`."""
        return f"{name}={size}"


@dataclass(frozen=True)
class TextVariants:
    """Extents of tiles as numbers of a text."""

    text: str
    compile: Callable[[str], CompiledKernel]
    has_lines: bool = True
    """Whether the text is what the user wrote."""

    def sizes(self, extents: Collection[int]) -> Mapping[str, int]:
        """Return the extents that the text names, the largest first."""
        return {
            str(extent): extent
            for extent in sorted(extents, reverse=True)
            if _can_shrink(extent) and self._lines(str(extent))
        }

    def compiled(self, sizes: Mapping[str, int]) -> CompiledKernel:
        """Compile the text with other numbers."""
        return self.compile(with_numbers(self.text, sizes))

    def change(self, name: str, size: int) -> str:
        """Return the number, the one it replaces, and the lines in which it does."""
        lines = self._lines(name)
        where = f" in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
        return f"{size} for {name}{where if self.has_lines else ' in the Tile IR'}"

    def _lines(self, number: str) -> Sequence[int]:
        wanted = re.compile(f"{_BEFORE}{number}{_AFTER}")
        lines = enumerate(self.text.splitlines(), 1)
        return [at for at, line in lines if wanted.search(_COMMENT.sub("", line))]


def with_constants(
    parameters: Sequence[Parameter], values: Mapping[str, object]
) -> Sequence[Parameter]:
    """Return parameters with other values of constants."""
    return [
        ConstantParameter(one.name, values[one.name])
        if isinstance(one, ConstantParameter) and one.name in values
        else one
        for one in parameters
    ]


def with_numbers(text: str, values: Mapping[str, int]) -> str:
    """Return a text with other whole numbers, all at once; numbers of threads stay."""
    if not values:
        return text
    wanted = re.compile(f"{_BEFORE}({'|'.join(values)}){_AFTER}")
    return "\n".join(
        wanted.sub(lambda match: str(values[match[1]]), line) for line in text.split("\n")
    )


def _can_shrink(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2 * SMALLEST
