"""`tileas validate`: right passes are let through, the first wrong one is named."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tests.tools.kernels_to_run import ADD, SHIFT, TYPES
from tests.tools.spying import spy
from tileas_xdsl.diagnostics.emission import emit_error, emit_warning
from tileas_xdsl.installed import installed_universe
from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation
from tileas_xdsl.tools.running import validation
from tileas_xdsl.tools.tileas import app

N = 150
ARRAYS = ("--arg", f"f32:{N}:ones", "--arg", f"f32:{N}:iota", "--arg", f"f32:{N}:zeros")


def kernel(module: ModuleOp) -> func.FuncOp:
    return next(op for op in module.walk() if isinstance(op, func.FuncOp))


def body(module: ModuleOp) -> Block:
    return kernel(module).body.block


def addition(module: ModuleOp) -> arith.AddfOp:
    return next(op for op in module.walk() if isinstance(op, arith.AddfOp))


def replace(old: Operation, *new: Operation) -> None:
    """The new operations instead of the old one, whose result is that of the last."""
    block = old.parent_block()
    assert block is not None
    for op in new:
        op.location = old.location
    block.insert_ops_before(new, old)
    old.results[0].replace_all_uses_with(new[-1].results[0])
    old.detach()
    old.erase()


class Subtracting(ModulePass):
    """Replaces the addition by a subtraction."""

    name = "subtracting"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        old = addition(op)
        replace(old, arith.SubfOp(old.lhs, old.rhs))


class Nudging(ModulePass):
    """Multiplies the sum by 1 + 2^-10."""

    name = "nudging"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        old = addition(op)
        type_ = old.result.type
        factor = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [1 + 2**-10] * 64))
        total = arith.AddfOp(old.lhs, old.rhs)
        replace(old, total, factor, arith.MulfOp(total, factor))


class Swapping(ModulePass):
    """Adds the other way round, which is right."""

    name = "swapping"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        old = addition(op)
        replace(old, arith.AddfOp(old.rhs, old.lhs))


class Dividing(ModulePass):
    """Puts a division by zero at the beginning of the kernel."""

    name = "dividing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        zero = arith.ConstantOp.from_int_and_width(0, i32)
        first = body(op).first_op
        assert first is not None
        new = (zero, arith.DivSIOp(zero, zero))
        body(op).insert_ops_before(new, first)


class Unterminating(ModulePass):
    """Leaves a module that does not verify."""

    name = "unterminating"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        last = body(op).last_op
        assert last is not None
        last.detach()


class Failing(ModulePass):
    name = "failing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("no luck")


class Buggy(ModulePass):
    name = "buggy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("x")


class Complaining(ModulePass):
    name = "complaining"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        emit_error(kernel(op), "goes on")


class Talking(ModulePass):
    name = "talking"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        emit_warning(kernel(op), "careful")


class Renaming(ModulePass):
    """The kernel is called otherwise."""

    name = "renaming"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernel(op).properties["sym_name"] = StringAttr("other")


class Extending(ModulePass):
    """The kernel takes one argument more."""

    name = "extending"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        block = body(op)
        block.insert_arg(i32, len(block.args))
        kernel(op).update_function_type()


PASSES = (
    Subtracting, Nudging, Swapping, Dividing, Unterminating, Failing, Buggy, Complaining, Talking,
    Renaming, Extending,
)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with kernels, and a universe with passes that do harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "add.mlir").write_text(TYPES + ADD)
    (tmp_path / "all.mlir").write_text(TYPES + ADD + SHIFT)
    for each in PASSES:
        monkeypatch.setitem(installed_universe().all_passes, each.name, lambda each=each: each)
    return tmp_path


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, ["validate", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


def run_add(passes: str, *args: str) -> Result:
    return run("add.mlir", "-p", passes, "--grid", "3", *ARRAYS, *args)


def table(result: Result) -> list[tuple[str, str]]:
    """Each pass and whether it was right; where it was, it has cycles."""
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["pass", "ok", "cycles"]
    assert all(int(row[2]) > 0 for row in rows[1:] if row[1] == "yes")
    return [(row[0], row[1]) for row in rows[1:]]


CLEANUP = ["canonicalize", "cse", "dce", "verify-dominance"]


@pytest.mark.parametrize(
    ("passes", "names"),
    [("", []), ("cse", ["cse"]), ("cleanup", CLEANUP), ("swapping,cse", ["swapping", "cse"])],
)
def test_right_passes_are_listed(passes: str, names: Sequence[str]) -> None:
    result = run_add(passes)
    assert (result.exit_code, result.stderr) == (0, "")
    assert table(result) == [(name, "yes") for name in (validation.INPUT, *names)]


def test_cycles_are_those_of_the_program_at_that_point() -> None:
    """Two operations less run faster, or as fast."""
    cycles = [int(line.split()[2]) for line in run_add("cse,dce").stdout.splitlines()[1:]]
    assert cycles == sorted(cycles, reverse=True)


def test_the_first_pass_that_changes_a_result_is_named() -> None:
    result = run_add("cse,subtracting,canonicalize")
    assert result.exit_code == 1
    assert table(result) == [(validation.INPUT, "yes"), ("cse", "yes"), ("subtracting", "no")]
    told = re.fullmatch(
        r"tileas: error: pass 'subtracting' changes argument 2 \(%c: memref<\?xf32>\): 149 of 150 "
        r"elements differ, the first at \[1\]: 2\.0 before, 0\.0 after \((\d+) cycles before, "
        r"(\d+) after\)\n",
        result.stderr,
    )
    assert told, result.stderr
    assert int(told[1]) > 0


def test_a_tolerance_forgives_rounding() -> None:
    assert run_add("nudging").exit_code == 1
    refused = run_add("nudging", "--tolerance", "0.0009")
    assert refused.exit_code == 1
    assert "pass 'nudging' changes argument 2" in refused.stderr
    assert run_add("nudging", "--tolerance", "0.001").exit_code == 0


def test_small_deviations_do_not_add_up_unseen() -> None:
    """Each pass alone is within the tolerance, the three together are not."""
    result = run_add("nudging,nudging,nudging", "--tolerance", "0.0025")
    assert [ok for _, ok in table(result)] == ["yes", "yes", "yes", "no"]
    assert "pass 'nudging' changes argument 2" in result.stderr


def test_every_schedule_is_tried() -> None:
    assert run_add("swapping", "--schedules", "4").exit_code == 0
    result = run_add("subtracting", "--schedules", "4")
    assert "changes argument 2 (%c: memref<?xf32>) with --policy round-robin: 149" in result.stderr


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        (
            "dividing",
            ["error: 'arith.divsi' op division by zero", "after pass 'dividing' the simulation fa"],
        ),
        (
            "unterminating",
            [
                "block with no terminator, has 'nv_tileas.tiled_store'",
                "note: the IR is no longer valid after pass 'unterminating'",
                "pass 'unterminating' leaves a module that is not valid",
            ],
        ),
        ("failing", ["add.mlir:2:1: error: no luck", "pass 'failing' fails"]),
        ("buggy", ["internal error in pass 'buggy': KeyError: 'x'", "pass 'buggy' fails"]),
        ("complaining", ["error: 'func.func' op goes on", "pass 'complaining' fails"]),
        (
            "renaming",
            ["has no kernel @add; it has @other", "after pass 'renaming' the simulation fails"],
        ),
        ("extending", ["after pass 'extending' the arguments do not fit the kernel"]),
    ],
)
def test_passes_that_break_the_program_are_named(name: str, messages: Sequence[str]) -> None:
    result = run_add(f"cse,{name},dce")
    assert result.exit_code == 1
    assert table(result) == [(validation.INPUT, "yes"), ("cse", "yes"), (name, "no")]
    for message in messages:
        assert message in result.stderr
    assert result.stderr.splitlines()[-1].startswith(f"tileas: error: {messages[-1]}")


def test_a_program_that_fails_by_itself_accuses_no_pass() -> None:
    (Path("bad.mlir")).write_text(
        "func.func @f(%a: i32, %b: i32) {\n  %q = arith.divsi %a, %b : i32\n  func.return\n}\n"
    )
    result = run("bad.mlir", "-p", "cse", "--grid", "1", "--arg", "i32:1", "--arg", "i32:0")
    assert result.exit_code == 1
    assert table(result) == [(validation.INPUT, "no")]
    assert "bad.mlir:2:8: error: 'arith.divsi' op division by zero" in result.stderr
    assert result.stderr.endswith("tileas: error: before any pass the simulation fails\n")


def test_a_program_that_depends_on_the_schedule_accuses_no_pass(monkeypatch) -> None:
    def change(schedule: Schedule, simulation: Simulation) -> Simulation:
        if schedule.policy == "random":
            return dataclasses.replace(simulation, arrays=[-np.array(a) for a in simulation.arrays])
        return simulation

    spy(monkeypatch, change)
    assert run_add("cse", "--schedules", "2").exit_code == 0
    result = run_add("cse", "--schedules", "3")
    assert result.exit_code == 1
    assert table(result) == [(validation.INPUT, "no")]
    assert (
        "tileas: error: before any pass argument 0 (%a: memref<?xf32>) depends on the schedule "
        "(--policy random --seed 0): 150 of 150 elements differ, the first at [0]: 1.0 before, "
        "-1.0 after\n"
    ) in result.stderr


def test_warnings_are_told() -> None:
    result = run_add("talking")
    assert result.exit_code == 0
    assert ": warning: 'func.func' op careful\n" in result.stderr


def test_the_ir_around_the_guilty_pass_is_printed_on_demand() -> None:
    told = run_add("cse,subtracting", "--print-ir").stderr
    before, after = told.split("IR after subtracting:\n")
    assert before.startswith("IR before subtracting:\n!tile = ")
    assert ("arith.addf" in before, "arith.subf" in before) == (True, False)
    assert ("arith.addf" in after, "arith.subf" in after) == (False, True)
    assert "IR" not in run_add("subtracting").stderr
    assert run_add("cse", "--print-ir").stderr == ""


def test_the_kernel_is_named_where_there_are_several() -> None:
    result = run("all.mlir", "-p", "cse", "--kernel", "add", "--grid", "3", *ARRAYS)
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["add.mlir"], 2, "Missing option '--grid'"),
        (["add.mlir", "-p", "cse"], 2, "Missing option '--grid'"),
        (["add.mlir", "-p", "canonicalise", "--grid", "1"], 2, "did you mean canonicalize"),
        (["add.mlir", "-p", "cse{", "--grid", "1"], 2, "Expected argument name here"),
        (["add.mlir", "-p", "cse{x=1}", "--grid", "1"], 2, "pass 'cse' has no option 'x'"),
        (["add.mlir", "-p", "cleanup{x=1},cse", "--grid", "1"], 2, "it takes no options"),
        (["add.mlir", "-p", "cse", "--grid", "1", "--arg", "f32"], 2, "'f32' is no argument"),
        (["add.mlir", "-p", "cse", "--grid", "1", "--tolerance", "-1"], 2, "'--tolerance'"),
        (["add.ptx", "-p", "cse", "--grid", "1"], 2, "'add.ptx' is no .mlir file"),
        (["none.mlir", "-p", "cse", "--grid", "1"], 1, "none.mlir:1:1: error: cannot read"),
        (["wrong.mlir", "-p", "cse", "--grid", "1"], 1, "wrong.mlir:1:6: error: operation name"),
        (["all.mlir", "-p", "cse", "--grid", "1", *ARRAYS], 1, "say which one to run: @add, @sh"),
        (["add.mlir", "-p", "cse", "--grid", "1"], 1, "the kernel takes 3 arguments"),
        (["add.mlir", "-p", "cse", "--grid", "1", *ARRAYS, "--kernel", "f"], 1, "no kernel @f"),
    ],
)
def test_wrong_calls_are_told_why(args: list[str], code: int, message: str, folder: Path) -> None:
    (folder / "wrong.mlir").write_text("%0 = ")
    result = run(*args)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in " ".join(result.stderr.split())
