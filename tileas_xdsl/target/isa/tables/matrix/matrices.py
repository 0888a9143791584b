"""Forms of the matrix instructions of warps and warpgroups.

Source: PTX ISA 9.7.14 (ldmatrix, stmatrix, movmatrix, mma.sync, wmma) and 9.7.15 (wgmma), checked
against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import HOPPER, Requirement, since
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    MMA,
    MMA_NARROW,
    MMA_NARROW_SHAPE,
    NARROW,
    SCALED_MMA,
    WARP_NARROW,
    WGMMA_COLUMNS,
    WGMMA_INTEGER_COLUMNS,
    WGMMA_K,
    WGMMA_TYPES,
    WMMA,
    WMMA_RESULTS,
    WmmaOperands,
)

Forms = Iterator[InstructionForm]

_OWN = ("shared", "shared::cta")
_COUNTS = ("x1", "x2", "x4")
_NARROW = since((8, 6), 100, Feature.NARROW_MATRICES)


def _moves() -> Forms:
    yield form("ldmatrix.sync.aligned.shape.count{.trans}{.space}.type", "<d:b32*count>, [s]",
               since((6, 5), 75), shape=("m8n8",), count=_COUNTS, space=_OWN,
               type=("b16",))  # fmt: skip
    for count, registers in (("x1", 2), ("x2", 4)):
        yield form("ldmatrix.sync.aligned.shape.count.trans{.space}.type",
                   f"<d:b32*{registers}>, [s]", _NARROW,
                   shape=("m16n16",), count=(count,), space=_OWN, type=("b8",))  # fmt: skip
    yield form("stmatrix.sync.aligned.shape.count{.trans}{.space}.type", "[s], <d:b32*count>",
               since((7, 8), 90), shape=("m8n8",), count=_COUNTS, space=_OWN,
               type=("b16",))  # fmt: skip
    yield form("stmatrix.sync.aligned.shape.count.trans{.space}.type", "[s], <d:b32*count>",
               _NARROW, shape=("m16n8",), count=_COUNTS, space=_OWN, type=("b8",))  # fmt: skip
    yield form("movmatrix.sync.aligned.m8n8.trans.b16", "d:b32, a:b32", since((7, 8), 75))


def _mma() -> Forms:
    for (shape, d, a, b), fragment in MMA.items():
        if fragment.mma_kind:
            continue
        saturate = "{.satfinite}" * (d == "s32")
        needs = fragment.requires
        kinds = fragment.c_kind, fragment.kind
        yield form(
            f"mma.sync.aligned.shape.row.col{saturate}.type.a_type.b_type.c_type",
            f"<d:{kinds[0]}*{fragment.c}>, <a:{kinds[1]}*{fragment.a}>, "
            f"<b:{kinds[1]}*{fragment.b}>, <c:{kinds[0]}*{fragment.c}>",
            needs, shape=(shape,), type=(d,), a_type=(a,), b_type=(b,), c_type=(d,),
        )  # fmt: skip


def _narrow_mma() -> Forms:
    """Products of floats of 8, 6 and 4 bits; a sparse A keeps half of twice the columns."""
    for d, fragment in MMA_NARROW.items():
        sums = f"{fragment.c_kind}*{fragment.c}"
        for head, shape, b, metadata in (
            ("mma", MMA_NARROW_SHAPE, fragment.b, ""),
            ("mma.sp::ordered_metadata", "m16n8k64", 2 * fragment.b, ", e:b32, 0"),
        ):
            yield form(
                f"{head}.sync.aligned.shape.row.col{fragment.kind_suffix}"
                ".type.a_type.b_type.c_type",
                f"<d:{sums}>, <a:b32*{fragment.a}>, <b:b32*{b}>, <c:{sums}>{metadata}",
                WARP_NARROW, shape=(shape,), type=(d,), a_type=NARROW, b_type=NARROW, c_type=(d,),
            )  # fmt: skip


def _scaled_mma() -> Forms:
    """Products with block scales: each scale operand has the byte and the thread that it is in.

    With a sparse A they have the same scales for twice the columns.
    """
    for kind, facts in SCALED_MMA.items():
        later = WARP_NARROW.joined(since((9, 1)))
        rows = [(*pair, WARP_NARROW) for pair in facts.vectors.items()]
        rows += [(*pair, later) for pair in facts.later.items()]
        for vector, scale, needs in rows:
            vectors = f".scale_vec::{vector}" * bool(vector)
            scales = "s:b32, <i:b16*2>, t:b32, <j:b16*2>"
            rows_, _, k = facts.shape.partition("k")
            for head, shape, operands in (
                ("mma", facts.shape, f"<b:b32*2>, <c:f32*4>, {scales}"),
                ("mma.sp::ordered_metadata", f"{rows_}k{2 * int(k)}",
                 f"<b:b32*4>, <c:f32*4>, e:b32, 0, {scales}"),
            ):  # fmt: skip
                yield form(
                    f"{head}.sync.aligned.shape.row.col.kind.block_scale{vectors}.f32.a_type.b_type"
                    ".f32.scale",
                    f"<d:f32*4>, <a:b32*4>, {operands}", needs, shape=(shape,),
                    kind=(f"kind::{kind}",), a_type=facts.elements, b_type=facts.elements,
                    scale=(scale,),
                )  # fmt: skip


def _sparse_mma() -> Forms:
    """Products whose A keeps half of K: B has twice the registers of the dense product."""
    for (shape, d, a, b), fragment in MMA.items():
        rows, _, k = shape.partition("k")
        if fragment.mma_kind:
            continue
        if a in SPARSE_ELEMENTS or ((d, k) == ("f32", "32") and a in SPARSE_BYTES):
            kinds = fragment.c_kind, fragment.kind
            for sparse, needs in (("sp", since((7, 1), 80)), ("sp::ordered_metadata", _ORDERED)):
                saturate = "{.satfinite}" * (d == "s32")
                yield form(
                    f"mma.sparse.sync.aligned.shape.row.col{saturate}.type.a_type.b_type.c_type",
                    f"<d:{kinds[0]}*{fragment.c}>, <a:{kinds[1]}*{fragment.a}>, "
                    f"<b:{kinds[1]}*{2 * fragment.b}>, <c:{kinds[0]}*{fragment.c}>, e:b32, 0",
                    needs.joined(fragment.requires), sparse=(sparse,),
                    shape=(f"{rows}k{2 * int(k)}",), type=(d,), a_type=(a,), b_type=(b,),
                    c_type=(d,),
                )  # fmt: skip


SPARSE_ELEMENTS = ("f16", "bf16", "tf32", "u8", "s8")
"""Elements of `mma.sp` with every shape and result; those of 4 bits are not in the table."""

SPARSE_BYTES = ("e4m3", "e5m2")
"""Elements that only products of 64 with sums in f32 have."""

_ORDERED = since((8, 5), 80)

_MAJORS = ("row", "col")
_WMMA_SPACES = ("global", "shared", "shared::cta")


def _wmma() -> Forms:
    for element, operands in WMMA.items():
        for shape, registers in operands.registers.items():
            for part, count in zip("ab", registers, strict=True):
                yield form(
                    f"wmma.load.{part}.sync.aligned.layout.shape{{.space}}.type",
                    f"<d:{operands.kind}*{count}>, [a], s:u32?", operands.requires,
                    layout=_MAJORS, shape=(shape,), space=_WMMA_SPACES, type=(element,),
                )  # fmt: skip
            yield from _wmma_products(element, operands, shape)
    for (shape, result), requires in _wmma_results().items():
        count, kind = WMMA_RESULTS[result]
        for name, layout in (("load.c", "<d:{}>, [a], s:u32?"), ("store.d", "[a], <d:{}>, s:u32?")):
            yield form(
                f"wmma.{name}.sync.aligned.layout.shape{{.space}}.type",
                layout.format(f"{kind}*{count}"), requires,
                layout=_MAJORS, shape=(shape,), space=_WMMA_SPACES, type=(result,),
            )  # fmt: skip


def _wmma_results() -> dict[tuple[str, str], Requirement]:
    """What C and D need, by shape and type: what the first type of A with them needs."""
    found: dict[tuple[str, str], Requirement] = {}
    for operands in WMMA.values():
        for shape in operands.registers:
            for result in operands.results:
                found.setdefault((shape, result), operands.requires)
    return found


def _wmma_products(element: str, operands: WmmaOperands, shape: str) -> Forms:
    a, b = (f"{operands.kind}*{count}" for count in operands.registers[shape])
    for d in operands.results:
        for c in operands.results:
            d_count, d_kind = WMMA_RESULTS[d]
            c_count, c_kind = WMMA_RESULTS[c]
            types = ".type.c_type" if element == "f16" else ".type.a_type.b_type.c_type"
            rounding = "{.rounding}" * (element == "f64")
            saturate = "{.satfinite}" * (d == "s32")
            yield form(
                f"wmma.mma.sync.aligned.a_layout.b_layout.shape{rounding}{types}{saturate}",
                f"<d:{d_kind}*{d_count}>, <a:{a}>, <b:{b}>, <c:{c_kind}*{c_count}>",
                operands.requires, a_layout=_MAJORS, b_layout=_MAJORS, shape=(shape,), type=(d,),
                a_type=(element,), b_type=(element,), c_type=(c,),
                rounding=("rn", "rz", "rm", "rp"),
            )  # fmt: skip


def _wgmma() -> Forms:
    for (a, b), results in WGMMA_TYPES.items():
        for d in results:
            yield from _products(d, a, b)
    yield form("wgmma.fence.sync.aligned", "", HOPPER)
    yield form("wgmma.commit_group.sync.aligned", "", HOPPER)
    yield form("wgmma.wait_group.sync.aligned", "1", HOPPER)


def _products(d: str, a: str, b: str) -> Forms:
    saturate = "{.satfinite}" * (d == "s32")
    needs = HOPPER.joined(since((8, 4))) if {a, b} == {"s8", "u8"} else HOPPER
    columns = WGMMA_INTEGER_COLUMNS if d == "s32" else WGMMA_COLUMNS
    shapes, sparse_shapes = (
        tuple(f"m64n{n}k{k}" for n in columns) for k in (WGMMA_K[a], 2 * WGMMA_K[a])
    )
    registers = "b32*shape.n/4" if d == "f16" else f"{'b32' if d == 's32' else 'f32'}*shape.n/2"
    scales = "" if d == "s32" else ", 1, 1"
    halves = a in ("f16", "bf16")
    for left, majors in (("a:b64", ", 0, 0"), ("<a:b32*4>", ", 0")):
        rest = f"p:pred{scales}{majors * halves}"
        yield form(
            f"wgmma.mma_async.sync.aligned.shape{saturate}.type.a_type.b_type",
            f"<d:{registers}>, {left}, b:b64, {rest}",
            needs, shape=shapes, type=(d,), a_type=(a,), b_type=(b,),
        )  # fmt: skip
        yield form(
            f"wgmma.mma_async.sp.sync.aligned.shape{saturate}.type.a_type.b_type",
            f"<d:{registers}>, {left}, b:b64, e:b32, 0, {rest}",
            needs.joined(since((8, 2))), shape=sparse_shapes, type=(d,), a_type=(a,), b_type=(b,),
        )  # fmt: skip


FORMS = (*_moves(), *_mma(), *_narrow_mma(), *_scaled_mma(), *_sparse_mma(), *_wmma(), *_wgmma())
