"""Every form that the verifiers accept assembles, and those they refuse do not."""

from itertools import product

import pytest
from support.assembling import needs_ptxas

from tests.backend.ptx.lowering.verdicts import check_versions, differences, made
from tileas_xdsl.dialects.ptx import (
    AtomOp,
    CpReduceAsyncBulkOp,
    CvtOp,
    CvtPackOp,
    LdOp,
    MmaOp,
    Ptx,
    RedOp,
    ReduxOp,
    SetpOp,
    StOp,
    Tcgen05CpOp,
    Tcgen05LdOp,
    Tcgen05MmaOp,
    WgmmaOp,
    reg,
)
from tileas_xdsl.dialects.ptx.elementwise import arith
from tileas_xdsl.target.isa import views
from tileas_xdsl.target.isa.kinds import KINDS, MEMORY_KINDS, TYPE_KINDS
from tileas_xdsl.target.isa.tables import asynchronous, warps
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    MMA,
    TENSOR_KINDS,
    TMEM_COPIES,
    TMEM_REGISTERS,
)
from tileas_xdsl.target.isa.tables.memory import keywords as memory
from tileas_xdsl.target.isa.views import CONVERSIONS

pytestmark = needs_ptxas
ARCHS = pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
TYPES = [t for t in TYPE_KINDS if t not in ("e4m3x2", "e5m2x2", "tf32")]


def registers(body):
    return {kind: body.undef(kind) for kind in KINDS}


def arithmetic_forms(body):
    values = registers(body)
    roundings = ("", "rn", "rz", "approx", "full")
    flags = ("", "ftz", "nan", "sat", "relu")
    operations = [op for op in Ptx.operations if issubclass(op, arith.ArithmeticOp)]
    for operation in operations:
        name = operation.name.removeprefix("ptx.")
        product_of = name in ("mul", "mad")
        for type, mode in product(TYPES, ("", "lo", "hi", "wide") if product_of else ("",)):
            if mode == "wide" and type not in arith.WIDE_KINDS:
                continue
            for rounding, flag in product(roundings, flags) if not mode else [("", "")]:
                yield arithmetic_form(operation, name, values, type, mode, rounding, flag)


def arithmetic_form(operation, name, values, type, mode, rounding, flag):
    kinds = [TYPE_KINDS[type]] * len(operation.get_irdl_definition().operands)
    for index in views.COUNT_OPERANDS.get(name, ()):
        kinds[index] = "b32"
    result = "b32" if name in ("popc", "clz") else TYPE_KINDS[type]
    if mode == "wide":
        result = arith.WIDE_KINDS[type]
        kinds[2:] = [result] * len(kinds[2:])
    properties = {"type": type, "mode": mode or None, "rounding": rounding or None}
    if flag:
        properties[flag] = True
    return made(operation, [values[kind] for kind in kinds], [reg(result)], **properties)


UNDOCUMENTED = {
    "ptx.fma bf16 rz": "fma.rz.bf16",
    "ptx.fma bf16x2 rz": "fma.rz.bf16x2",
    "ptx.fma bf16 rz relu": "fma.rz.relu.bf16",
    "ptx.fma bf16x2 rz relu": "fma.rz.relu.bf16x2",
    "ptx.rcp f64 rn ftz": "rcp.rn.ftz.f64",
    "ptx.rcp f64 rz ftz": "rcp.rz.ftz.f64",
}
"""What ptxas takes and PTX ISA does not have."""


@ARCHS
def test_arithmetic(arch, monkeypatch):
    accepted, refused, _ = differences(arithmetic_forms, arch, monkeypatch)
    assert accepted == []
    assert set(refused) == set(UNDOCUMENTED)


def comparisons(body):
    values = registers(body)
    words = {word for known in views.COMPARISONS.values() for word in known}
    for type, word, ftz in product(TYPES, sorted(words), (False, True)):
        if type == "pred" or type.endswith("x2"):
            continue
        value = values[TYPE_KINDS[type]]
        yield made(SetpOp, [value, value, None], [reg("pred")], type=type, comparison=word, ftz=ftz)


@ARCHS
def test_comparisons(arch, monkeypatch):
    accepted, refused, _ = differences(comparisons, arch, monkeypatch)
    assert accepted == []
    assert refused == []


def conversion_forms(body):
    values = registers(body)
    kinds = {**TYPE_KINDS, "u8": "b16", "s8": "b16"}
    types = [t for t in kinds if t not in ("pred", "b16", "b32", "b64", "u16x2", "s16x2", "f32x2")]
    roundings = ("", "rn", "rz", "rna", "rni", "rzi")
    for to, source, rounding in product(types, types, roundings):
        for saturation, flag in product(("", "sat", "satfinite"), ("", "ftz", "relu")):
            yield made(
                CvtOp,
                [values[kinds[source]]],
                [reg(kinds[to])],
                to=to,
                source=source,
                rounding=rounding or None,
                saturation=saturation or None,
                **({flag: True} if flag else {}),
            )


@ARCHS
def test_conversions(arch, monkeypatch):
    accepted, refused, _ = differences(conversion_forms, arch, monkeypatch)
    assert accepted == []
    known = [form for form in refused if tuple(form.split()[1:3]) in CONVERSIONS]
    assert set(known) <= {
        *(f"ptx.cvt bf16 f32 {rounding} ftz" for rounding in ("rn", "rz")),
        *(f"ptx.cvt f32 bf16{more}" for more in (" ftz", " rn", " rn ftz", " rz", " rz ftz")),
    }, "undocumented forms aside"


def packings(body):
    values = body.undef("f32", 2)
    for to in ("f16x2", "bf16x2", "e4m3x2", "e5m2x2"):
        for rounding, saturation, relu in product(
            ("rn", "rz", "rna"), ("", "satfinite", "sat"), (False, True)
        ):
            yield made(
                CvtPackOp,
                [values],
                [reg(TYPE_KINDS[to])],
                to=to,
                rounding=rounding,
                saturation=saturation or None,
                relu=relu,
            )


def updates(body):
    values, address = registers(body), body.undef("b64")
    types = [t for t in TYPES if t != "pred"]
    for operation, type, space in product(memory.ATOMICS, types, ("global", "shared")):
        value = values[TYPE_KINDS[type]]
        compare = value if operation == "cas" else None
        yield made(
            AtomOp,
            [address, value, compare, None, None],
            [value.result.type],
            operation=operation,
            type=type,
            space=space,
        )
        if operation not in ("exch", "cas"):
            yield made(RedOp, [address, value], [], operation=operation, type=type, space=space)


def vectors_of_updates(body):
    address = body.undef("b64")
    for operation, type, count in product(
        ("add", "min"), ("f32", "f16", "bf16", "f16x2", "bf16x2", "u32"), (2, 4, 8)
    ):
        value = body.undef(TYPE_KINDS[type], count)
        yield made(RedOp, [address, value], [], operation=operation, type=type, space="global")


def bulk_updates(body):
    wide, narrow, size = body.undef("b64"), body.undef(), body.const(16)
    for to, barrier in (("global", None), ("shared::cluster", narrow)):
        for operation, type in product(asynchronous.BULK_REDUCTIONS["global"], TYPES):
            destination = wide if to == "global" else narrow
            yield made(
                CpReduceAsyncBulkOp,
                [destination, narrow, size, barrier, None, None],
                [],
                to=to,
                operation=operation,
                type=type,
            )


def warp_reductions(body):
    values, mask = registers(body), body.const(-1)
    for operation, type in product(warps.REDUCTIONS, TYPES):
        value = values[TYPE_KINDS[type]]
        yield made(ReduxOp, [value, mask], [value.result.type], operation=operation, type=type)


def accesses(body):
    address = body.undef("b64")
    for type, space, width in product(memory.ACCESS_TYPES, memory.LOAD_SPACES, (1, 2, 4)):
        value = body.undef(MEMORY_KINDS[type], width)
        words = {"type": type, "space": space, "width": width}
        yield made(LdOp, [address, None, None, None], [value.result.type], **words)
        yield made(StOp, [address, value, None, None], [], **words)


def orders(body):
    address, value = body.undef("b64"), body.undef()
    spaces = ("global", "shared", "generic")
    for space, semantics, scope in product(
        spaces, (*memory.LOAD_SEMANTICS, "release"), ("", *memory.SCOPES)
    ):
        words = {"type": "b32", "space": space, "semantics": semantics or None}
        words |= {"scope": scope or None}
        yield made(LdOp, [address, None, None, None], [reg("b32")], **words)
        yield made(StOp, [address, value, None, None], [], **words)
    for cache in {*memory.LOAD_CACHES, *memory.STORE_CACHES}:
        words = {"type": "b32", "space": "global", "cache": cache or None}
        yield made(LdOp, [address, None, None, None], [reg("b32")], **words)
        yield made(StOp, [address, value, None, None], [], **words)
    for eviction in memory.EVICTIONS:
        words = {"type": "b32", "space": "global", "eviction": eviction or None}
        yield made(LdOp, [address, None, None, None], [reg("b32")], **words)
        yield made(StOp, [address, value, None, None], [], **words)


def products(body):
    for (shape, type, a_type, b_type), form in MMA.items():
        a, b = body.undef(form.kind, form.a), body.undef(form.kind, form.b)
        yield MmaOp(a, b, body.undef(form.c_kind, form.c), shape, type, a_type, b_type)


def warpgroup_products(body):
    wide, predicate = body.undef("b64"), body.undef("pred")
    types = ("f16", "bf16", "tf32", "e4m3", "s8", "u8")
    for type, a_type, b_type in product(("f16", "f32", "s32"), types, types):
        kind = "f32" if type == "f32" else "b32"
        accumulator = body.undef(kind, 8)
        words = {"type": type, "a_type": a_type, "b_type": b_type}
        yield warpgroup_product(accumulator, wide, wide, predicate, **words)
        halves = a_type in ("f16", "bf16")
        for flag in ("saturate", *(("trans_b", "negate_a") if halves else ())):
            flags = {**words, flag: True}
            yield warpgroup_product(accumulator, wide, wide, predicate, **flags)
    for registers_of_d in range(2, 129):
        for type, a_type, kind in (("f32", "bf16", "f32"), ("s32", "s8", "b32")):
            words = {"type": type, "a_type": a_type, "b_type": a_type}
            accumulator = body.undef(kind, registers_of_d)
            yield warpgroup_product(accumulator, wide, wide, predicate, **words)


def warpgroup_product(accumulator, *operands, **words):
    return made(WgmmaOp, [accumulator, *operands], [accumulator.result.type], **words)


def test_warpgroup_products(monkeypatch):
    accepted, refused, _ = differences(warpgroup_products, "sm_90a", monkeypatch)
    assert accepted == []
    assert refused == []


def tensor_memory_accesses(body):
    address = body.undef()
    for shape, repeat in product(TMEM_REGISTERS, (1, 2, 3, 4, 8, 16, 32, 64, 128)):
        registers_of_it = repeat * TMEM_REGISTERS[shape]
        if registers_of_it > 256:
            continue
        half = {"half_split": 1} if shape == "16x32bx2" else {}
        words = {"shape": shape, "repeat": repeat, **half}
        yield made(Tcgen05LdOp, [address], [reg("b32", registers_of_it)], **words)


def tensor_memory_copies(body):
    address, descriptor = body.undef(), body.undef("b64")
    casts = ("", "warpx2::02_13", "warpx2::01_23", "warpx4")
    formats = ("", "b6x16_p32", "b4x16_p64", "b2x16_p64")
    for shape, cast, source in product((*TMEM_COPIES, "16x128b"), casts, formats):
        words = {"shape": shape, "multicast": cast or None, "source_format": source or None}
        yield made(Tcgen05CpOp, [address, descriptor, None], [], cta_group=1, **words)


def tensor_products(body):
    address, wide = body.undef(), body.undef("b64")
    predicate = body.undef("pred")
    vectors = ("", "1X", "2X", "4X", "block16", "block32")
    for kind, vector, scaled in product((*TENSOR_KINDS, "f64"), vectors, (False, True)):
        scales = [address, address] if scaled else []
        yield made(
            Tcgen05MmaOp,
            [address, wide, wide, address, predicate, None, scales, None, None],
            [],
            kind=kind,
            cta_group=1,
            scale_vector=vector or None,
        )
    # ptxas takes a scale of D for i8 too, which PTX ISA does not have.
    for kind, flag in product(TENSOR_KINDS, ("weights", "scale_d")):
        if (kind, flag) != ("i8", "scale_d"):
            operands = [address, wide, wide, address, predicate, None, [], None, None]
            words = {"kind": kind, "cta_group": 1, flag: True if flag == "weights" else 1}
            yield made(Tcgen05MmaOp, operands, [], **words)


@pytest.mark.parametrize("forms", [tensor_memory_accesses, tensor_memory_copies, tensor_products])
def test_tensor_memory(forms, monkeypatch):
    accepted, refused, _ = differences(forms, "sm_100a", monkeypatch)
    assert accepted == []
    assert refused == []


@ARCHS
@pytest.mark.parametrize(
    "forms", [packings, updates, vectors_of_updates, bulk_updates, warp_reductions, products]
)
def test_forms(forms, arch, monkeypatch):
    accepted, refused, _ = differences(forms, arch, monkeypatch)
    assert accepted == []
    assert refused == []


def test_accesses(monkeypatch):
    """Vectors have up to 16 bytes; those of 32 bytes of sm_100a are left out."""
    accepted, refused, _ = differences(accesses, "sm_90a", monkeypatch)
    assert accepted == []
    assert refused == []


@ARCHS
def test_orders(arch, monkeypatch):
    """Each space, order and scope that a verifier takes is there."""
    accepted, _, _ = differences(orders, arch, monkeypatch)
    assert accepted == []


@ARCHS
@pytest.mark.parametrize(
    "forms", [packings, updates, vectors_of_updates, warp_reductions, products]
)
def test_versions(forms, arch):
    """The version that is printed is the lowest one that works."""
    check_versions(forms, arch)
