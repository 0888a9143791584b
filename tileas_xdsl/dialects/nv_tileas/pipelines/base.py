"""What the table of the pipeline family means for an operation: its state, its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.pipelines.family import Body, Kind, PipelineEntry
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp
from tileas_xdsl.dialects.nv_tileas.types import (
    AsyncTokenType,
    ConsumerTokenType,
    IteratorType,
    ProducerTokenType,
)

Operand: TypeAlias = SSAValue | Operation
AttributeValue: TypeAlias = Attribute | int | bool | Sequence[int] | Sequence[Attribute] | None


@dataclass(frozen=True)
class AttributeForm:
    """One form of attributes: how to make it of a Python value, and how to know it."""

    word: str
    make: Callable[[Any], Attribute]
    fits: Callable[[Attribute], bool]


def _integer(type_: IntegerType, word: str) -> AttributeForm:
    return AttributeForm(
        word,
        lambda value: IntegerAttr(value, type_),
        lambda found: _is_integer(found, type_),
    )


def _is_integer(found: Attribute, type_: IntegerType) -> bool:
    return isinstance(found, IntegerAttr) and cast("IntegerAttr", found).type == type_


def _is_i32_list(found: Attribute) -> bool:
    return isinstance(found, DenseArrayBase) and cast("DenseArrayBase", found).elt_type == i32


def _is_type_list(found: Attribute) -> bool:
    if not isinstance(found, ArrayAttr):
        return False
    return all(isinstance(item, TypeAttribute) for item in cast("ArrayAttr[Attribute]", found))


_I32 = _integer(i32, "an i32")
_U8 = _integer(i8, "an i8")
_FLAG = AttributeForm(
    "a bool",
    BoolAttr.from_bool,
    lambda found: _is_integer(found, i1),
)
_TYPES = AttributeForm("a list of types", ArrayAttr, _is_type_list)
_I32_LIST = AttributeForm(
    "an array of i32",
    lambda values: DenseArrayBase.from_list(i32, values),
    _is_i32_list,
)

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

_RESULT_TYPES: Mapping[Kind, Attribute] = {
    Kind.PRODUCER: ProducerTokenType(),
    Kind.CONSUMER: ConsumerTokenType(),
    Kind.ASYNC: AsyncTokenType(),
}


@dataclass(frozen=True)
class OperationState:
    """What an operation of the family is made of, grouped as its definition groups it."""

    operands: Sequence[Operand | Sequence[Operand]]
    result_types: Sequence[Attribute | Sequence[Attribute]]
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: Sequence[Region | Sequence[Region]] = ()


def operation_state(
    entry: PipelineEntry,
    operands: Sequence[Operand],
    *,
    payload: Sequence[Attribute] = (),
    bodies: Sequence[Region] = (),
    iterator: IteratorType | None = None,
    attributes: Mapping[str, AttributeValue],
) -> OperationState:
    """The state of an operation of the family, from what a person has in hand.

    `payload` are the types of the results for a stage's values, `iterator` is that of the result
    of `create_iterator`; other result types follow from the table.  A list of types that is
    missing is that of the iterator, a stage body that is missing is an empty block.
    """
    values = [SSAValue.get(operand) for operand in operands]
    given = {name: value for name, value in attributes.items() if value is not None}
    if entry.type_lists and not any(name in given for name in entry.type_lists):
        given[entry.type_lists[0]] = payload_types(values)
    properties = {name: _attribute(name, value) for name, value in given.items()}
    results: list[Attribute | Sequence[Attribute]] = [
        _result_type(kind, values, iterator) for kind in entry.gives
    ]
    if entry.has_payload:
        results.append(list(payload))
    return OperationState(
        [values] if entry.is_variadic else values,
        results,
        properties,
        _regions(entry, bodies, properties),
    )


def payload_types(operands: Sequence[SSAValue]) -> tuple[Attribute, ...]:
    """The types of a stage's values, by the first iterator among `operands`."""
    iterators = (v.type for v in operands if isinstance(v.type, IteratorType))
    return next((tuple(type_.payload_types) for type_ in iterators), ())


def _attribute(name: str, value: AttributeValue) -> Attribute:
    return value if isinstance(value, Attribute) else ATTRIBUTE_FORMS[name].make(value)


def _result_type(
    kind: Kind, operands: Sequence[SSAValue], iterator: IteratorType | None
) -> Attribute:
    if kind is not Kind.ITERATOR:
        return _RESULT_TYPES[kind]
    if iterator is not None:
        return iterator
    return operands[0].type


def _regions(
    entry: PipelineEntry, bodies: Sequence[Region], properties: Mapping[str, Attribute]
) -> Sequence[Region | Sequence[Region]]:
    match entry.body:
        case Body.NONE:
            return ()
        case Body.OPTIONAL | Body.AGENTS:
            return (list(bodies),)
        case Body.REQUIRED:
            if bodies:
                return list(bodies)
            types = next(properties[name] for name in entry.type_lists if name in properties)
            return (Region(Block(arg_types=types)),)  # pyright: ignore[reportArgumentType]


class PipelineOp(TileasOp):
    """Base of the family: an operation with an entry in its table."""

    ENTRY: ClassVar[PipelineEntry]

    def __init__(
        self,
        operands: Sequence[Operand],
        *,
        payload: Sequence[Attribute] = (),
        bodies: Sequence[Region | None] = (),
        iterator: IteratorType | None = None,
        **attributes: AttributeValue,
    ) -> None:
        """Make the operation of `ENTRY`, as `operation_state` does; a body may be missing."""
        state = operation_state(
            self.ENTRY,
            operands,
            payload=payload,
            bodies=[body for body in bodies if body is not None],
            iterator=iterator,
            attributes=attributes,
        )
        super().__init__(
            operands=state.operands,
            result_types=state.result_types,
            properties=state.properties,
            regions=state.regions,
        )

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
