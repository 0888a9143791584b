"""A fake suite in real worker processes: what fails, crashes, hangs or loses its device."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks.conformance import scheduler
from benchmarks.conformance.command import main
from benchmarks.conformance.outcomes import Outcome, Result, Run
from benchmarks.conformance.suites import SuiteError, find_suite

ENVIRONMENT = "tests.benchmarks.conformance.fake_environment"

TESTS = """
import os, random, signal, time
import pytest

def test_launched(): environment.launch()
def test_unlaunched(): pass
@pytest.mark.parametrize("run", [1, 2])
def test_seeded(run): assert random.randrange(10**9) == 906691059
def test_wrong(): assert 5 == 6
def test_refused():
    try:
        raise UnsupportedError("no such tile")
    except UnsupportedError as error:
        raise RuntimeError("cannot compile") from error
@pytest.mark.parametrize("n", [1, 2])
def test_skipped(n): pytest.skip("not today")
@pytest.mark.xfail(reason="known")
def test_expected(): assert False
def test_crash(): os.kill(os.getpid(), signal.SIGSEGV)
def test_slow(): time.sleep(60)
def test_deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(60)
def test_loses_device(): environment.break_device()
def test_exits(): os._exit(3)
@pytest.fixture
def broken(): raise KeyError("fixture")
def test_fixture(broken): pass
def bench_is_no_test(): assert False
"""

GOOD = """
import sys
import near
assert sys.argv[1:] == ["--correctness-check"]
"""

CONFTEST = "def pytest_benchmark_update_json(config, benchmarks, output_json): pass\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    files = {
        "test/conftest.py": CONFTEST,
        "test/test_all.py": TESTS,
        "test/test_absent.py": "import a_package_that_nobody_has",
        "test/test_too_old.py": "import os\nos.no_such_name",
        "test/test_refused.py": "raise UnsupportedError",
        "samples/good.py": GOOD,
        "samples/near.py": "environment.launch()",
        "samples/bad.py": "raise SystemExit('Correctness check failed')",
        "samples/test_samples.py": "def test_all(): assert False",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _run(suite: Path, tmp_path: Path, *words: str) -> tuple[int, Run]:
    path = tmp_path / "run.json"
    code = main(
        "A description.",
        [str(suite), "--json", str(path), *words],
        environment=ENVIRONMENT,
        preload=("pytest",),
    )
    return code, Run.read(path)


def _by_name(run: Run) -> Mapping[str, Result]:
    names = {result.id.partition("::")[2] or result.file: result for result in run.results}
    assert len(names) == len(run.results)
    return names


def test_every_test_gets_its_outcome(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduler, "GRACE", 0.5)
    code, run = _run(suite, tmp_path, "-j", "2", "--test-limit", "0.5", "--only", "test/")
    found = {name: (one.outcome, one.kind, one.reason) for name, one in _by_name(run).items()}
    assert code == 0
    assert found.pop("test_deaf")[:2] == (Outcome.FAILED, "time limit")
    assert found.pop("test/test_too_old.py")[:2] == (Outcome.SKIPPED, "not importable")
    assert found.pop("test/test_refused.py")[:2] == (Outcome.REFUSED, "UnsupportedError")
    assert found == {
        "test_launched": (Outcome.LAUNCHED, "", ""),
        "test_unlaunched": (Outcome.UNLAUNCHED, "", ""),
        "test_seeded[1]": (Outcome.UNLAUNCHED, "", ""),
        "test_seeded[2]": (Outcome.UNLAUNCHED, "", ""),
        "test_wrong": (Outcome.FAILED, "wrong result", "assert 5 == 6"),
        "test_refused": (Outcome.REFUSED, "UnsupportedError", "no such tile"),
        "test_skipped[1]": (Outcome.SKIPPED, "by the test", "not today"),
        "test_skipped[2]": (Outcome.SKIPPED, "by the test", "not today"),
        "test_expected": (Outcome.SKIPPED, "expected failure", "known"),
        "test_crash": (Outcome.FAILED, "crash", "the process ended by SIGSEGV"),
        "test_slow": (Outcome.FAILED, "time limit", "more than 0.5 seconds"),
        "test_loses_device": (
            *(Outcome.FAILED, "device error"),
            "CUDA error: an illegal memory access was encountered",
        ),
        "test_exits": (Outcome.FAILED, "crash", "the process ended with 3"),
        "test_fixture": (Outcome.FAILED, "exception: KeyError", "'fixture'"),
        "test/test_absent.py": (
            *(Outcome.SKIPPED, "not importable"),
            "No module named 'a_package_that_nobody_has'",
        ),
    }
    said = capfd.readouterr().out
    assert "18 tests: 1 passed, 3 passed without launch, 7 failed, 2 refused, 5 skipped" in said


def test_programs_are_tests(suite: Path, tmp_path: Path) -> None:
    code, run = _run(suite, tmp_path, "-j", "1", "--only", "samples", "--details")
    found = {result.file: result for result in run.results}
    assert code == 0
    assert found["samples/good.py"].launches == 1
    assert found["samples/good.py"].outcome == found["samples/near.py"].outcome == Outcome.LAUNCHED
    assert found["samples/bad.py"].kind == "wrong result"
    assert "Correctness check failed" in found["samples/bad.py"].reason
    assert len(found) == 3


def test_a_sample_is_compared_with_a_run(
    suite: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test" / "test_all.py").write_text("def test_a(): assert 0\ndef test_b(): pass\n")
    _run(suite, tmp_path, "-j", "1", "--only", "test_all")
    old = (tmp_path / "run.json").rename(tmp_path / "old.json")
    (suite / "test" / "test_all.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    words = ("-j", "1", "--only", "test_all", "--sample", "2", "--compare", str(old))
    _, run = _run(suite, tmp_path, *words)
    assert len(run.results) == 2
    assert "2 tests of both runs: 1 pass now, 0 no more" in capfd.readouterr().out
    _, run = _run(suite, tmp_path, "-j", "1", "--again", str(old))
    assert [result.id for result in run.results] == ["test/test_all.py::test_a"]


def test_a_run_ends_at_its_limit(
    suite: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test" / "test_all.py").write_text("import time\ndef test_a(): time.sleep(60)\n")
    code, run = _run(suite, tmp_path, "-j", "1", "--only", "test_all", "--time-limit", "2")
    assert code == 0
    assert not run.results
    assert "1 tests did not run" in capfd.readouterr().out


def test_a_suite_that_cannot_start_says_why(
    suite: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (suite / "test" / "conftest.py").write_text("raise ValueError('conftest is broken')")
    code, _ = _run(suite, tmp_path, "-j", "1")
    assert code == 1
    assert "conftest is broken" in capfd.readouterr().err


def test_other_folders_are_no_suites(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no checkout of a suite"):
        find_suite(tmp_path)
    assert main("A description.", [str(tmp_path)]) == 1


def test_tilegym_is_found_by_its_sources(tmp_path: Path) -> None:
    (tmp_path / "src" / "tilegym").mkdir(parents=True)
    for name in ("ops", "suites"):
        (tmp_path / "tests" / name).mkdir(parents=True)
    suite = find_suite(tmp_path)
    assert (suite.name, suite.import_paths) == ("TileGym", ("src",))
    assert suite.tests == ("tests/ops", "tests/suites")


@pytest.mark.slow
def test_an_executor_carries_parts_that_are_all_of_the_suite(suite: Path, tmp_path: Path) -> None:
    """A file that no part can import is reported once; no test is lost or runs twice."""
    words = ("--only", "aunched", "--only", "seeded", "--only", "absent", "-j", "1")
    _, whole = _run(suite, tmp_path, *words)
    _, parts = _run(suite, tmp_path, *words, "--executor", "processes:2", "--parts", "2")
    by_name = {name: (one.outcome, one.kind) for name, one in _by_name(whole).items()}
    assert {name: (one.outcome, one.kind) for name, one in _by_name(parts).items()} == by_name
    assert len(by_name) == 5


@pytest.mark.parametrize("words", [("--executor", "threads"), ("--part", "2/2")])
def test_wrong_parts_are_refused(suite: Path, words: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) if words[0] == "--part" else nullcontext():
        assert main("", [str(suite), *words], environment=ENVIRONMENT) == 1
