"""Emit one k-step of a dot: `mma.sync` per warp, or `wgmma` per warpgroup.

Both take accumulators in registers, one vector for each instruction tile of C, and give them back.

    mma_sync(e, a, b, c, (16, 8, 16), ("f16", "f16"))
        ->  mma.sync.m16n8k16 a, b, c
    wgmma_group(e, instruction, [c], 2, operands)
        ->  wgmma.fence; c = wgmma a, b, c         for every step of K; wgmma.commit_group
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import UndefFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import (
    MmaSm80Op,
    MmaSm89Op,
    MmaSm90Op,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import FP8
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.target.mma.canonical import Major
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant

Cell: TypeAlias = tuple[int, int, int]
"""An instruction tile of C: batch, row and column, counted within a warp."""

WGMMA_ROWS = 64
"""Rows of C of a `wgmma` instruction (PTX ISA 9.7.15)."""


def mma_sync(
    e: ThreadBuilder,
    a: SSAValue,
    b: SSAValue,
    c: SSAValue,
    shape: tuple[int, int, int],
    types: tuple[str, str],
) -> SSAValue:
    """Return `A B + C` of one instruction; `types` are the element types of A and B in PTX."""
    kind = MmaSm89Op if types[0] in FP8 else MmaSm80Op
    return e.insert(kind(a, b, c, shape=shape, a_type=types[0], b_type=types[1])).result


def operand_types(op: DotOp | AsyncDotOp) -> tuple[str, str]:
    """Return the PTX element types of A and B: integers with their signs, f32 as in the atom."""
    atom = atom_of(op.atom)
    assert isinstance(atom, MmaAtom)
    return (
        _operand_type(op.a.type.element_type, op.signedness_a, atom.a),
        _operand_type(op.b.type.element_type, op.signedness_b, atom.b),
    )


def _operand_type(element: Attribute, given: SignednessAttr | None, of_atom: str) -> str:
    name = ptx_element(element)
    if name == "f32":
        return of_atom
    if name != "s8":
        return name
    if given is None:
        return of_atom
    return "u8" if given.data is Signedness.UNSIGNED else "s8"


@dataclass(frozen=True)
class WgmmaInstruction:
    """A `wgmma` of 64 rows, `columns` columns and `depth` of K."""

    columns: int
    depth: int
    a_type: Attribute | str
    b_type: Attribute | str
    a_major: Major
    b_major: Major


WgmmaOperands: TypeAlias = Callable[[int, int], tuple[SSAValue, SSAValue]]
"""From the step of K and the block of rows of an instruction: A and B."""


def wgmma_group(
    e: ThreadBuilder,
    instruction: WgmmaInstruction,
    accumulators: list[SSAValue],
    steps: int,
    operands: WgmmaOperands,
    *,
    from_zero: bool,
) -> None:
    """Add `A B` to accumulators in place, as one wgmma group of `steps` instructions for each.

    `accumulators` are those of blocks of rows.  With `from_zero` the first step does not read them
    (`scale-d = false`), so that they need no initialisation.
    """
    e.insert(WgmmaFenceOp())
    for k in range(steps):
        for row, start in enumerate(accumulators):
            a, b = operands(k, row)
            product = MmaSm90Op(
                a,
                b,
                start,
                i1_constant(e, False) if from_zero and k == 0 else None,
                shape=(WGMMA_ROWS, instruction.columns, instruction.depth),
                a_type=instruction.a_type,
                b_type=instruction.b_type,
                a_major=instruction.a_major,
                b_major=instruction.b_major,
            )
            accumulators[row] = e.insert(product).result
    e.insert(WgmmaCommitOp())
    e.wgmma_groups.append(_block(e))


def await_wgmma(
    e: ThreadBuilder,
    accumulators: Sequence[SSAValue],
    kept: Sequence[SSAValue] = (),
    pending: int = 0,
) -> Sequence[SSAValue]:
    """Wait for all groups but `pending`; registers of A are `kept` as they are until then."""
    e.wgmma_complete = _block(e), len(e.wgmma_groups) - 1 - pending
    done = e.insert(WgmmaWaitOp(pending, [*accumulators, *kept])).results
    return done[: len(accumulators)]


MAX_PENDING = 7
"""Groups that a wait may leave in flight (PTX ISA, wgmma.wait_group)."""


def groups_behind(e: ThreadBuilder, group: int | None) -> int:
    """How many groups were issued behind one in straight-line code; 0 where that is not known.

    Groups complete in order, so a wait that leaves as many in flight is a wait for that one.  One
    that a stronger wait has come before says so: of a weaker wait ptxas takes it that groups run
    which do not, and serialises them (C7514).
    """
    if group is not None and e.wgmma_complete is not None and e.wgmma_complete[0] is _block(e):
        group = max(group, e.wgmma_complete[1])
    if group is None or any(block is not _block(e) for block in e.wgmma_groups[group + 1 :]):
        return 0
    return min(len(e.wgmma_groups) - 1 - group, MAX_PENDING)


def _block(e: ThreadBuilder) -> Block:
    return e.builder.insertion_point.block


def undefined_accumulators(
    e: ThreadBuilder, element: Attribute, registers: int, count: int
) -> list[SSAValue]:
    """Return `count` accumulators of `registers` elements that no instruction reads."""
    type_ = VectorType(element, [registers])
    return [e.insert(UndefFragmentOp(type_)).result for _ in range(count)]
