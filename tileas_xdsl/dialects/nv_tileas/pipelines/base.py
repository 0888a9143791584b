"""What the table of the pipeline family means for an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.pipelines.family import Body, Kind, PipelineEntry
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType

Operand: TypeAlias = SSAValue | Operation


def _integer(type_: IntegerType) -> Callable[[Attribute], bool]:
    def fits(found: Attribute) -> bool:
        return isinstance(found, IntegerAttr) and cast("IntegerAttr", found).type == type_

    return fits


def _is_i32_list(found: Attribute) -> bool:
    return isinstance(found, DenseArrayBase) and cast("DenseArrayBase", found).elt_type == i32


def _is_type_list(found: Attribute) -> bool:
    if not isinstance(found, ArrayAttr):
        return False
    return all(isinstance(item, TypeAttribute) for item in cast("ArrayAttr[Attribute]", found))


class AttributeForm(NamedTuple):
    """One form of attributes, as error messages call it, and how to know it."""

    word: str
    fits: Callable[[Attribute], bool]


_I32 = AttributeForm("an i32", _integer(i32))
_U8 = AttributeForm("an i8", _integer(i8))
_FLAG = AttributeForm("a bool", _integer(i1))
_TYPES = AttributeForm("a list of types", _is_type_list)
_I32_LIST = AttributeForm("an array of i32", _is_i32_list)

ATTRIBUTE_FORMS: Mapping[str, AttributeForm] = {
    "numStages": _I32,
    "producerGroupId": _U8,
    "consumerGroupId": _U8,
    "sharedMem": _FLAG,
    "dynamic": _FLAG,
    "producer_types": _TYPES,
    "consumer_types": _TYPES,
    "consumer_idx": _I32,
    "num_agents_per_group": _I32,
    "max_regs": _I32_LIST,
    "isolated": _FLAG,
    "num_warps": _I32_LIST,
    "warp_id": _I32_LIST,
    "agent_strides": _I32_LIST,
}
"""The form of each attribute of the family."""


def payload_types(operands: Sequence[SSAValue]) -> tuple[Attribute, ...]:
    """The types of a stage's values, by the first iterator among `operands`."""
    iterators = (v.type for v in operands if isinstance(v.type, IteratorType))
    return next((tuple(type_.payload_types) for type_ in iterators), ())


class PipelineOp(TileasOp):
    """Base of the family: an operation with an entry in its table."""

    ENTRY: ClassVar[PipelineEntry]

    def check_structure(self) -> None:
        """Operands, results, regions and attributes are those of the table."""
        check_kinds(self, self.ENTRY)
        check_regions(self, self.ENTRY)
        check_attributes(self, self.ENTRY)


def check_kinds(op: Operation, entry: PipelineEntry) -> None:
    """Operands and results are of the right kinds, in the right number."""
    taken, given = [v.type for v in op.operands], [v.type for v in op.results]
    if not entry.is_variadic and not _fits(entry.takes, taken):
        raise op_error(op, f"takes {_listed(entry.takes)}, but got ({types_text(taken)})")
    tokens = given[: len(entry.gives)] if entry.has_payload else given
    if not _fits(entry.gives, tokens):
        more = ", then the payload," if entry.has_payload else ","
        raise op_error(op, f"gives {_listed(entry.gives)}{more} but got ({types_text(given)})")


def _fits(kinds: Sequence[Kind], types: Sequence[Attribute]) -> bool:
    return len(kinds) == len(types) and all(
        kind.accepts(type_) for kind, type_ in zip(kinds, types, strict=True)
    )


def _listed(kinds: Sequence[Kind]) -> str:
    return " and ".join(kinds) or "nothing"


def types_text(types: Sequence[Attribute]) -> str:
    """Types as MLIR lists them: with commas between."""
    return ", ".join(str(type_) for type_ in types)


def check_regions(op: Operation, entry: PipelineEntry) -> None:
    """The right number of regions, each with one block."""
    count = len(op.regions)
    if entry.body is Body.NONE and count:
        raise op_error(op, message("nv_tileas.op.regions"))
    if entry.body is Body.OPTIONAL and count > 1:
        raise op_error(op, f"has at most one body, but got {count}")
    if entry.body is Body.REQUIRED and count != 1:
        raise op_error(op, f"has one body, but got {count}")
    if entry.body is Body.AGENTS and not count:
        raise op_error(op, "has a body for each agent, but got none")
    for region in op.regions:
        if (blocks := len(region.blocks)) != 1:
            raise op_error(op, f"has bodies of one block, but got one of {blocks}")


def check_attributes(op: TileasOp, entry: PipelineEntry) -> None:
    """The attributes that the table requires are there, and all have their forms."""
    for name in entry.required:
        if name not in op.properties:
            raise op_error(op, f"requires attribute '{name}'")
    if entry.type_lists and not any(name in op.properties for name in entry.type_lists):
        raise op_error(op, f"requires attribute '{entry.type_lists[0]}'")
    for name, value in op.properties.items():
        if name not in entry.attributes:
            raise op_error(op, f"has no attribute '{name}'")
        if not (form := ATTRIBUTE_FORMS[name]).fits(value):
            raise op_error(op, f"attribute '{name}' is {form.word}, but got {value}")
