"""Operations of Tile IR by element type and mode: on every level they are what they mean.

The table has all of them; the suite runs a sample, `-m slow` all.
"""

from __future__ import annotations

import pytest

from tests.support.random_tile_ir.judge import TARGETS, Kind, judge_text
from tests.support.tile_ir_forms import FAMILIES, kernel_of
from tests.support.tile_ir_forms.judging import is_form, judged

FORMS = {form.name: form for family in FAMILIES.values() for form in family()}

FOUND = (
    "mulhii i1",
    "remi signed i1",
    "divi unsigned rounding<positive_inf> i1",
    "addf rounding<negative_inf> bf16",
    "fma rounding<positive_inf> f16",
    "divf rounding<zero> bf16",
    "sqrt rounding<zero> f16",
    "fpowi f32 i1",
    "itof signed i16 f8E4M3FN",
    "itof unsigned i32 f8E5M2",
    "ftoi unsigned saturating f16 i64",
    "pack tf32",
    "pack i4",
    "unpack f4E2M1FN",
    "exti unsigned i4 i16",
    "trunci i32 i4",
    "ftof f64 f4E2M1FN",
    "ftof bf16 f4E2M1FN",
    "ftoi signed saturating f4E2M1FN i8",
    "permute f4E2M1FN",
    "reshape f8E8M0FNU",
)
"""Forms that were refused or wrong."""


@pytest.mark.parametrize("target", TARGETS)
def test_forms_that_were_wrong_once(target: str) -> None:
    """One kernel runs half of them."""
    names = FOUND[TARGETS.index(target) :: len(TARGETS)]
    verdict = judge_text(kernel_of([FORMS[name] for name in names]), targets=(target,))
    assert verdict.kind is Kind.RIGHT, verdict


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_form(family: str, target: str) -> None:
    forms = [form for form in FAMILIES[family]() if is_form(form)]
    wrong = [
        f"{form.name}: {verdict}"
        for form, verdict in judged(forms, target)
        if verdict.kind in (Kind.WRONG, Kind.BROKEN)
    ]
    assert not wrong, "\n".join(wrong)
