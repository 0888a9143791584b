"""Convert a function of `convert-cute-to-nvgpu`: its signature, its body, its launch attributes.

A view of global memory as a parameter becomes its pointer and the dynamic leaves of its layout,
each a parameter of its own, described for the launch; what its type states needs no parameter:

    func.func @open(%a: !cute.memref<f32, gmem, "(?,?):(?,1)">, %x: f32)
    func.func @open(%a: !cute.ptr<f32, gmem>, %a_1: i32, %a_2: i32, %a_3: i32, %x: f32)
        attributes {tileas.parameters = ["ptr 0", "size 0 0", "size 0 1", "stride 0 0", "scalar 1"]}

The body is converted by the handler table; an operation of another dialect must not use a value of
`cute` that is taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import AddressSpace, PtrType
from tileas_xdsl.dialects.cute.base.operation import CuteOp
from tileas_xdsl.dialects.cute.base.symbolic_values import leaves, symbol
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.expr.expression import Expression
from tileas_xdsl.layout.int_tuple import wrap
from tileas_xdsl.transforms.cute_to_nvgpu.control_flow import (
    convert_for,
    convert_if,
    convert_regions,
)
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter, Handler
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tensor_maps import TensorMaps
from tileas_xdsl.transforms.cute_to_nvgpu.handlers import MAKERS, handler_of

PARAMETERS, TENSOR_MAPS = "tileas.parameters", "tileas.tensor_maps"
SHARED_BYTES, SHARED_MAP = "tileas.smem_bytes", "tileas.smem_map"
KERNEL = "cute.kernel"


def convert_function(function: func.FuncOp) -> None:
    """Replace all operations of `cute` that are no accesses, pointers or fragments."""
    takes = any(_is_view(argument.type) for argument in function.body.blocks[0].args)
    if not takes and not any(_concerns(op) for op in operations_in(function)):
        return
    if len(function.body.blocks) != 1:
        raise op_error(function, "has branches: convert-cute-to-nvgpu takes structured loops")
    block = function.body.block
    end = block.last_op
    assert end is not None
    held = function.attributes.get(SHARED_BYTES)
    taken = held.value.data if isinstance(held, IntegerAttr) else 0
    conv = Converter(_handler, end, TensorMaps(block), taken)
    parameters = _convert_arguments(function, block, conv)
    conv.run(block)
    conv.finish()
    for argument in reversed(block.args):
        if argument in conv.leaves:
            block.erase_arg(argument)
    function.update_function_type()
    _describe(function, parameters, conv)


def _concerns(op: Operation) -> bool:
    return isinstance(op, (CuteOp, *MAKERS)) or any(
        _is_view(v.type) for v in (*op.operands, *op.results)
    )


def _is_view(type_: Attribute) -> bool:
    """Whether values of a type are expanded: all of `cute` but pointers."""
    return type_.name.startswith("cute.") and not isinstance(type_, PtrType)


def _handler(op: Operation) -> Handler | None:
    if isinstance(op, scf.ForOp | scf.IfOp) or op.regions:
        _check_outside(op)
        return _REGIONS.get(type(op), convert_regions)
    found = handler_of(op)
    if found is None:
        _check_outside(op)
    return found


_REGIONS: dict[type[Operation], Handler] = {scf.ForOp: convert_for, scf.IfOp: convert_if}


def _check_outside(op: Operation) -> None:
    """Raise where an operation of another dialect uses a value of `cute` that is expanded."""
    arguments = [argument for r in op.regions for b in r.blocks for argument in b.args]
    for value in (*op.operands, *op.results, *arguments):
        if _is_view(value.type):
            raise op_error(op, f"hands on {value.type}, which only operations of cute do")


# Arguments


def _convert_arguments(
    function: func.FuncOp, block: Block, conv: Converter
) -> Sequence[str] | None:
    """Expand view parameters; return the descriptions of all, None where one has no name."""
    parameters: list[str] | None = []
    for index, argument in enumerate(tuple(block.args)):
        found = _parameter(function, index, argument, conv)
        parameters = None if parameters is None or found is None else [*parameters, *found]
    return parameters


def _parameter(
    function: func.FuncOp, number: int, argument: BlockArgument, conv: Converter
) -> Sequence[str] | None:
    type_ = argument.type
    if isinstance(type_, PtrType):
        return [f"ptr {number}"]
    if not type_.name.startswith("cute"):
        return [f"scalar {number}"]
    if not _is_view(type_):
        return None
    if not isinstance(type_, MemRefType) or type_.space is not AddressSpace.GMEM:
        raise op_error(
            function, f"takes views of gmem, pointers and scalars, not {type_}", prefix=False
        )
    pointer = PtrType(type_.element_type, type_.space, type_.align, type_.swizzle)
    conv.pointers[argument] = _inserted(argument, pointer)
    conv.maps.arrays[argument] = number
    unknown = leaves(symbol(argument))
    conv.leaves[argument] = [_inserted(argument, IntegerType(n.width)) for n in unknown]
    sizes = list(_open(number, type_))
    return [f"ptr {number}", *sizes] if len(sizes) == len(unknown) else None


def _inserted(argument: BlockArgument, type_: Attribute) -> SSAValue:
    """Insert a block argument in front of another, with its name."""
    made = argument.block.insert_arg(type_, argument.index)
    made.name_hint = argument.name_hint
    return made


def _open(number: int, type_: MemRefType) -> Iterator[str]:
    """Yield the names, for a launch, of the dynamic extents and strides of a flat layout."""
    layout = type_.layout
    if not isinstance(layout, Layout) or layout.depth > 1:
        return
    for what, tree in (("size", layout.shape), ("stride", layout.stride)):
        for axis, leaf in enumerate(wrap(tree)):
            if isinstance(leaf, Expression):
                yield f"{what} {number} {axis}"


def _describe(function: func.FuncOp, parameters: Sequence[str] | None, conv: Converter) -> None:
    """Write the launch attributes of a kernel that it does not have itself."""
    if conv.maps.recipes and (KERNEL not in function.attributes or _says_parameters(function)):
        raise op_error(
            function, f"asks for tensor maps: it is a {KERNEL} that does not list its parameters"
        )
    if KERNEL not in function.attributes:
        return
    function.attributes[SHARED_BYTES] = IntegerAttr(conv.smem_bytes, i32)
    if PARAMETERS not in function.attributes:
        if parameters is None:
            raise op_error(function, f"says by {PARAMETERS} what its parameters are")
        names = [StringAttr(name) for name in (*parameters, *conv.maps.parameters)]
        function.attributes[PARAMETERS] = ArrayAttr(names)
    function.attributes.setdefault(TENSOR_MAPS, ArrayAttr([*conv.maps.recipes]))
    function.attributes.setdefault(SHARED_MAP, StringAttr(""))


def _says_parameters(function: func.FuncOp) -> bool:
    return PARAMETERS in function.attributes or TENSOR_MAPS in function.attributes
