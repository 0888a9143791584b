"""Every form that the verifiers accept assembles, and those they refuse do not."""

from itertools import product

import pytest
from support.assembling import needs_ptxas
from support.verdicts import differences, made

from tileas_xdsl.dialects.ptx import (
    CvtOp,
    SetpOp,
    arith,
    reg,
)
from tileas_xdsl.target.ptx_isa import arithmetic, conversions
from tileas_xdsl.target.ptx_isa.kinds import KINDS, TYPE_KINDS

pytestmark = needs_ptxas
ARCHS = pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
TYPES = [t for t in TYPE_KINDS if t not in ("e4m3x2", "e5m2x2", "tf32")]


def registers(body):
    return {kind: body.undef(kind) for kind in KINDS}


def arithmetic_forms(body):
    values = registers(body)
    roundings = ("", "rn", "rz", "approx", "full")
    flags = ("", "ftz", "nan", "sat", "relu")
    for operation in arith.OPERATIONS:
        name = operation.name.removeprefix("ptx.")
        product_of = name in ("mul", "mad")
        for type, mode in product(TYPES, ("", "lo", "hi", "wide") if product_of else ("",)):
            if mode == "wide" and type not in arith.WIDE_KINDS:
                continue
            for rounding, flag in product(roundings, flags) if not mode else [("", "")]:
                yield arithmetic_form(operation, name, values, type, mode, rounding, flag)


def arithmetic_form(operation, name, values, type, mode, rounding, flag):
    kinds = [TYPE_KINDS[type]] * len(operation.get_irdl_definition().operands)
    for index in arithmetic.COUNT_OPERANDS.get(name, ()):
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

LEFT_OUT = {"ptx.rcp f64 approx ftz": "rcp.approx.ftz.f64, a coarse guess for division"}


@ARCHS
def test_arithmetic(arch, monkeypatch):
    accepted, refused, _ = differences(arithmetic_forms, arch, monkeypatch)
    assert accepted == []
    assert set(refused) == set(UNDOCUMENTED) | set(LEFT_OUT)


def comparisons(body):
    values = registers(body)
    words = {word for known in arithmetic.COMPARISONS.values() for word in known}
    for type, word, ftz in product(TYPES, sorted(words), (False, True)):
        if type == "pred":
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
    known = {(to, source) for to, source in conversions.CONVERSIONS}
    missed = [form for form in refused if tuple(form.split()[1:3]) in known]
    assert missed == []
