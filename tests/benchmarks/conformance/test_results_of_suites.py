"""Results of a suite: the file, one wording for many messages, tables, samples, private tests."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from benchmarks.conformance.outcomes import Outcome, Result, Run, Writer
from benchmarks.conformance.private_tests import PRIVATE_TESTS, as_private, reason_of
from benchmarks.conformance.reasons import normalised, ranked
from benchmarks.conformance.sampling import sampled
from benchmarks.conformance.tables import by_file, comparison, reasons, share, summary

SUITE = "a suite"
RESULTS = (
    Result("a.py::one", Outcome.LAUNCHED, launches=2),
    Result(
        "a.py::two[1]", Outcome.REFUSED, "OpError", "x.py:1:2: error: 'nv.dot' op takes 64x8xf16"
    ),
    Result(
        "a.py::two[2]", Outcome.REFUSED, "OpError", "x.py:7:2: error: 'nv.dot' op takes 32x8xf32"
    ),
    Result("b.py::far", Outcome.REFUSED, "OpError", "'nv.dot' op takes 2x2x2xbf16"),
    Result("b.py::three", Outcome.FAILED, "wrong result", "5 is not 6"),
    Result("b.py::four", Outcome.SKIPPED, "by the test", "needs Blackwell"),
)


def test_messages_of_one_meaning_get_one_wording() -> None:
    assert normalised("%acc#1 at /usr/lib/a.py:3 is 1.5e-3 of (4, 5, 6)") == (
        "%x at FILE is N of (N, N)"
    )
    assert normalised("tensor<64x?xf16> of 'name', 8 f8E4M3FN") == "tensor<NxT> of 'x', N T"
    assert normalised("No module named 'cupy'") == "No module named 'cupy'"
    assert normalised("V13_4 and fp16x2 stay") == "V13_4 and fp16xN stay"
    assert len(normalised("a " * 400)) == 160


def test_reasons_are_ranked_by_how_many_share_them() -> None:
    first, second, third = ranked(RESULTS)
    assert (first.outcome, first.count) == (Outcome.FAILED, 1)
    assert (second.outcome, second.count, second.files) == (Outcome.REFUSED, 3, 2)
    assert (second.reason, second.example) == ("'nv.dot' op takes NxT", "b.py::far")
    assert third.outcome == Outcome.SKIPPED


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with path.open("w") as file:
        writer = Writer(file)
        writer.begin({"suite": SUITE})
        for number, result in enumerate(RESULTS, 1):
            writer.add(result)
            assert len(path.read_text().splitlines()) == number + 1
    assert Run.read(path) == Run({"suite": SUITE}, list(RESULTS))


def test_a_file_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    file = StringIO()
    writer = Writer(file)
    writer.begin({})
    for result in RESULTS[:2]:
        writer.add(result)
    path = tmp_path / "run.json"
    path.write_text(file.getvalue()[:-9])
    assert Run.read(path).results == [RESULTS[0]]


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "no json\n"])
def test_other_files_are_no_results(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="holds no results of a suite"):
        Run.read(path)


def test_tables_count_by_file_and_by_reason() -> None:
    header, a, b, everything = by_file(RESULTS).splitlines()
    assert header.split()[:2] == ["file", "passed"]
    assert a.split() == ["a.py", "1", "2", "33.3", "%"]
    assert b.split() == ["b.py", "1", "1", "1", "0.0", "%"]
    assert everything.split()[-2:] == ["20.0", "%"]
    assert share({}) == ""
    assert summary(RESULTS).startswith("6 tests: 1 passed, 1 failed, 3 refused, 1 skipped; 20.0 %")
    assert "and 1 more reasons" in reasons([*RESULTS, Result("c.py", Outcome.FAILED, "x")], 1)


def test_what_changed_is_said_by_reason() -> None:
    now = [
        Result("a.py::one", Outcome.FAILED, "wrong result", "1 is not 2"),
        Result("a.py::two[1]", Outcome.LAUNCHED),
        Result("b.py::far", Outcome.REFUSED, "OpError", "'nv.dot' op takes 8x8xbf16"),
        Result("b.py::three", Outcome.REFUSED, "OpError", "'nv.scan' op is new"),
        Result("c.py::new", Outcome.FAILED, "wrong result", "3 is not 4"),
    ]
    said = comparison(Run({"torch": "2.11"}, RESULTS), Run({"torch": "2.13"}, now), 9)
    assert said.splitlines()[0] == "torch: 2.11 before, 2.13 now"
    assert "4 tests of both runs: 1 pass now, 1 no more, 1 have another reason" in said
    assert "'nv.dot' op takes NxT" in said
    assert "3 is not 4" not in said
    assert "N is not N" in said
    assert "'nv.scan' op is new" in said


def test_samples_do_not_depend_on_other_tests() -> None:
    names = [f"{file}.py::test[{n}]" for file in "abc" for n in range(20)]
    two, three = sampled(names, 2), sampled(names, 3)
    assert [*two] == [name for name in three if name in two]
    assert len(two) == 6
    assert sampled(reversed(names), 2) == two
    assert sorted(sampled(names, None)) == sorted(names)
    only_a = [name for name in names if name.startswith("a")]
    assert [*sampled(only_a, 2)] == [name for name in two if name.startswith("a")]


def test_private_tests_are_private_only_where_they_do_not_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {"a.py::two": "replaces a private function", "c.py": "reads private classes"}
    monkeypatch.setitem(PRIVATE_TESTS, SUITE, table)
    assert reason_of(SUITE, "a.py::two[1]") == "replaces a private function"
    assert reason_of(SUITE, "c.py::any") == "reads private classes"
    assert reason_of(SUITE, "a.py::twofold") is None
    assert as_private(SUITE, RESULTS[1]).outcome == Outcome.PRIVATE
    assert as_private("another suite", RESULTS[1]) == RESULTS[1]
    passed = Result("c.py::any", Outcome.UNLAUNCHED)
    assert as_private(SUITE, passed) == passed
