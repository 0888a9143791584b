"""`tileas simulate` from the command line: results, files, schedules, errors."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from tests.support.ir import parse as parse_module
from tests.tools.kernels_to_run import ADD, DIVIDE, SHIFT, TYPES
from tests.tools.spying import spy
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
from tileas_xdsl.runtime.array_comparison import first_difference
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.tuning.prediction.module_prediction import predict_module

N = 150
ARRAYS = ("--arg", f"f32:{N}:random", "--arg", f"f32:{N}:normal", "--arg", f"f32:{N}:zeros")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a folder of its own with the kernels."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("add", ADD), ("shift", SHIFT), ("divide", DIVIDE)):
        (tmp_path / f"{name}.mlir").write_text(TYPES + text)
    (tmp_path / "all.mlir").write_text(TYPES + ADD + SHIFT + DIVIDE)
    return tmp_path


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, ["simulate", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert "internal error" not in result.output
    return result


def run_add(*args: str) -> Result:
    return run("add.mlir", "--grid", "3", *ARRAYS, *args)


def fact(result: Result, name: str) -> str:
    found = re.search(rf"^{name}  +(.*)$", result.stdout, re.MULTILINE)
    assert found, result.stdout
    return found[1]


def loaded(folder: str, count: int = 3) -> list[np.ndarray]:
    return [np.load(Path(folder) / f"arg{n}.npy") for n in range(count)]


# What a run prints and writes.


def test_results_are_written_and_summarised() -> None:
    result = run_add("--out", "results")
    assert (result.exit_code, result.stderr) == (0, "")
    a, b, c = loaded("results")
    np.testing.assert_array_equal(c, a + b)
    assert np.unique(c).size == N
    assert (np.abs(a).max() < 1, np.abs(b).max() > 1) == (True, True)
    assert fact(result, "blocks") == "3"
    assert int(fact(result, "operations")) >= 3 * 12
    assert int(fact(result, "cycles")) > 0
    assert float(fact(result, "wall time").split()[0]) > 0
    assert fact(result, "speed").endswith(" operations/s")
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("arg")]
    assert [row[:2] for row in rows] == [["arg0", "a"], ["arg1", "b"], ["arg2", "c"]]
    assert rows[0][2:4] == ["memref<?xf32>", "no"]
    assert rows[2][2:6] == ["memref<?xf32>", str(N), "of", str(N)]
    numbers = [float(text) for text in rows[2][-3:]]
    np.testing.assert_allclose(numbers, [c.min(), c.max(), c.mean()], rtol=1e-5)
    assert sorted(p.name for p in Path("results").iterdir()) == [f"arg{n}.npy" for n in range(3)]


def test_what_a_run_leaves_out_is_unchanged() -> None:
    result = run("add.mlir", "--grid", "2", *ARRAYS, "--out", "results")
    a, b, c = loaded("results")
    np.testing.assert_array_equal(c[:128], (a + b)[:128])
    assert not c[128:].any()
    assert re.search(r"arg2 .* 128 of 150 ", result.stdout)


def test_files_go_in_and_stay_as_they_are() -> None:
    rng = np.random.default_rng(21)
    given = [rng.standard_normal(N).astype(np.float32) for _ in range(3)]
    specs: list[str] = []
    for name, values in zip("abc", given, strict=True):
        np.save(f"{name}.npy", values)
        specs += ["--arg", f"@{name}.npy"]
    assert run("add.mlir", "--grid", "3,1,1", *specs, "--out", ".").exit_code == 0
    np.testing.assert_array_equal(loaded(".")[2], given[0] + given[1])
    np.testing.assert_array_equal(np.load("c.npy"), given[2])


@pytest.mark.parametrize("n", [0, 5, 86])
def test_scalars_reach_the_kernel(n: int) -> None:
    arrays = ("--arg", f"f32:{N}:random", "--arg", "f32:64:zeros")
    result = run("shift.mlir", "--grid", "1", *arrays, "--arg", f"index:{n}", "--out", "o")
    assert result.exit_code == 0
    a, b = loaded("o", 2)
    np.testing.assert_array_equal(b, a[n : n + 64])
    assert "arg2" not in result.stdout
    assert not Path("o/arg2.npy").exists()


def test_a_kernel_without_arrays_prints_no_table() -> None:
    result = run("divide.mlir", "--grid", "1", "--arg", "i32:7", "--arg", "i32:2")
    assert result.exit_code == 0
    assert "array" not in result.stdout


def test_the_kernel_is_named_where_there_are_several() -> None:
    result = run("all.mlir", "--kernel", "add", "--grid", "3", *ARRAYS)
    assert result.exit_code == 0
    assert result.stdout.count("memref<?xf32>") == 3


def test_the_time_on_a_gpu_is_predicted_as_for_tuning() -> None:
    result = run("all.mlir", "--kernel", "add", "--grid", "3", *ARRAYS, "--predict")
    assert (result.exit_code, result.stderr) == (0, "")
    found = predict_module(parse_module(TYPES + ADD), "sm_90a", (None, None, None), (3, 1, 1))
    assert found is not None
    assert re.search(rf"^predicted +{found.microseconds:.4g} us$", result.stdout, re.M)
    assert re.search(rf"^bound by +{found.bound}$", result.stdout, re.M)
    refused = run("add.mlir", "--grid", "3", *ARRAYS, "--level", "ptx", "--predict")
    assert "--predict has no meaning with --level ptx" in refused.stderr


def test_old_results_are_replaced() -> None:
    Path("o").mkdir()
    Path("o/arg2.npy").write_bytes(b"old")
    Path("o/other.txt").write_text("mine")
    assert run_add("--out", "o").exit_code == 0
    assert np.unique(loaded("o")[2]).size == N
    assert sorted(os.listdir("o")) == ["arg0.npy", "arg1.npy", "arg2.npy", "other.txt"]


def test_traces_and_timelines_are_written() -> None:
    result = run_add("--trace", "t.json", "--timeline", "t.svg")
    assert (result.exit_code, result.stderr) == (0, "")
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {"block (0, 0, 0)", "block (2, 0, 0)"} <= names
    assert any(event["ph"] == "X" and event["dur"] > 0 for event in events)
    assert ElementTree.parse("t.svg").getroot().tag.endswith("svg")
    before = Path("t.json").read_text()
    run_add("--trace", "t.json")
    assert Path("t.json").read_text() == before


def test_blocks_may_run_in_several_processes() -> None:
    alone = run_add("--out", "alone")
    shared = run_add("--out", "shared", "--executor", "processes:2")
    assert (shared.exit_code, shared.stderr) == (0, "")
    for one, other in zip(loaded("alone"), loaded("shared"), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in ("blocks", "operations", "cycles"):
        assert fact(alone, name) == fact(shared, name)


# Schedules.


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Schedule]:
    """The schedules that runs had, in order."""
    return spy(monkeypatch, lambda schedule, simulation: simulation)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [("round-robin", 0)]),
        (["--seed", "4"], [("random", 4)]),
        (["--policy", "random"], [("random", 0)]),
        (["--policy", "random", "--seed", "9"], [("random", 9)]),
        (["--policy", "adversarial"], [("adversarial", 0)]),
        (["--schedules", "1"], [("round-robin", 0)]),
        (["--schedules", "2"], [("round-robin", 0), ("adversarial", 0)]),
        (
            ["--schedules", "4"],
            [("round-robin", 0), ("adversarial", 0), ("random", 0), ("random", 1)],
        ),
        (
            ["--schedules", "4", "--seed", "50"],
            [("round-robin", 0), ("adversarial", 0), ("random", 50), ("random", 51)],
        ),
    ],
)
def test_which_schedules_run(
    options: list[str], expected: Sequence[tuple[str, int]], seen: list[Schedule]
) -> None:
    result = run_add(*options)
    assert result.exit_code == 0
    assert [(schedule.policy, schedule.seed) for schedule in seen] == expected
    assert ("same results" in result.stdout) == (len(expected) > 1)


def repeated(result: Result) -> list[str]:
    """The last command that an error names, without `tileas simulate`."""
    words = shlex.split(result.stderr.strip().splitlines()[-1])
    start = len(words) - words[::-1].index("tileas")
    assert words[start] == "simulate"
    return words[start + 1 :]


def test_the_first_schedule_that_fails_is_told_with_its_command(monkeypatch) -> None:
    def fail(schedule: Schedule, simulation: Simulation) -> Simulation:
        if schedule == Schedule("random", 1):
            raise fault(None, "race on c[3]", ["agent 1 wrote it", "agent 2 read it"])
        return simulation

    schedules = spy(monkeypatch, fail)
    result = run_add("--schedules", "9", "--out", "o", "--jobs", "1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(schedules) == 4
    story = "error: race on c[3]\n<unknown>:0: note: agent 1 wrote it\n<unknown>:0: note: agent 2"
    assert story in result.stderr
    assert not Path("o").exists()
    again = run(*repeated(result))
    assert (again.exit_code, again.stdout) == (1, "")
    assert story in again.stderr
    assert "again" not in again.stderr
    assert schedules[-1] == Schedule("random", 1)


def test_the_trace_is_that_of_the_run_that_fails(monkeypatch) -> None:
    def fail(schedule: Schedule, simulation: Simulation) -> Simulation:
        if schedule.policy == "round-robin":
            return simulation
        error = fault(None, "race")
        lane = Lane("block (7, 0, 0)", "agent 3")
        setattr(error, "trace", Trace([Span(lane, "the last step", 5, 9, "work")]))  # noqa: B010
        raise error

    spy(monkeypatch, fail)
    result = run_add("--schedules", "2", "--trace", "t.json", "--timeline", "t.svg", "--out", "o")
    assert result.exit_code == 1
    assert "the last step" in Path("t.json").read_text()
    assert "block (7, 0, 0)" in Path("t.svg").read_text()
    assert not Path("o").exists()


def changed(simulation: Simulation, index: int, value: float) -> Simulation:
    arrays = [np.array(array) for array in simulation.arrays]
    arrays[2][index] = value
    return dataclasses.replace(simulation, arrays=arrays)


def test_results_that_depend_on_the_schedule_are_told(monkeypatch) -> None:
    def change(schedule: Schedule, simulation: Simulation) -> Simulation:
        if schedule.policy != "adversarial":
            return simulation
        return changed(changed(simulation, 149, 7.0), 20, 5.25)

    schedules = spy(monkeypatch, change)
    given = ("--arg", "f32:150:ones", "--arg", "f32:150:iota", "--arg", "f32:150:zeros")
    result = run("add.mlir", "--grid", "3", *given, "--schedules", "9", "--out", "o")
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(schedules) == 2
    assert (
        "tileas: error: argument 2 (%c: memref<?xf32>) depends on the schedule: 2 of 150 elements "
        "differ, the first at [20]: 21.0 before, 5.25 after; to see both: tileas simulate"
    ) in result.stderr
    assert not Path("o").exists()
    assert run(*repeated(result), "--out", "o").exit_code == 0
    assert loaded("o")[2][20] == 5.25


def test_a_tolerance_forgives_floats(monkeypatch) -> None:
    def change(schedule: Schedule, simulation: Simulation) -> Simulation:
        last = simulation.arrays[2]
        assert isinstance(last, np.ndarray)
        return simulation if schedule.seed == 0 else changed(simulation, 7, last[7] + 1e-4)

    spy(monkeypatch, change)
    assert run_add("--schedules", "4").exit_code == 1
    assert run_add("--schedules", "4", "--tolerance", "1e-5").exit_code == 1
    assert run_add("--schedules", "4", "--tolerance", "1e-3").exit_code == 0


@pytest.mark.parametrize(
    ("before", "after", "tolerance", "index"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), 0.0, None),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), 0.0, (1,)),
        (np.array([1.0, 0.0]), np.array([1.0, -0.0]), 0.0, (1,)),
        (np.array([1.0, 0.0]), np.array([1.0, -0.0]), 1e-9, None),
        (np.array([np.inf, 3.0]), np.array([np.inf, 3.1]), 0.05, None),
        (np.array([np.inf, 3.0]), np.array([-np.inf, 3.0]), 0.05, (0,)),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [5, 5]]), 100.0, (1, 0)),
        (np.array([100.0, 0.01]), np.array([101.0, 0.03]), 0.019, (1,)),
        (np.array([100.0, 0.01]), np.array([101.0, 0.03]), 0.021, None),
        (np.float32(1.5), np.float32(1.5), 0.0, None),
        (3, 4, 0.0, ()),
    ],
)
def test_what_counts_as_a_difference(before, after, tolerance, index) -> None:
    found = first_difference([before], [after], tolerance)
    assert (None if found is None else found.index) == index


# Wrong input.


def test_a_fault_is_told_with_its_place() -> None:
    result = run("divide.mlir", "--grid", "1", "--arg", "i32:7", "--arg", "i32:0", "--out", "o")
    assert (result.exit_code, result.stdout) == (1, "")
    line = (TYPES + DIVIDE).splitlines().index("  %q = arith.divsi %a, %b : i32") + 1
    assert f"divide.mlir:{line}:8: error: 'arith.divsi' op division by zero" in result.stderr
    assert result.stderr.splitlines()[1:3] == ["  %q = arith.divsi %a, %b : i32", " " * 7 + "^"]
    assert not Path("o").exists()


NO_BODY = "func.func private @f()\n"
BAD = "func.func @f(%a: i32) -> i64 {\n  func.return %a : i32\n}\n"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["none.mlir", "--grid", "1"], 1, "none.mlir:1:1: error: cannot read the file: No such"),
        (["sub.mlir", "--grid", "1"], 1, "sub.mlir:1:1: error: cannot read the file: Is a dir"),
        (["syntax.mlir", "--grid", "1"], 1, "syntax.mlir:1:6: error: operation name expected"),
        (["bytes.mlir", "--grid", "1"], 1, "bytes.mlir:1:1: error: the input is not UTF-8"),
        (["bad.mlir", "--grid", "1"], 1, "bad.mlir:2:3: error: 'func.return' op Expected"),
        (["empty.mlir", "--grid", "1"], 1, "has no kernel"),
        (["no_body.mlir", "--grid", "1"], 1, "has no kernel"),
        (["all.mlir", "--grid", "1"], 1, "say which one to run: @add, @shift, @divide"),
        (["all.mlir", "--grid", "1", "--kernel", "ad"], 1, "has no kernel @ad; it has @add,"),
        (
            ["add.mlir", "--grid", "1", *ARRAYS[:4]],
            1,
            "kernel takes 3 arguments (%a: memref",
        ),
        (["add.mlir", "--grid", "1", *ARRAYS, "--arg", "i32:1"], 1, "but 4 are given"),
        (["add.mlir", "--grid", "1", *ARRAYS[:4], "--arg", "f16:9:ones"], 1, "has elements of f16"),
        (["add.mlir", "--grid", "1", *ARRAYS[:4], "--arg", "f32:9x9:ones"], 1, "has rank 2"),
        (["add.mlir", "--grid", "1", *ARRAYS[:4], "--arg", "f32:9"], 1, "is a scalar, but"),
        (["add.mlir", "--grid", "1", *ARRAYS[:4], "--arg", "@no.npy"], 1, "cannot read 'no.npy'"),
        (
            ["add.mlir", "--grid", "1", *ARRAYS[:4], "--arg", "@add.mlir"],
            1,
            "is no whole .npy file",
        ),
        (["add.mlir", "--grid", "1", *ARRAYS, "--out", "add.mlir"], 1, "it is no folder"),
        (
            ["add.mlir", "--grid", "1", *ARRAYS, "--trace", "no/t.json"],
            1,
            "there is no folder 'no'",
        ),
        (["add.mlir", "--grid", "1", *ARRAYS, "--timeline", "."], 1, "cannot write '.'"),
        (["--grid", "1"], 2, "Missing argument 'INPUT'"),
        (["add.mlir"], 2, "Missing option '--grid'"),
        (["", "--grid", "1"], 2, "the name of the file is empty"),
        (["-", "--grid", "1"], 2, "'-' is no .mlir file"),
        (["k.txt", "--grid", "1"], 2, "'k.txt' is no .mlir file"),
        (["add.mlir", "--grid", "1", "--order", "lazy"], 2, "--order has no meaning with --level"),
        (["add.mlir", "--grid", "1", "--shared", "64"], 2, "--shared has no meaning with --level"),
        (
            ["add.mlir", "--grid", "1", "--level", "sass"],
            2,
            "'sass' is not one of 'tileir', 'tile', 'ptx'",
        ),
        (["add.mlir", "--grid", "0"], 2, "'0' are no extents: that is X, X,Y or X,Y,Z"),
        (["add.mlir", "--grid", "1,2,3,4"], 2, "'1,2,3,4' are no extents"),
        (["add.mlir", "--grid", "-1"], 2, "'-1' are no extents"),
        (["add.mlir", "--grid", "9999,9999"], 2, "9999,9999 are more than 4194304 blocks"),
        (["add.mlir", "--grid", "1", "--cluster", "two"], 2, "'two' are no extents"),
        (
            ["add.mlir", "--grid", "1", "--target", "sm_80"],
            2,
            "unknown target 'sm_80'; known: sm_90a",
        ),
        (["add.mlir", "--grid", "1", "--arg", "f32:9:rnd"], 2, "unknown fill 'rnd'"),
        (["add.mlir", "--grid", "1", "--arg", "f33:9"], 2, "unknown element type 'f33'"),
        (["add.mlir", "--grid", "1", "--jobs", "0"], 2, "Invalid value for '--jobs'"),
        (["add.mlir", "--grid", "1", "--executor", "x"], 2, "there is no executor 'x'"),
        (["add.mlir", "--grid", "1", "--schedules", "0"], 2, "Invalid value for '--schedules'"),
        (["add.mlir", "--grid", "1", "--seed", "-1"], 2, "Invalid value for '--seed'"),
        (["add.mlir", "--grid", "1", "--tolerance", "inf"], 2, "inf is no tolerance"),
        (["add.mlir", "--grid", "1", "--policy", "fair"], 2, "'fair' is not one of"),
        (["add.mlir", "--grid", "1", "--policy", "random", "--schedules", "2"], 2, "give one of"),
        (["add.mlir", "--grid", "1", "--policy", "adversarial", "--seed", "1"], 2, "has none"),
        (["add.mlir", "--grid", "1", "--out", ""], 2, "the name of the file is empty"),
        (["add.mlir", "more.mlir", "--grid", "1"], 2, "unexpected extra argument"),
    ],
)
def test_wrong_calls_are_told_why(args: list[str], code: int, message: str, folder: Path) -> None:
    (folder / "sub.mlir").mkdir()
    for name, data in (
        ("syntax", b"%0 = "),
        ("bytes", b"\xff"),
        ("bad", BAD.encode()),
        ("empty", b""),
        ("no_body", NO_BODY.encode()),
    ):
        (folder / f"{name}.mlir").write_bytes(data)
    before = sorted(folder.rglob("*"))
    result = run(*args)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in " ".join(result.stderr.split())
    assert sorted(folder.rglob("*")) == before


def test_what_cannot_be_written_leaves_nothing(folder: Path) -> None:
    Path("o").mkdir()
    Path("o/arg2.npy").mkdir()
    result = run_add("--out", "o")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "tileas: error: cannot write 'o/arg2.npy': Is a directory\n"
    assert os.listdir("o") == ["arg2.npy"]


# The installed command.


def call(*args: str, stderr: int) -> subprocess.Popen[bytes]:
    tool = Path(sys.executable).with_name("tileas")
    command = [str(tool), "simulate", "add.mlir", "--grid", "3", *ARRAYS, *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)


def read_to_the_end(terminal: int) -> bytes:
    """What was drawn on a terminal that nobody holds any more."""
    drawn = b""
    try:
        while data := os.read(terminal, 1 << 16):
            drawn += data
    except OSError:
        pass
    finally:
        os.close(terminal)
    return drawn


def test_a_bar_is_shown_on_a_terminal_only() -> None:
    piped = call(stderr=subprocess.PIPE)
    out, err = piped.communicate()
    assert (piped.returncode, err) == (0, b"")
    assert b"blocks" in out
    ours, theirs = os.openpty()
    shown = call("--schedules", "3", stderr=theirs)
    out, _ = shown.communicate()
    os.close(theirs)
    drawn = read_to_the_end(ours)
    assert shown.returncode == 0
    assert b"--policy" in drawn
    assert b"3, all with the same results" in out
