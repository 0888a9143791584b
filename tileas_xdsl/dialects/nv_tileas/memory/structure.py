"""The structure of memory operations: operand segments, optional tokens, and the first checks.

`operandSegmentSizes` gives the number of operands of each segment.  The last segment of an
operation may be left out of the list when it is empty: `{view, coords, offsets, token}` is
`{view, coords, offsets, token, mask}` without a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerType, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OperandDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    VarOperandDef,
)
from xdsl.parser import Parser
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.fields import opt_attr, opt_prop, prop
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import MemScopeAttr, MemSemanticAttr
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Atom,
    OptFlag,
    OptFlags,
    OptLayout,
    OptScope,
    OptSemantic,
    atom_attribute,
    flag_attribute,
    flags_attribute,
    scope_attribute,
    semantic_attribute,
)
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates, Ordering
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

SEGMENTS = "operandSegmentSizes"


class MemoryOp(TileasOp):
    """Base of operations that access memory; checks structure and required attributes first."""

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = False
    """Whether `operandSegmentSizes` may leave out the last segment."""

    REFUSED: ClassVar[tuple[str, ...]] = ()
    """Attributes that sister operations have and this one must not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _complete_segments(self)

    def check_structure(self) -> None:
        _check_no_regions(self)
        _check_no_successors(self)
        _check_result_count(self)
        _check_segments(self)
        _check_required_attributes(self)
        _check_refused_attributes(self)


class OrderedOp(MemoryOp):
    """Base of accesses that the memory model orders."""

    mem_semantic: OptSemantic = opt_prop(
        MemSemanticAttr, default=None, kw_only=True, convert=semantic_attribute, alias="semantic"
    )
    mem_scope: OptScope = opt_prop(
        MemScopeAttr, default=None, kw_only=True, convert=scope_attribute, alias="scope"
    )

    custom_directives = (Coordinates, Ordering)


class AccessOp(OrderedOp):
    """Base of loads, stores and updates by an atom; descriptors may see the tile in `layout`."""

    atom: Atom = prop(AtomAttr, kw_only=True, convert=atom_attribute)
    layout: OptLayout = opt_attr(
        LayoutAttr, default=None, attr_name="nv_tileas.layout", kw_only=True
    )


class ViewAccessOp(AccessOp):
    """Base of accesses to a view of an array, of which parts of a tile may be out of bounds."""

    in_bounds: OptFlags = opt_prop(
        DenseArrayBase.constr(i1), default=None, kw_only=True, convert=flags_attribute
    )
    allow_tma: OptFlag = opt_prop(BoolAttr, default=None, kw_only=True, convert=flag_attribute)


OpT = TypeVar("OpT", bound=MemoryOp)


def memory_op(cls: type[OpT]) -> type[OpT]:
    """Define a memory operation; its text may state `operandSegmentSizes`, which is checked."""
    defined: Any = tileas_op(cls)
    parse: Callable[[Parser], Any] = defined.parse

    def parse_with_segments(_: type[Any], parser: Parser) -> Any:
        start = parser.pos
        with _segments_in_dictionary(parser) as written:
            op = parse(parser)
        if written and not _agree(op, written[0]):
            text = message("nv_tileas.op.segment_sizes")
            parser.raise_error(text, start, start + 1)
        return op

    defined.parse = classmethod(parse_with_segments)
    return defined


@contextmanager
def _segments_in_dictionary(parser: Parser) -> Generator[list[Attribute]]:
    """Let attribute dictionaries state the segments, and collect what they state."""
    read, written = parser.parse_optional_attr_dict, list[Attribute]()

    def parse_optional_attr_dict() -> dict[str, Attribute]:
        attributes = dict(read())
        if (sizes := attributes.pop(SEGMENTS, None)) is not None:
            written.append(sizes)
        return attributes

    parser.parse_optional_attr_dict = parse_optional_attr_dict
    try:
        yield written
    finally:
        del parser.parse_optional_attr_dict


def _agree(op: MemoryOp, written: Attribute) -> bool:
    sizes = _segment_sizes(op)
    short = None if sizes is None or not op.LAST_SEGMENT_MAY_LACK or sizes[-1] else sizes[:-1]
    found = written.get_values() if isa(written, DenseArrayBase[IntegerType]) else None
    return found is not None and found in (sizes, short)


def _operand_count(op: MemoryOp) -> int:
    return len(op.get_irdl_definition().operands)


def _complete_segments(op: MemoryOp) -> None:
    """Add the last segment if the list leaves it out."""
    sizes = _segment_sizes(op)
    if op.LAST_SEGMENT_MAY_LACK and sizes is not None and len(sizes) == _operand_count(op) - 1:
        op.properties[SEGMENTS] = DenseArrayBase.from_list(i32, [*sizes, 0])


def _segment_sizes(op: MemoryOp) -> tuple[int, ...] | None:
    sizes = op.properties.get(SEGMENTS)
    if not isinstance(sizes, DenseArrayBase):
        return None
    sizes = cast("DenseArrayBase[IntegerType]", sizes)
    return sizes.get_values() if sizes.elt_type == i32 else None


def _check_no_regions(op: MemoryOp) -> None:
    if op.regions:
        raise op_error(op, message("nv_tileas.op.regions"))


def _check_no_successors(op: MemoryOp) -> None:
    if op.successors:
        found = len(op.successors)
        raise op_error(op, message("nv_tileas.op.successors", found=found))


def _check_result_count(op: MemoryOp) -> None:
    defs = [definition for _, definition in op.get_irdl_definition().results]
    optional = sum(isinstance(definition, OptResultDef) for definition in defs)
    needed, found = len(defs) - optional, len(op.results)
    if optional and found >= needed:
        _check_group(op, "nv_tileas.op.result_group", needed, found - needed)
    elif found != needed:
        least = "at least " if optional else ""
        results = "result" if needed == 1 else "results"
        raise op_error(op, f"requires {least}{needed} {results}, but found {found}")


def _check_group(op: MemoryOp, key: str, start: int, found: int) -> None:
    if found > 1:
        raise op_error(op, message(key, index=start, found=found))


def _check_segments(op: MemoryOp) -> None:
    definition = op.get_irdl_definition()
    defs = [definition for _, definition in definition.operands]
    if not any(isinstance(option, AttrSizedOperandSegments) for option in definition.options):
        return _check_operand_count(op)
    sizes = _segment_sizes(op)
    if sizes is None or len(sizes) != len(defs):
        raise op_error(op, message("nv_tileas.op.segment_sizes"))
    if min(sizes) < 0 or sum(sizes) != len(op.operands):
        raise op_error(op, message("nv_tileas.op.segment_sizes"))
    start = 0
    for segment, found in zip(defs, sizes, strict=True):
        _check_segment(op, segment, start, found)
        start += found
    return None


def _check_operand_count(op: MemoryOp) -> None:
    if len(op.operands) != _operand_count(op):
        raise op_error(op, f"requires {_operand_count(op)} operands, but found {len(op.operands)}")


def _check_segment(op: MemoryOp, segment: OperandDef, start: int, found: int) -> None:
    if isinstance(segment, OptOperandDef):
        _check_group(op, "nv_tileas.op.operand_group", start, found)
    elif not isinstance(segment, VarOperandDef) and found != 1:
        raise op_error(
            op, f"operand group starting at #{start} requires 1 element, but found {found}"
        )


_VERBATIM = {"rmw_mode": message("nv_tileas.tiled_atomic_rmw.requires_mode")}


def _check_required_attributes(op: MemoryOp) -> None:
    """All that the operation cannot do without; `rmw_mode` comes first."""
    properties = op.get_irdl_definition().properties
    needed = [name for name, d in properties.items() if not isinstance(d, OptPropertyDef)]
    for name in sorted(needed, key=lambda name: name not in _VERBATIM):
        if name in op.properties:
            continue
        raise op_error(op, _VERBATIM.get(name, f"requires attribute '{name}'"))


def _check_refused_attributes(op: MemoryOp) -> None:
    for name in op.REFUSED:
        if name in op.properties or name in op.attributes:
            raise op_error(op, f"does not support attribute '{name}'")
