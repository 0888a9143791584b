"""`python -m kernels.forms`: every form of TMA has a kernel that runs it; wrong rows fail."""

from __future__ import annotations

import pytest

from kernels import Combine, Copy, Kernel, Permute, Reference, Unroll, Windows
from kernels import forms as table
from kernels.compiled import TWO_ORDERS
from kernels.forms import FORMS, Form, Row, run
from kernels.gemm import Gemm
from kernels.simulating import run as interpret
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import TMA_REDUCED

ROWS = [(form, target) for form in FORMS for target in form.targets]
CHEAP = [
    (form, form.targets[-1])
    for form in FORMS
    if not isinstance(form.kernel, Combine) or str(form.kernel) == "combine element=f16"
]


def _name(part: Form | str) -> str:
    return part if isinstance(part, str) else f"{part.name}, {part.kernel}"


@pytest.mark.sample(7)
@pytest.mark.parametrize(("form", "target"), CHEAP, ids=_name)
def test_a_form_is_run(form: Form, target: str) -> None:
    row = run(form, target, TWO_ORDERS[:1])
    assert (row.problems, row.findings) == ([], 0)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "target"), ROWS, ids=_name)
def test_every_row_is_right(form: Form, target: str) -> None:
    assert run(form, target).problems == []


def test_all_reductions_are_there() -> None:
    kernels = [form.kernel for form in FORMS if isinstance(form.kernel, Combine)]
    found = {(RmwMode(kernel.mode), kernel.element) for kernel in kernels}
    assert found == {(mode, str(e)) for mode, elements in TMA_REDUCED.items() for e in elements}


class Off(Copy):
    """A copy whose reference is not what it does."""

    def reference(self, inputs):
        return {1: Reference(inputs[0] + 1)}


@pytest.mark.parametrize(
    ("form", "problems"),
    [
        (Form("", Off(), ""), ["the interpreter differs from numpy", "the emulator differs"]),
        (Form("", Copy(), "tensormap.replace"), ["the PTX has no tensormap.replace"]),
        (
            Form("", Windows(), "tensormap.replace", lacks="tensormap.replace"),
            ["the PTX has tensormap.replace"],
        ),
    ],
)
def test_wrong_rows_say_why(form: Form, problems: list[str]) -> None:
    row = run(form, "sm_90a", TWO_ORDERS[:1])
    assert len(row.problems) == len(problems)
    assert all(map(str.startswith, row.problems, problems))
    assert not row.is_right


def test_the_table_is_printed_and_fails_with_a_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = Row(FORMS[0], "sm_90a", ptxas="ok"), Row(FORMS[1], "sm_90a", ["no"], 2)
    for found, code in (([right], 0), ([right, wrong, right], 1)):
        monkeypatch.setattr(table, "rows", lambda found=found: iter(found))
        assert table.main() == code
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2 + len(found)
        assert lines[2] == "| load of tiles into a pipeline | copy | sm_90a | yes | 0 | ok |"
    assert lines[3] == (
        "| load of tiles outside of a pipeline | bulk_copy | sm_90a | no | 2 | not installed |"
    )


@pytest.mark.parametrize(
    "kernel",
    [Permute(), Unroll(), Unroll("f32", 1, 2, 0, 2, 0, 0), Combine("i32", "umax")],
    ids=str,
)
def test_tiles_compute_what_numpy_does(kernel: Kernel) -> None:
    found = interpret(kernel).deviation
    assert found.is_right


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Combine(mode="xchg"), "TMA combines by add, min"),
        (lambda: Combine(mode="xor"), "xor is for integers, not for f32"),
        (lambda: Windows(born="moon"), "windows are born of block or host, not of moon"),
    ],
)
def test_what_there_is_not(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_form_of_a_gemm_is_ragged() -> None:
    for form in FORMS:
        if isinstance(form.kernel, Gemm):
            assert all(form.sizes[x] % 64 for x in "mnk")
