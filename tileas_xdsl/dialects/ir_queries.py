"""Questions about IR that every dialect and pass asks: operations around one, constants, values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeVar

from xdsl.dialects import func, gpu, memref, tensor, vector
from xdsl.dialects.arith import ConstantOp, ExtSIOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import CallableOpInterface, MemoryEffect, NoMemoryEffect, OpTrait
from xdsl.traits import is_side_effect_free as is_declared_free
from xdsl.traits import is_speculatable as is_declared_speculatable

from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.kinds import Kinds

OpT = TypeVar("OpT", bound=Operation)

ELEMENTWISE_DIALECTS = ("arith.", "math.")
"""How the names of operations begin that compute each element of tiles by itself."""

_NUMBERS = Kinds(gpu.BlockIdOp, gpu.GridDimOp, memref.DimOp, vector.BitcastOp)
"""What computes numbers, and declares nothing about effects."""


def enclosing_ops(op: Operation) -> Iterator[Operation]:
    """Yield the operations around `op`, the innermost first."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def enclosing(op: Operation, kind: type[OpT]) -> OpT | None:
    """Return the innermost operation of a class around `op`; None where there is none."""
    return next((parent for parent in enclosing_ops(op) if isinstance(parent, kind)), None)


def enclosing_function(op: Operation) -> Operation | None:
    """Return the innermost callable operation around `op`: a function, a kernel, an entry."""
    return next((p for p in enclosing_ops(op) if p.has_trait(CallableOpInterface)), None)


def defined_functions(module: ModuleOp) -> list[func.FuncOp]:
    """Return the functions of a module that have a body."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]


def owning_op(value: SSAValue) -> Operation | None:
    """Return the operation that `value` is a result of, or in whose region it is an argument."""
    owner = value.owner
    return owner if isinstance(owner, Operation) else owner.parent_op()


def is_defined_before(value: SSAValue, op: Operation) -> bool:
    """Whether a value that an operation's block sees is defined in front of the operation."""
    made = value.owner
    return isinstance(made, Block) or made.parent is not op.parent or made.is_before_in_block(op)


def constant_integer(value: SSAValue) -> int | None:
    """Return the integer that an `arith.constant` defines; None for any other value."""
    op = value.owner
    if isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def uniform_constant(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """Return the constant that a scalar is, or that all elements of a tile are; else None.

    Of `arith.constant dense<1.0>` and of `tensor.splat` of the constant 1.0 alike, it is 1.0.
    """
    op = value.owner
    if isinstance(op, tensor.SplatOp):
        return uniform_constant(op.input)
    literal = op.value if isinstance(op, ConstantOp) else None
    if isinstance(literal, DenseIntOrFPElementsAttr):
        literal = next(iter(literal.iter_attrs())) if is_splat(literal) else None
    return literal if isinstance(literal, FloatAttr | IntegerAttr) else None


def uniform_integer(value: SSAValue) -> int | None:
    """Return the integer that a scalar is, or that all elements of a tile are; else None."""
    constant = uniform_constant(value)
    return constant.value.data if isinstance(constant, IntegerAttr) else None


def values_within(root: Operation) -> Iterator[SSAValue]:
    """Yield the results and block arguments of `root` and of everything in its regions."""
    for op in root.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def is_side_effect_free(op: Operation) -> bool:
    """Return whether an operation reads and writes no memory, and what is in it neither.

    xDSL declares that of most operations of `arith`, but not of `extsi` and `remui`.
    """
    is_free = _is_free(type(op))
    return is_declared_free(op) if is_free is None else is_free


@cache
def _is_free(kind: type[Operation]) -> bool | None:
    return True if kind.name.startswith("arith.") or _NUMBERS[kind] else DECLARED_FREE[kind]


class _DeclaredFree(dict[type[Operation], bool | None]):
    """Whether operations of a class touch no memory; None where each has to be asked."""

    def __missing__(self, kind: type[Operation]) -> bool | None:
        effects = kind.get_traits_of_type(MemoryEffect)
        is_free = all(isinstance(effect, NoMemoryEffect) for effect in effects)
        found = self[kind] = False if not effects else is_free or None
        return found


DECLARED_FREE = _DeclaredFree()


def has_trait(op: Operation, trait: type[OpTrait]) -> bool:
    """Return whether an operation has a trait; looked up once a class."""
    return _has_trait(type(op), trait)


@cache
def _has_trait(kind: type[Operation], trait: type[OpTrait]) -> bool:
    return kind.has_trait(trait)


def is_speculatable(op: Operation) -> bool:
    """Return whether an operation may run where it did not; divisions by zero have no meaning.

    xDSL does not declare it of `arith.extsi`.
    """
    return type(op) is ExtSIOp or is_declared_speculatable(op)
