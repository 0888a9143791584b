"""Wrong kernels are reported with the right diagnosis, under schedules that expose them."""

from __future__ import annotations

import pytest

from kernels.faults import SEEDS, Finding, find, row, table
from kernels.mutations import EditError, after, before, in_agent, replacing, swapping, without
from kernels.simulating import parse, schedules
from kernels.wrong_kernels import FAULTS, Fault
from tileas_xdsl.diagnostics.emission import OpError


def _assert_says(fault: Fault, finding: Finding) -> None:
    for part in fault.says:
        assert part in finding.story, (part, finding.story)
    lines = fault.text.splitlines()
    places = [lines[k - 1] for k in finding.places]
    assert any(part in line for part in fault.at for line in places), (places, finding.story)


RIGHT = [*{fault.kernel: fault for fault in FAULTS[:3]}.values()]
"""A fault of each of the first kernels."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_faults_are_found(fault: Fault) -> None:
    found = row(fault, SEEDS)
    assert len(found.found) == found.tried, found.found_by
    for finding in found.found:
        _assert_says(fault, finding)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_verifier_refuses_what_the_table_says(fault: Fault) -> None:
    if not fault.refused:
        parse(fault.text)
        return
    with pytest.raises(OpError) as error:
        parse(fault.text)
    assert fault.refused in str(error.value)


@pytest.mark.parametrize("fault", RIGHT, ids=lambda fault: str(fault.kernel))
def test_the_kernel_without_the_edit_is_not_accused(fault: Fault) -> None:
    right = Fault(fault.name, fault.kernel, str, fault.says, fault.at)
    assert not any(find(right, schedule).diagnostics for schedule in schedules(SEEDS))


def test_the_table() -> None:
    lines = table(FAULTS[:1], seeds=1).splitlines()
    assert lines[0] == "| fault | found by | message |"
    assert lines[2].startswith(f"| {FAULTS[0].name} | every schedule | `")


TEXT = "a\nb\n  agent 0 {\n    b\n  }, agent 1 {\n    b\n    c\n  }\n"


def test_edits() -> None:
    assert replacing("b", "x", times=2)(TEXT) == TEXT.replace("b", "x", 2)
    assert without("b")("a\nb\nb\n") == "a\nb\n"
    assert swapping("a", "c")("a\nb\nc\n") == "c\nb\na\n"
    assert after("a", "x", "y")("a\nb\n") == "a\nx\ny\nb\n"
    assert before("b", "x")("a\nb\n") == "a\nx\nb\n"
    assert in_agent(1, replacing("b", "x"))(TEXT) == TEXT.replace("b\n    c", "x\n    c")


@pytest.mark.parametrize(
    "edit",
    [
        replacing("c", "x", times=2),
        without("c", times=2),
        swapping("c", "a"),
        after("z", "x"),
        in_agent(0, without("c")),
        in_agent(2, without("c")),
    ],
)
def test_an_edit_that_finds_nothing_is_an_error(edit: object) -> None:
    assert callable(edit)
    with pytest.raises(EditError):
        edit(TEXT)
