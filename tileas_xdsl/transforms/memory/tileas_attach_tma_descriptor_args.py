"""The pass `tileas-attach-tma-descriptor-args`: pass TMA descriptors as kernel arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.analysis.memory.tma_descriptors import (
    DescriptorTables,
    check_indices,
    check_lowered,
    descriptor_tables,
    functions_with_descriptors,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.tma.capture import origins
from tileas_xdsl.dialects.nv_tileas.tma.index import (
    DEVICE_TMAS,
    GRID_CONSTANT,
    HOST_TMAS,
    TMA_INDEX,
    counts_of,
)
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import unsliced
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import (
    RECIPE,
    TensorMapRecipe,
    attribute_of,
)
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.transforms.host_tma.recipes import Recipe, recipe_of

HIDDEN = "nv_tileas.hidden"
"""On an argument: one that a launcher fills in from what it has, beside the descriptors."""


@dataclass(frozen=True)
class TileasAttachTmaDescriptorArgs(ModulePass):
    """Add a kernel argument for every TMA descriptor, device descriptors first.

    Needs: functions whose `make_tiled_tma_desc` describe windows of array arguments; the tiles that
    are moved through them have their layouts.  No call of such a function.

    Leaves: descriptors that are born on the host are arguments, those of the device stay and have
    an argument that is their template; both are marked `cute_nvgpu.grid_constant` and have the
    recipe of their tensor map, the arguments before them are hidden.  The function has its counts,
    and every transfer and every descriptor that is left its place in its table, `tmaIdx`.

    Analysis, then rewrite: a function's descriptors are numbered before arguments are added.
    Idempotent: functions that have their counts are left alone, but their indices are checked
    against them.  On a diagnostic it stops the pipeline and leaves the module as it was.
    """

    name = "tileas-attach-tma-descriptor-args"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = functions_with_descriptors(op)
        for function in op.walk():
            if isinstance(function, func.FuncOp):
                check_indices(function)
        for function in functions:
            if counts_of(function) is not None:
                check_lowered(function)
        plans = [self._plan(op, f) for f in functions if counts_of(f) is None]
        for plan in plans:
            plan.rewrite()

    def _plan(self, module: ModuleOp, function: func.FuncOp) -> _Plan:
        _check_not_called(module, function)
        tables = descriptor_tables(function)
        target = module_target(module, self.target)
        device = [_attribute(recipe_of(op, target), whole=True) for op in tables.device]
        host = [_attribute(recipe_of(op, target)) for op in tables.host]
        return _Plan(function, tables, [*device, *host], _indices(function, tables))


def _attribute(recipe: Recipe, *, whole: bool = False) -> DictionaryAttr:
    """A recipe as attribute; a template is of the whole array."""
    window = recipe.window
    return attribute_of(
        TensorMapRecipe(
            window.argument.index,
            recipe.box,
            recipe.element,
            recipe.nan_fill,
            recipe.swizzle,
            is_window=not (whole or window.is_whole),
            pixels=recipe.pixels,
            extents=window.extents,
            slices=recipe.slices,
            is_written=recipe.is_written,
        )
    )


def _check_not_called(module: ModuleOp, function: func.FuncOp) -> None:
    name = function.sym_name.data
    for op in module.walk():
        if isinstance(op, func.CallOp) and op.callee.string_value() == name:
            calls = note(op, "called here")
            raise op_error(function, "gets descriptors from a launch, and is called", [calls])


def _indices(function: func.FuncOp, tables: DescriptorTables) -> Mapping[TmaTransferOp, int]:
    """For each transfer the place of its descriptor in its table."""
    index_of: dict[SSAValue, int] = {}
    for table in (tables.device, tables.host):
        index_of |= {op.result: index for index, op in enumerate(table)}
    transfers = instances_in(function, TmaTransferOp)
    return {op: _index(op, index_of) for op in transfers}


def _index(op: TmaTransferOp, index_of: Mapping[SSAValue, int]) -> int:
    descriptors = [*origins(unsliced(op.operands[0]))]
    if len(descriptors) != 1 or descriptors[0] not in index_of:
        raise op_error(
            op,
            f"moves through one of {len(descriptors)} descriptors; each transfer has its own"
            if len(descriptors) > 1
            else "moves through a descriptor that its function does not make",
        )
    return index_of[descriptors[0]]


@dataclass(frozen=True)
class _Plan:
    """What becomes of a function, all checked."""

    function: func.FuncOp
    tables: DescriptorTables
    recipes: Sequence[DictionaryAttr]
    indices: Mapping[TmaTransferOp, int]

    def rewrite(self) -> None:
        """Append the arguments, and use those of the host."""
        function, tables = self.function, self.tables
        first = len(function.function_type.inputs)
        appended = [self._append(op) for op in tables.all]
        function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in function.body.blocks[0].args],
            function.function_type.outputs.data,
        )
        function.properties["arg_attrs"] = self._attributes(first)
        function.attributes[DEVICE_TMAS] = IntegerAttr(len(tables.device), i32)
        function.attributes[HOST_TMAS] = IntegerAttr(len(tables.host), i32)
        for op, index in self.indices.items():
            op.properties[TMA_INDEX] = IntegerAttr(index, i32)
        for index, op in enumerate(tables.device):
            op.properties[TMA_INDEX] = IntegerAttr(index, i32)
        for op, argument in zip(tables.host, appended[len(tables.device) :], strict=True):
            op.result.replace_all_uses_with(argument)
            Rewriter.erase_op(op)

    def _append(self, op: Operation) -> SSAValue:
        block = self.function.body.blocks[0]
        argument = block.insert_arg(TmaDescType(), len(block.args), op.location)
        argument.name_hint = op.results[0].name_hint
        return argument

    def _attributes(self, first: int) -> ArrayAttr[DictionaryAttr]:
        """Those of all arguments: the first are hidden, the others descriptors."""
        known = self.function.arg_attrs
        before = [DictionaryAttr({}) for _ in range(first)] if known is None else [*known]
        hidden = [DictionaryAttr({**old.data, HIDDEN: UnitAttr()}) for old in before]
        return ArrayAttr([*hidden, *(_descriptor(recipe) for recipe in self.recipes)])


def _descriptor(recipe: DictionaryAttr) -> DictionaryAttr:
    attributes: dict[str, Attribute] = {GRID_CONSTANT: UnitAttr(), RECIPE: recipe}
    return DictionaryAttr(attributes)
