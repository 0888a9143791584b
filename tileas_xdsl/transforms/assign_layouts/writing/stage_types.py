"""The tiles of stages in lists of types, and in the types of iterators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from tileas_xdsl.analysis.layouts.tile_groups import (
    StagePart,
    TileGroup,
    stage_parts,
)
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    CreateIteratorOp,
    IncIterOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import (
    TokenFault,
    carried_values,
    pipelines_of,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Choice
from tileas_xdsl.transforms.assign_layouts.request import Assignment
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import (
    encoding_of,
    set_type,
    typed,
)


def retype_pipelines(root: Operation, chosen: Mapping[TileGroup, Choice], a: Assignment) -> None:
    """The tiles of stages in lists of types and in types of iterators."""
    for op in operations_in(root):
        if isinstance(op, StageOp):
            _retype_lists(op, chosen, a)
        for value in (*op.results, *(v for r in op.regions for b in r.blocks for v in b.args)):
            if type(value.type) is IteratorType:
                _retype_iterator(value, value.type, chosen, a)


def _retype_lists(op: StageOp, chosen: Mapping[TileGroup, Choice], a: Assignment) -> None:
    parts = stage_parts(op)
    for name in op.ENTRY.type_lists:
        if (listed := op.properties.get(name)) is not None:
            types = cast("ArrayAttr[Attribute]", listed).data
            op.properties[name] = ArrayAttr(_laid_out(types, parts, chosen, a))


def _retype_iterator(
    value: SSAValue, type_: IteratorType, chosen: Mapping[TileGroup, Choice], a: Assignment
) -> None:
    pipelines = _pipelines_of_iterator(value)
    parts = [[StagePart(p, k) for p in pipelines] for k in range(len(type_.payload_types))]
    types = _laid_out(type_.payload_types, parts, chosen, a)
    is_tuple = isinstance(type_.payload, TupleType)
    payload = (
        TupleType(cast("ArrayAttr[TypeAttribute]", ArrayAttr(types))) if is_tuple else types[0]
    )
    set_type(value, IteratorType.new([payload, type_.count, type_.space]))


def _laid_out(
    types: Sequence[Attribute],
    parts: Sequence[Sequence[StagePart]],
    chosen: Mapping[TileGroup, Choice],
    a: Assignment,
) -> Sequence[Attribute]:
    made: list[Attribute] = []
    for type_, mine in zip(types, parts, strict=True):
        groups = (a.groups.of(part) for part in mine)
        choice = next((chosen[g] for g in groups if g is not None and g in chosen), None)
        made.append(type_ if choice is None else typed(type_, encoding_of(choice)))
    return made


def _pipelines_of_iterator(iterator: SSAValue) -> Sequence[CreatePipelineOp]:
    """The pipelines whose stages an iterator may count."""
    pending, seen = [iterator], {iterator}
    found: dict[CreatePipelineOp, None] = {}
    while pending:
        for value in carried_values(pending.pop()):
            owner = value.owner
            if isinstance(owner, IncIterOp) and owner.iterator not in seen:
                seen.add(owner.iterator)
                pending.append(owner.iterator)
            elif isinstance(owner, CreateIteratorOp):
                pipelines = pipelines_of(owner.operands[0])
                found.update(dict.fromkeys(() if isinstance(pipelines, TokenFault) else pipelines))
    return list(found)
