"""`arith`, `math`, and the pure operations of `nv_tileas` and `nv_tileaa`, for xDSL's interpreter.

The semantics are the tables that the tile interpreter runs (`tensor_ops`); here are only the
conversions between the two representations of values:

    type                    xDSL's interpreter          tile interpreter
    tensor<4x4xf16>         np.ndarray or ShapedArray   np.ndarray in the storage type
    f32                     float                       array of rank 0, rounded to the type
    i8, index               int (signed or unsigned)    int, two's complement
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from typing import cast as cast_type

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_attr,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileaa.compute.conversions import BitcastOp, IntToPtrOp, PtrToIntOp
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.interpreters.tile.memory.views import stored
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast
from tileas_xdsl.interpreters.tile.numerics.element_types import float_format as float_format_of
from tileas_xdsl.interpreters.tile.numerics.integers import width_of, wrap
from tileas_xdsl.interpreters.tile.semantics.pointers import assume
from tileas_xdsl.interpreters.tile.tensor_ops.dot import PRODUCTS
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import (
    ELEMENTWISE,
    Semantics,
    attribute_value,
)
from tileas_xdsl.interpreters.tile.tensor_ops.reduction import (
    generate_tile,
    reduce_tiles,
    scan_tiles,
)
from tileas_xdsl.interpreters.tile.tensor_ops.reshaping import RESHAPES


def _address(_: Operation, operands: Sequence[Any]) -> tuple[Any]:
    """Pointers are integers: conversions keep the address."""
    return (operands[0],)


PURE: Mapping[type[Operation], Semantics] = {
    **ELEMENTWISE,
    **RESHAPES,
    **PRODUCTS,
    AssumeOp: assume,
    BitcastOp: _address,
    IntToPtrOp: _address,
    PtrToIntOp: _address,
}
"""Pure operations without regions and their semantics."""


def to_tile(value: Any, type_: Attribute) -> Any:
    """Convert a value of xDSL's interpreter to the tile interpreter's representation."""
    if isinstance(value, ShapedArray):
        shaped = cast_type("ShapedArray[Any]", value)
        value = np.array(shaped.data).reshape(shaped.shape)
    if isa(type_, TensorType[Attribute]):
        return stored(np.asarray(value), type_.element_type)
    if float_format_of(type_) is not None:
        return np.asarray(cast(np.asarray(value), type_))
    width = width_of(type_)
    return value if width is None else wrap(int(value), width)


def from_tile(value: Any, type_: Attribute) -> Any:
    """Convert a value of the tile interpreter to the representation of xDSL's interpreter."""
    if isinstance(type_, TensorType) or float_format_of(type_) is None:
        return value
    return float(value)


def _implementation(meaning: Semantics) -> Callable[..., PythonValues]:
    def run(
        _: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        operands = [to_tile(arg, type_) for arg, type_ in zip(args, op.operand_types, strict=True)]
        results = meaning(op, operands)
        return tuple(map(from_tile, results, op.result_types))

    return run


class _Bodies:
    """Runs the body of an operation in the scope of xDSL's interpreter."""

    def __init__(self, interpreter: Interpreter, op: Operation, args: PythonValues) -> None:
        self.interpreter = interpreter
        self.op = op
        self.sources = [to_tile(a, t) for a, t in zip(args, op.operand_types, strict=True)]

    def value_of(self, value: SSAValue) -> Any:
        """Return a value that the body captures."""
        return to_tile(self.interpreter.get_values((value,))[0], value.type)

    def run(self, region: Region, args: Sequence[Any]) -> Sequence[Any]:
        """Return what a body yields for scalar arguments."""
        block = region.block
        given = tuple(from_tile(arg, b.type) for arg, b in zip(args, block.args, strict=True))
        found = self.interpreter.run_ssacfg_region(region, given, self.op.name)
        assert block.last_op is not None
        return [to_tile(v, t) for v, t in zip(found, block.last_op.operand_types, strict=True)]


class _WithBodies(InterpreterFunctions):
    """Pure operations with a body, terminators of bodies, and tensors as arguments."""

    @impl(ReduceOp)
    def reduce(self, interpreter: Interpreter, op: ReduceOp, args: PythonValues) -> PythonValues:
        """Run `nv_tileas.reduce`."""
        bodies = _Bodies(interpreter, op, args)
        return reduce_tiles(op, bodies.sources, bodies.value_of, bodies.run)

    @impl(ScanOp)
    def scan(self, interpreter: Interpreter, op: ScanOp, args: PythonValues) -> PythonValues:
        """Run `nv_tileas.scan`."""
        bodies = _Bodies(interpreter, op, args)
        return scan_tiles(op, bodies.sources, bodies.value_of, bodies.run)

    @impl(GenerateOp)
    def generate(
        self, interpreter: Interpreter, op: GenerateOp, args: PythonValues
    ) -> PythonValues:
        """Run `nv_tileas.generate`."""
        bodies = _Bodies(interpreter, op, args)
        return (generate_tile(op, bodies.value_of, bodies.run),)

    @impl_terminator(YieldOp)
    def end_of_body(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Return the yielded values to the operation around the body."""
        return ReturnedValues(args), ()

    @impl_attr(TensorType)
    def tensor_of_attribute(
        self, interpreter: Interpreter, attr: Attribute, type_attr: TensorType[Attribute]
    ) -> Array:
        """Return the array of a dense attribute, an argument of `--args`."""
        return attribute_value(interpreter.module, attr, type_attr)


TileFunctions = register_impls(
    type(
        "TileFunctions",
        (_WithBodies,),
        {kind.name: impl(kind)(_implementation(meaning)) for kind, meaning in PURE.items()},
    )
)
"""The implementations of all pure operations of tiles and scalars."""
