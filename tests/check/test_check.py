"""`tileas_xdsl.check`: findings, suppressions, the assertion and the formats."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.check.racy_kernel import RIGHT, WRONG
from tileas_xdsl import check
from tileas_xdsl.check.formats import to_github, to_json, to_sarif

X = np.zeros(64, np.uint32)


def test_a_right_kernel_has_no_findings_and_leaves_its_results() -> None:
    report = check.ptx(RIGHT, 1, [X, 64], 64)
    assert not report.findings
    assert report.arrays[0].tolist() == list(range(63, -1, -1))
    assert not X.any()


def test_findings_of_all_orders_are_merged_and_have_their_source() -> None:
    report = check.ptx(WRONG, 1, [X[:60].copy(), 64], 64, schedules=3, name="swap.ptx")
    assert [(f.kind, f.path, f.line) for f in report.findings] == [
        ("race-RAW", "swap.ptx", 22),
        ("illegal-address", "swap.ptx", 28),
    ]
    assert [(f.origin.path, f.origin.line) for f in report.findings if f.origin] == [
        ("swap.py", 9),
        ("swap.py", 10),
    ]


@pytest.mark.parametrize("allow", ["race-RAW", "race-RAW:22", "race-RAW:9"])
def test_accepted_findings_do_not_fail(allow: str) -> None:
    report = check.ptx(WRONG, 1, [X, 64], 64, allow=[allow], schedules=1)
    assert not report.failures
    assert len(report.accepted) == 1


def test_a_suppression_at_another_line_accepts_nothing() -> None:
    report = check.ptx(WRONG, 1, [X, 64], 64, allow=["race-RAW:23"], schedules=1)
    assert len(report.failures) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("race-RAM", "'race-RAM' is no kind of finding; did you mean 'race-RAW'?"),
        ("race-RAW:x", "'race-RAW:x': 'x' is no line; that is KIND or KIND:LINE"),
    ],
)
def test_a_suppression_of_nothing_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="race") as error:
        check.parse_suppression(text)
    assert str(error.value) == message


def test_a_kernel_that_does_not_end_is_a_finding() -> None:
    text = RIGHT.replace("    bar.sync 0;", "again:\n    add.u32 %r0, %r0, 1;\n    bra again;")
    report = check.ptx(text, 1, [X, 64], 32, limit=1000, schedules=1)
    assert [f.kind for f in report.failures] == ["deadlock"]


def test_the_assertion_fails_for_findings_and_for_nothing() -> None:
    assert_no_findings = check.assert_no_findings
    assert_no_findings(check.ptx(RIGHT, 1, [X, 64], 64, schedules=1))
    with pytest.raises(AssertionError, match=r"swap:\n.*race-RAW"):
        assert_no_findings([check.ptx(WRONG, 1, [X, 64], 64, schedules=1)])
    with pytest.raises(AssertionError, match="nothing was checked"):
        assert_no_findings([])


@pytest.mark.parametrize("given", [None, "abc", [1], 3])
def test_what_is_no_report_is_said_to_be_none(given: Any) -> None:
    with pytest.raises(TypeError, match=r"reports are what functions of tileas_xdsl\.check give"):
        check.assert_no_findings(given)


def test_the_fixture_of_pytest_is_an_entry_point() -> None:
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())
    module = project["project"]["entry-points"]["pytest11"]["tileas_check"]
    fixture = import_module(module).assert_no_findings
    assert fixture.__wrapped__() is check.assert_no_findings


def test_formats_name_the_source_and_the_ptx() -> None:
    report = check.ptx(WRONG, 1, [X, 64], 64, name="swap.ptx", schedules=1)
    found = json.loads(to_json(report.findings, [], {"kernel": "swap"}))["findings"][0]
    assert found["origin"] == {"path": "swap.py", "line": 9, "column": 5}
    assert found["location"]["line"] == 22
    run = json.loads(to_sarif(report.findings, report.findings, "1"))["runs"][0]
    result, accepted = run["results"]
    region = result["locations"][0]["physicalLocation"]
    assert region["artifactLocation"]["uri"] == "swap.py"
    assert region["region"] == {"startLine": 9, "startColumn": 5}
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 22
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "race-RAW"
    assert accepted["suppressions"] == [{"kind": "external"}]
    line = to_github(report.findings)
    assert line.startswith("::error file=swap.py,line=9,col=5,title=race-RAW (error)::'ld.shared")
    assert line.count("\n") == 1
    assert "[%25r3]" in line
