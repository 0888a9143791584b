"""Kernels become functions of the module around; what they are launched with is said there."""

from __future__ import annotations

from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Region
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.structure.control import ReturnOp
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp, GlobalOp
from tileas_xdsl.dialects.nv_tileaa.attributes import (
    ARRAYS_ARE_LISTED,
    CTAS_HINT,
    KERNEL_SPEC,
    WARPS_HINT,
    KernelSpec,
    KernelSpecAttr,
)
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp as AAGlobalOp
from tileas_xdsl.dialects.target_attribute import COMPUTE_CAPABILITY, TARGET_SPEC
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter
from tileas_xdsl.transforms.cudatile_to_tileaa.rules import RULES
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.control_flow import Frame, finish
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.target import Capability
from tileas_xdsl.transforms.cudatile_to_tileaa.structure.warp_count import (
    default_warps,
    enough_warps,
)
from tileas_xdsl.transforms.cudatile_to_tileaa.types import converted_type


def convert_kernel(entry: EntryOp, capability: Capability) -> func.FuncOp:
    """The function of a kernel."""
    source = entry.body.block
    types = [converted_type(argument.type) for argument in source.args]
    block = Block(arg_types=types)
    builder = Builder(InsertPoint.at_end(block))
    c = Converter(RULES, capability.hints, builder, location=entry.location)
    for argument, made in zip(source.args, block.args, strict=True):
        made.location = argument.location
    c.bind(source.args, block.args)
    finish(c, list(source.ops), Frame([], {ReturnOp: lambda _: []}, list))
    c.insert(func.ReturnOp())
    name = entry.properties["sym_name"]
    assert isinstance(name, StringAttr)
    made = func.FuncOp(name.data, FunctionType.from_lists(types, []), Region(block))
    made.location = entry.location
    made.attributes.update(_attributes(entry, capability))
    return made


def _attributes(entry: EntryOp, capability: Capability) -> dict[str, Attribute]:
    hints = entry.optimization_hints
    found: dict[str, Attribute] = {
        KERNEL_SPEC: KernelSpecAttr(_spec(entry, capability)),
        COMPUTE_CAPABILITY: IntegerAttr(capability.number, i32),
        TARGET_SPEC: StringAttr(capability.name),
    }
    if ARRAYS_ARE_LISTED in entry.attributes:
        found[ARRAYS_ARE_LISTED] = UnitAttr()
    if (blocks := _hint(hints, capability, "num_cta_in_cga")) is not None:
        found[CTAS_HINT] = IntegerAttr(blocks, i32)
    if (warps := _hint(hints, capability, "num_worker_warps_per_cta")) is not None:
        found[WARPS_HINT] = IntegerAttr(warps, i32)
    return found


def _spec(entry: EntryOp, capability: Capability) -> KernelSpec:
    hints = entry.optimization_hints
    warps = _hint(hints, capability, "num_worker_warps_per_cta")
    return KernelSpec(
        num_warps=enough_warps(entry, warps) if warps else default_warps(entry),
        occupancy=_hint(hints, capability, "occupancy") or KernelSpec().occupancy,
    )


def _hint(hints: Any, capability: Capability, name: str) -> int | None:
    if not isinstance(hints, OptimizationHintsAttr):
        return None
    hint = hints.get(capability.hints, name)
    return hint.value.data if isinstance(hint, IntegerAttr) else None


def convert_global(op: GlobalOp) -> AAGlobalOp:
    """Convert a global variable to that of `nv_tileaa`."""
    name = op.properties["sym_name"]
    assert isinstance(name, StringAttr)
    alignment = None if op.alignment is None else op.alignment.value.data
    made = AAGlobalOp(name.data, op.value, alignment or None)
    made.location = op.location
    return made
