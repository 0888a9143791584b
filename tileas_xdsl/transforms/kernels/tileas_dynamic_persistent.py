"""The pass `tileas-dynamic-persistent`: a CTA takes over tile blocks that have not started.

func.func @k(...)                              func.func @k(...)
  %i = gpu.block_id x                            %b = gpu.block_id x
  %acc = scf.for %k { dot }              ->      scf.while (%t = %b) {
  tiled_store %acc, %view[%i]                      %valid = arith.cmpi sge, %t, 0
                                                   scf.condition(%valid) %t
                                                 } do {
                                                   %acc = scf.for %k { dot }
                                                   tiled_store %acc, %view[%t]
                                                   %next = nv_tileas.cancel_next_program_id
                                                   scf.yield %next }

A launch is that of the program.  The hardware starts as many CTAs as have room; each asks for one
that has not started (`clusterlaunchcontrol`, PTX ISA 9.7.13.17), computes its tile block in its
place, and ends where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import emit_remark, emit_warning
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.control import CancelNextProgramIdOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.kernels.tileas_make_persistent import (
    NOT_PERSISTENT,
    operations_of_tile_block,
    what_forbids,
)


@dataclass(frozen=True)
class TileasDynamicPersistent(ModulePass):
    """Make the kernel into dynamic persistent kernels.

    Tile blocks may differ in length: a CTA that is done takes the next one, whose loads its
    producer begins while the results before are stored.  It is right where tile blocks are
    independent, as for `tileas-make-persistent`, on targets with `clusterlaunchcontrol`; a kernel
    that stays says why.  No pipeline has it: `tileas compile --persistent dynamic` asks for it.

    Emits: a warning for a kernel that is dynamic already, which stays; a remark why another stays.
    """

    name = "tileas-dynamic-persistent"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for kernel in [one for one in op.ops if isinstance(one, func.FuncOp)]:
            if not kernel.is_declaration:
                _make_dynamic(kernel, target)


def _make_dynamic(kernel: func.FuncOp, target: Target) -> None:
    if has_instance(kernel, CancelNextProgramIdOp):
        emit_warning(kernel, message("dynamic_persistent.kernel_already"), prefix=False)
        return
    ids = instances_in(kernel, gpu.BlockIdOp)
    if (why := _why_it_stays(kernel, target, ids)) is not None:
        kernel.attributes[NOT_PERSISTENT] = StringAttr(why)
        emit_remark(kernel, f"is not persistent: {why}", prefix=False)
    else:
        _write(kernel, ids)


def _why_it_stays(kernel: func.FuncOp, target: Target, ids: Sequence[gpu.BlockIdOp]) -> str | None:
    if spec_of(kernel).persistent:
        return "its CTAs take tile blocks as far apart as there are CTAs"
    if not any(op.result.uses for op in ids):
        return "no tile block reads its number"
    if spec_of(kernel).tile_block_ctas > 1:
        return "several CTAs take each tile block together"
    lacks = target.lacks(Feature.LAUNCH_CONTROL, "takes tile blocks by clusterlaunchcontrol, which")
    return lacks or what_forbids(kernel, equally_long=False)


def _write(kernel: func.FuncOp, ids: Sequence[gpu.BlockIdOp]) -> None:
    """Put what depends on the tile block into a loop over those that are taken."""
    inside, end = operations_of_tile_block(kernel), kernel.body.block.last_op
    assert end is not None
    axes = sorted({_axis(op) for op in ids if op.result.uses})
    build = Builder(InsertPoint.before(end))
    first = [_own_number(build, axis) for axis in axes]
    types = [i32] * len(axes)
    before, after = Block(arg_types=types), Block(arg_types=types)
    test = Builder(InsertPoint.at_end(before))
    zero = test.insert(arith.ConstantOp.from_int_and_width(0, i32)).result
    taken = test.insert(arith.CmpiOp(before.args[0], zero, "sge")).result
    test.insert(scf.ConditionOp(taken, *before.args))
    numbers = [arith.IndexCastOp(number, IndexType()) for number in after.args]
    after.add_ops(numbers)
    for op in ids:
        used = [numbers[axes.index(_axis(op))].result] if op.result.uses else [None]
        Rewriter.replace_op(op, [], used)
    for op in inside:
        if op not in ids:
            op.detach()
            after.add_op(op)
    following = CancelNextProgramIdOp(len(axes), with_validity=False)
    after.add_ops([following, scf.YieldOp(*following.results)])
    build.insert(scf.WhileOp(first, types, Region(before), Region(after)))


def _axis(op: gpu.BlockIdOp) -> int:
    return AXES.index(str(op.dimension.data))


_DIMENSIONS = (gpu.DimensionEnum.X, gpu.DimensionEnum.Y, gpu.DimensionEnum.Z)


def _own_number(build: Builder, axis: int) -> SSAValue:
    """The number along an axis of the CTA that starts."""
    found = build.insert(gpu.BlockIdOp(gpu.DimensionAttr(_DIMENSIONS[axis]))).result
    return build.insert(arith.IndexCastOp(found, i32)).result
