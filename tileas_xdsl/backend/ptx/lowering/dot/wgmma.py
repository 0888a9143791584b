"""Lower wgmma: descriptors computed outside of loops, accumulators updated in place.

A matrix descriptor has the shared address, shifted right by 4, in its low bits (PTX ISA, "Matrix
descriptor"). Advancing an operand by 32 bytes is therefore `desc + 2`, a 64-bit addition, and a
loop over stages keeps one base: the constant fields are or'ed to the address once, then
`mad.wide.s32 %rd5, %stage, 1024, %rd4` for stages of 16 KiB. Only distances that are no multiple
of 16 bytes are encoded again.

`wgmma.mma_async` reads and writes the registers of D asynchronously: they must not be moved between
`wgmma.fence` and `wgmma.wait_group`, or ptxas serialises the group. D is the same tuple of
registers as C where C has no other use (`_may_become`); else C is copied in front of the fence:

    fence                          mov {%f64, ...}, {%f0, ...}      C has another user
    %d = wgmma %a, %b, %c    ->    wgmma.fence.sync.aligned
    use %c                         wgmma.mma_async ... {%f64, ...}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Address, Handler, Lowering
from tileas_xdsl.backend.ptx.lowering.memory.addresses import linear
from tileas_xdsl.backend.ptx.printer_views import whole
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu.mma.canonical_descriptors import CanonicalDescriptorOp
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma import DescriptorOp
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.mma.smem_descriptor import SmemDescriptor

UNIT = 16
"""Bytes of a unit of descriptor addresses."""

ADDRESS_MASK = 0x3FFFF
"""The 18 bits of a shared address that a descriptor encodes, without the low four."""


def _descriptor(op: nvgpu.MakeGmmaSmemDescOp | nvgpu.GmmaDescriptorOfOp, low: Lowering) -> None:
    _needs_wgmma(low)
    make_descriptor(op, low)


def make_descriptor(op: DescriptorOp | CanonicalDescriptorOp, low: Lowering) -> None:
    """Build a descriptor: constant fields or'ed with the address, run-time terms added later.

    Adding to the address field cannot carry into other fields: shared memory ends below 2^18.
    """
    address = low.address_of(op.ptr)
    leading, stride = op.leading_bytes.value.data, op.stride_bytes.value.data
    fields = SmemDescriptor(low.target, op.swizzle.data, 0, leading, stride).encode()
    terms, distance = _terms(address)
    if distance % UNIT or any(_is_not_encodable(low, value, scale) for value, scale in terms):
        low.addresses[op.result] = Address(_with_address(low, low.at(address), fields))
        return
    base = _with_address(low, address.start, fields)
    for value, scale in terms:
        base = _advanced(low, base, low.value(value), scale // UNIT)
    low.addresses[op.result] = Address(base, distance // UNIT)


def _advanced(low: Lowering, base: SSAValue, value: SSAValue, scale: int) -> SSAValue:
    """Return `base + value * scale` in 64 bits (`mad.wide.s32`)."""
    factor = low.constant(scale)
    make = lambda: ptx.MadOp(value, factor, base, "s32", mode="wide")  # noqa: E731
    return low.here(("moved", base, value, scale), make)


def _is_not_encodable(low: Lowering, value: SSAValue, scale: int) -> bool:
    """Whether a term is no multiple of 16 bytes, or has 64 bits."""
    return scale % UNIT != 0 or low.form(value).bits != 32


def _terms(address: Address) -> tuple[list[tuple[SSAValue, int]], int]:
    """Return the terms added to the root of an address: scaled values, and a constant."""
    terms: list[tuple[SSAValue, int]] = []
    distance = address.offset
    for value, scale in address.terms:
        inner, factor, constant = linear(value, wraps=True)
        distance += constant * scale
        if inner is not None:
            terms.append((inner, factor * scale))
    return terms, distance


def _with_address(low: Lowering, address: SSAValue, fields: int) -> SSAValue:
    mask, four, rest = low.constant(ADDRESS_MASK), low.constant(4), low.constant(fields, "b64")
    kept = low.derive(address, ("field",), lambda: ptx.AndOp(address, mask, "b32"))
    units = low.derive(kept, ("units",), lambda: ptx.ShrOp(kept, four, "u32"))
    wide = low.derive(units, ("wide",), lambda: ptx.CvtOp(units, "u64", "u32"))
    return low.derive(wide, ("fields", fields), lambda: ptx.OrOp(wide, rest, "b64"))


def _advance(op: nvgpu.SmemDescAddOp, low: Lowering) -> None:
    address = low.address_of(op.desc)
    if op.bytes is not None:
        offset = address.offset + op.bytes.value.data // UNIT
        low.addresses[op.result] = Address(address.base, offset)
        return
    assert op.bytes_value is not None
    value, scale, constant = linear(op.bytes_value, wraps=True)
    if scale % UNIT == 0 and constant % UNIT == 0 and value is not None:
        base = _advanced(low, address.base, low.value(value), scale // UNIT)
        low.addresses[op.result] = Address(base, address.offset + constant // UNIT)
        return
    distance = low.emit(ptx.ShrOp(low.value(op.bytes_value), low.constant(4), "s32"))
    wide = low.emit(ptx.CvtOp(distance, "s64", "s32"))
    base = low.emit(ptx.AddOp(address.base, wide, "s64"))
    low.addresses[op.result] = Address(base, address.offset)


def _needs_wgmma(low: Lowering) -> None:
    if (reason := low.target.lacks(Feature.WGMMA, "is for wgmma, which")) is not None:
        raise low.error(reason)


def _product(op: nvgpu.MmaSm90Op, low: Lowering) -> None:
    _needs_wgmma(low)
    accumulator = low.form(op.c)
    a, form = low.value(op.a), low.form(op.a)
    if form.kind == "f32":
        a = low.emit(ptx.MovOp(a, "b32", kind="b32"))
    scale = None if op.scale_d is None else low.value(op.scale_d)
    if scale is None or scale is low.constant(1, "pred"):
        scale = always(low)
    if scale is low.constant(0, "pred"):
        scale = low.once(("never",), lambda: ptx.MovOp(low.constant(0, "pred"), "pred"))
    product = ptx.WgmmaOp(
        low.begun.pop(op) if op in low.begun else low.value(op.c),
        a,
        low.value(op.b),
        scale,
        "s32" if accumulator.element == "i32" else accumulator.element,
        op.a_type.data,
        op.b_type.data,
        trans_a=op.a_major.data == "mn",
        trans_b=op.b_major.data == "mn",
    )
    low.define(op.result, low.emit(product))


def always(low: Lowering) -> SSAValue:
    """Return a true predicate in a register: the instruction takes no literal."""
    true = low.constant(1, "pred")
    return low.once(("always",), lambda: ptx.MovOp(true, "pred"))


def _fence(op: nvgpu.WgmmaFenceOp, low: Lowering) -> None:
    """Lower a wgmma fence; initial accumulators are moved to their registers before it."""
    _needs_wgmma(low)
    for product in _detached_products(op, low):
        move = ptx.MovOp(low.value(product.c))
        low.act(move)
        low.begun[product] = move.result
    low.act(ptx.WgmmaFenceOp())


def _detached_products(fence: nvgpu.WgmmaFenceOp, low: Lowering) -> Iterator[nvgpu.MmaSm90Op]:
    """Yield the MMAs of a group that cannot accumulate in the registers of their C operand."""
    op = fence.next_op
    group: set[SSAValue] = set()
    while op is not None and not isinstance(op, nvgpu.WgmmaFenceOp | nvgpu.WgmmaCommitOp):
        if isinstance(op, nvgpu.MmaSm90Op):
            if op.c not in group and not _may_become(op, low):
                yield op
            group.add(op.result)
        op = op.next_op


def _may_become(product: nvgpu.MmaSm90Op, low: Lowering) -> bool:
    """Return whether an MMA may accumulate in place, in the registers of its C operand.

    Not if those are constants, are assembled from others, or have other users, but for sums that
    were computed of them before.
    """
    accumulator, registers = product.c, low.value(product.c)
    if isinstance(registers.owner, ptx.UndefOp):
        return True
    if whole(registers) is None:
        return False
    return _is_used_once(accumulator, product.parent, low) or _is_added_before(product)


def _is_added_before(product: nvgpu.MmaSm90Op) -> bool:
    """Whether what was waited for in this block has been added to something, for the last time."""
    block = product.parent
    if not isinstance(product.c.owner, nvgpu.WgmmaWaitOp) or product.c.owner.parent is not block:
        return False
    return all(
        user is product
        or (
            isinstance(user, arith.AddfOp)
            and user.parent is block
            and user.is_before_in_block(product)
        )
        for user in (use.operation for use in product.c.uses)
    )


def _is_used_once(value: SSAValue, block: Block | None, low: Lowering) -> bool:
    """Whether a value has one use, in its own block, and no other value has its registers.

    A loop of one iteration has no block in PTX: it carries the registers that it begins with.
    """
    owner = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if owner is not block or not value.has_one_use():
        return False
    loop = owner.parent_op() if owner is value.owner and owner is not None else None
    if not isinstance(loop, scf.ForOp) or not isinstance(value, BlockArgument) or not value.index:
        return True
    first = loop.iter_args[value.index - 1]
    return low.value(first) is not low.value(value) or _is_used_once(first, loop.parent, low)


def _commit(op: nvgpu.WgmmaCommitOp, low: Lowering) -> None:
    low.act(ptx.WgmmaCommitOp())


def _wait(op: nvgpu.WgmmaWaitOp, low: Lowering) -> None:
    wait = ptx.WgmmaWaitOp(op.count.value.data, [low.value(value) for value in op.values])
    low.act(wait)
    for out, registers in zip(op.outs, wait.complete, strict=True):
        low.define(out, registers)


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.GmmaDescriptorOfOp: _descriptor,
    nvgpu.MakeGmmaSmemDescOp: _descriptor,
    nvgpu.SmemDescAddOp: _advance,
    nvgpu.MmaSm90Op: _product,
    nvgpu.WgmmaFenceOp: _fence,
    nvgpu.WgmmaCommitOp: _commit,
    nvgpu.WgmmaWaitOp: _wait,
}
