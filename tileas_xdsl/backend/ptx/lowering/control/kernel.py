"""Lower functions marked `cute.kernel` to entries: parameters, launch bounds, shared memory.

    func.func @k(%n: i32, %out: !cute.ptr<i32, gmem>)      .visible .entry k(
        attributes {cute.kernel,                               .param .u32 k_param_0,
                    nvvm.reqntid = array<i32: 128, 1, 1>}      .param .u64 k_param_1)
                                                           .reqntid 128, 1, 1
                                                           ld.param.u64 %rd0, [k_param_1];
                                                           cvta.to.global.u64 %rd1, %rd0;

Pointers to global memory are parameters of 64 bits, `index` and `i32` of 32; a tensor map is 128
bytes, aligned to 64 (CUDA driver API, `CUtensorMap`). What a launch must know (attributes
`tileas.*`) stays on the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from tileas_xdsl.backend.ptx.lowering.families import HANDLERS
from tileas_xdsl.backend.ptx.lowering.forms import form_of
from tileas_xdsl.backend.ptx.lowering.lowering import Lowering
from tileas_xdsl.backend.ptx.lowering.memory.addresses import SHARED
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in, operations_of
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute import AddressSpace, PtrType
from tileas_xdsl.dialects.cute_nvgpu import (
    GetDynSmemOp,
    MbarrierArriveOp,
    PairTmaLoadOp,
    SetMaxRegisterOp,
    TmaDescriptorTiledType,
    TmaLoadOp,
    WarpIdxOp,
)
from tileas_xdsl.dialects.ir_queries import has_trait
from tileas_xdsl.dialects.kinds import Kinds, has_instance
from tileas_xdsl.dialects.ptx.structure.entries import is_name
from tileas_xdsl.dialects.ptx.types import ParamType
from tileas_xdsl.target.arch import Target

KERNEL = "cute.kernel"
THREADS = "nvvm.reqntid"
CLUSTER = "nvvm.cluster_dim"
BLOCKS = "nvvm.minctasm"
REGISTERS = "nvvm.maxnreg"
KEPT = "tileas."
"""Prefix of the attributes that stay on the entry, for the launch."""

SHARED_BYTES = f"{KEPT}smem_bytes"

SHARED_ALIGNMENT = 1024

MAP_BYTES, MAP_ALIGNMENT = 128, 64

PARAMETERS: Mapping[str, str] = {
    "i1": "u8",
    "i8": "u8",
    "i16": "u16",
    "f16": "u16",
    "bf16": "u16",
    "i32": "u32",
    "i64": "u64",
    "f32": "f32",
    "f64": "f64",
}
"""The PTX type of a parameter by element type."""


def is_kernel(op: Operation) -> bool:
    """Whether a function is marked as kernel."""
    return KERNEL in op.attributes


@dataclass(frozen=True)
class LoweredKernel:
    """The entry of a kernel, and what the module must declare for it."""

    entry: ptx.EntryOp
    uses_shared: bool
    """Whether it uses dynamic shared memory."""
    declared: Mapping[str, ptx.FunctionOp | ptx.GlobalOp]
    """What the module has to declare for it, by name."""


def lower_kernel(op: func.FuncOp, target: Target) -> LoweredKernel:
    """Lower a kernel; raises `OpError` for what PTX does not have."""
    launch = _launch(op, target)
    _check_name(op)
    _check_uses(op, launch)
    entry = ptx.EntryOp(
        op.sym_name.data,
        [_parameter(op, argument) for argument in op.body.block.args],
        reqntid=launch.threads,
        minnctapersm=_blocks(op),
        maxnreg=_number(op, REGISTERS),
        reqnctapercluster=launch.cluster,
        explicitcluster=launch.cluster is not None,
    )
    entry.location = op.location
    low = _lower_body(op, entry, target)
    remove_dead(entry)
    entry.attributes |= {k: v for k, v in op.attributes.items() if k.startswith(KEPT)}
    return LoweredKernel(entry, low.uses_shared, low.declared)


def _lower_body(op: func.FuncOp, entry: ptx.EntryOp, target: Target) -> Lowering:
    block, start = op.body.block, entry.entry_block
    low = Lowering(HANDLERS, target, entry.body, start, op, location=op.location)
    for argument, parameter in zip(block.args, entry.parameters, strict=True):
        parameter.name_hint = argument.name_hint
        low.define(argument, _read(low, argument.type, parameter))
    low.lower(block.ops)
    return low


def shared_memory() -> ptx.SharedOp:
    """Return the declaration of dynamic shared memory."""
    return ptx.SharedOp(SHARED, align=SHARED_ALIGNMENT, extern=True)


@dataclass(frozen=True, slots=True)
class _Launch:
    """Launch attributes of a kernel."""

    threads: tuple[int, ...]
    cluster: tuple[int, ...] | None
    shared_bytes: int | None


def _check_name(op: func.FuncOp) -> None:
    name = op.sym_name.data
    if not is_name(name):
        raise op_error(
            op,
            f"is a kernel called '{name}', which is no name in PTX: those have letters, digits, "
            "'_' and '$', and no digit first",
        )
    if name == SHARED:
        raise op_error(op, f"is a kernel called '{name}', as its shared memory is")


def _launch(op: func.FuncOp, target: Target) -> _Launch:
    if op.function_type.outputs.data:
        raise op_error(op, "returns values, and a kernel has nobody to return them to")
    if len(op.body.blocks) != 1:
        raise op_error(op, "has one block: loops and branches are those of scf")
    threads = _extents(op, THREADS)
    if threads is None:
        raise op_error(op, f"says how many threads a block has: {THREADS} = array<i32: ...>")
    cluster, shared_bytes = _extents(op, CLUSTER), _number(op, SHARED_BYTES)
    for what, asked, limit in (
        ("threads in a block", prod(threads), target.threads_per_block),
        ("blocks in a cluster", prod(cluster or (1,)), target.blocks_per_cluster),
        ("bytes of shared memory", shared_bytes or 0, target.shared_memory_per_block),
    ):
        if asked > limit:
            raise op_error(op, f"asks for {asked} {what}; {target.name} has {limit} at most")
    return _Launch(threads, cluster, shared_bytes)


_OF_LAUNCH = Kinds(WarpIdxOp, MbarrierArriveOp, TmaLoadOp, PairTmaLoadOp, GetDynSmemOp)
"""Operations that ask something of how a kernel is launched."""


def _check_uses(op: func.FuncOp, launch: _Launch) -> None:
    for inner in operations_in(op):
        if not _OF_LAUNCH[type(inner)]:
            continue
        if isinstance(inner, WarpIdxOp) and any(extent != 1 for extent in launch.threads[1:]):
            raise op_error(inner, f"needs a block with one axis, and it has {launch.threads}")
        if isinstance(inner, MbarrierArriveOp) and inner.cta is not None:
            _check_cluster(inner, launch)
        if isinstance(inner, TmaLoadOp) and inner.multicast_mask is not None:
            _check_cluster(inner, launch)
        if isinstance(inner, PairTmaLoadOp):
            _check_cluster(inner, launch)
        if isinstance(inner, GetDynSmemOp):
            _check_shared(inner, launch.shared_bytes)


def _check_cluster(op: Operation, launch: _Launch) -> None:
    if launch.cluster is None:
        raise op_error(op, f"reaches other blocks, and the kernel has no {CLUSTER}")


def _check_shared(op: GetDynSmemOp, size: int | None) -> None:
    if size is None:
        raise op_error(op, f"needs dynamic shared memory: the kernel says how much, {SHARED_BYTES}")
    offset = op.offset.value.data
    if offset >= size:
        raise op_error(op, f"starts at byte {offset} of {size} bytes of shared memory")


def _parameter(op: func.FuncOp, argument: BlockArgument) -> ParamType:
    type_ = argument.type
    if isinstance(type_, TmaDescriptorTiledType):
        return ptx.param("b8", MAP_BYTES, MAP_ALIGNMENT)
    if isinstance(type_, PtrType) and type_.space not in (AddressSpace.GMEM, AddressSpace.GENERIC):
        raise op_error(op, f"takes {type_}, and a launch passes pointers to global memory")
    form = form_of(type_)
    name = None if form is None or form.elements != 1 else PARAMETERS.get(form.element)
    if name is None:
        raise op_error(op, f"takes {type_}, which no launch passes")
    return ptx.param(name)


def _read(low: Lowering, type_: Attribute, parameter: SSAValue) -> SSAValue:
    if isinstance(type_, TmaDescriptorTiledType):
        return low.emit(ptx.ParamAddressOp(parameter))
    form = low.form_of(type_)
    value = low.emit(ptx.LdParamOp(parameter, PARAMETERS[form.element]))
    if form.kind == "pred":
        return low.emit(ptx.SetpOp(value, low.constant(0, "b16"), "ne", "u16"))
    if isinstance(type_, PtrType) and type_.space is AddressSpace.GMEM:
        return low.emit(ptx.CvtaOp(value, "global", to=True))
    return value


def _extents(op: Operation, name: str) -> tuple[int, ...] | None:
    attribute = op.attributes.get(name)
    if attribute is None:
        return None
    if not isinstance(attribute, DenseArrayBase):
        raise op_error(op, f"has {name} as array<i32: x, y, z>, not {attribute}")
    extents = tuple(int(extent) for extent in attribute.get_values())
    if not 1 <= len(extents) <= 3 or any(extent < 1 for extent in extents):
        raise op_error(op, f"has one to three extents of 1 or more as {name}, not {extents}")
    return extents


def _number(op: Operation, name: str) -> int | None:
    attribute = op.attributes.get(name)
    if attribute is None:
        return None
    if not isinstance(attribute, IntegerAttr):
        raise op_error(op, f"has a number as {name}, not {attribute}")
    return attribute.value.data


def _blocks(op: func.FuncOp) -> int | None:
    """Return the minimum of blocks per SM; 1 with `setmaxnreg`, which needs a register count."""
    blocks = _number(op, BLOCKS)
    known = blocks is not None or REGISTERS in op.attributes
    if known or not has_instance(op, SetMaxRegisterOp):
        return blocks
    return 1


def remove_dead(entry: ptx.EntryOp) -> None:
    """Remove unused operations without effects, uses before definitions."""
    candidates = [
        op for block in reversed(entry.body.blocks) for op in reversed(operations_of(block))
    ]
    while candidates:
        again: list[Operation] = []
        for op in candidates:
            if op.results and all(r.first_use is None for r in op.results) and _is_removable(op):
                owners: Iterable[Operation] = [
                    v.owner for v in op.operands if isinstance(v.owner, Operation)
                ]
                again += owners
                op.detach()
                op.erase()
        candidates = [op for op in dict.fromkeys(again) if op.parent is not None]


def _is_removable(op: Operation) -> bool:
    return has_trait(op, Pure) or isinstance(op, ptx.SregOp)
