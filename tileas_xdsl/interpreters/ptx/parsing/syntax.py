"""Syntax tree of PTX: modules, kernels, declarations, instructions and operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import SourceLocation
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import ScalarType


@dataclass(frozen=True, slots=True)
class Register:
    """A register of a kernel; its name carries the scope it was declared in."""

    name: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point literal; `bits` where it was written as a bit pattern of `width`."""

    value: float
    bits: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, or a label, and an offset in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`, a discarded result."""


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`."""

    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`a|b`, two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`, a predicate operand read inverted."""

    predicate: Register


@dataclass(frozen=True, slots=True)
class Selected:
    """`%r.h10`, parts of a register, as video instructions take them."""

    register: Register
    part: str


@dataclass(frozen=True, slots=True)
class Minus:
    """`-%r` or `-%r.h1`, an operand of `vmad` that is subtracted."""

    value: Register | Selected


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`, or `[base, {coordinates}, ...]` of tensors."""

    base: Register | Symbol | Integer
    offset: int = 0
    parts: tuple[Operand, ...] = ()


Operand: TypeAlias = (
    Register
    | Special
    | Integer
    | Float
    | Symbol
    | Sink
    | Vector
    | Pair
    | Negated
    | Selected
    | Minus
    | Address
)


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p`."""

    predicate: Register
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `parts` are its opcode split at the dots."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None
    location: SourceLocation
    text: str
    origin: SourceLocation | None = None
    """The source location given by `.loc`."""

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: a scalar, or an array of `size` bytes in all."""

    name: str
    type: ScalarType
    size: int
    align: int
    is_array: bool
    location: SourceLocation


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable of a state space; `size` is 0 for extern arrays."""

    name: str
    space: str
    size: int
    align: int
    location: SourceLocation
    data: bytes = b""
    extern: bool = False
    addresses: Mapping[int, Symbol] = field(default_factory=dict[int, Symbol])
    """By byte of `data`, the variable or function whose generic address is there."""


@dataclass(frozen=True)
class Recursion:
    """A copy of a function that calls itself, in the code of a kernel."""

    function: str
    formals: Sequence[tuple[str, int]]
    """The variables that are its results and parameters, and their bytes."""
    results: int
    """How many of them are results."""
    own: Sequence[tuple[str, int]]
    """The variables in it, and their bytes."""


@dataclass(frozen=True)
class Kernel:
    """An entry function."""

    name: str
    parameters: Sequence[Parameter]
    code: Sequence[Instruction]
    labels: Mapping[str, int]
    variables: Sequence[Variable]
    branch_targets: Mapping[str, tuple[str, ...]]
    location: SourceLocation
    max_threads: tuple[int, ...] | None = None
    required_threads: tuple[int, ...] | None = None
    required_cluster: tuple[int, ...] | None = None
    max_registers: int | None = None
    min_blocks: int | None = None
    recursions: Mapping[str, Recursion] = field(default_factory=dict[str, Recursion])
    """By suffix of its labels, `~3` of `start~3`."""


@dataclass(frozen=True)
class PtxModule:
    """A parsed file."""

    path: str
    version: tuple[int, int]
    target: str
    kernels: Mapping[str, Kernel]
    variables: Sequence[Variable]
    functions: Sequence[str] = ()
    """Functions whose addresses are taken."""
