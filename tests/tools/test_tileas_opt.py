"""`tileas-opt` from the command line: output, messages and exit codes."""

import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import PassFailedException, ShrinkException

from tileas_xdsl import pipelines
from tileas_xdsl.diagnostics.emission import emit_error, emit_remark, emit_warning
from tileas_xdsl.pipelines import Pipeline
from tileas_xdsl.tools.tileas_opt import TileasOptMain, main

GOOD = "func.func @f(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"
BAD = "func.func @f(%a: i32) -> i64 {\n  func.return %a : i32\n}\n"


class Failing(ModulePass):
    name = "failing"

    def apply(self, ctx, op):
        raise PassFailedException("no luck")


class Buggy(ModulePass):
    name = "buggy"

    def apply(self, ctx, op):
        raise KeyError("x")


class Breaking(ModulePass):
    """Leaves a module that does not verify."""

    name = "breaking"

    def apply(self, ctx, op):
        op.body.block.first_op.body.block.last_op.detach()


class Talking(ModulePass):
    name = "talking"

    def apply(self, ctx, op):
        emit_warning(op.body.block.first_op, "careful")
        emit_remark(op.body.block.first_op, "did it")


class Complaining(ModulePass):
    name = "complaining"

    def apply(self, ctx, op):
        emit_error(op.body.block.first_op, "goes on")


class Shrinking(ModulePass):
    name = "shrinking"

    def apply(self, ctx, op):
        raise ShrinkException


@dataclass(frozen=True)
class Optional(ModulePass):
    name = "optional"

    x: "bool" = False

    def apply(self, ctx, op):
        pass


CLEAN = Pipeline("clean", "", (ArgSpec("cse", {}), ArgSpec("canonicalize", {})))
PASSES = (Optional, Failing, Buggy, Breaking, Talking, Complaining, Shrinking)


@pytest.fixture(autouse=True)
def more_passes(monkeypatch):
    register = TileasOptMain.register_all_passes

    def register_ours_too(self):
        register(self)
        for module_pass in PASSES:
            self.register_pass(module_pass.name, lambda module_pass=module_pass: module_pass)

    monkeypatch.setattr(TileasOptMain, "register_all_passes", register_ours_too)
    monkeypatch.setattr(pipelines, "PIPELINES", {"clean": CLEAN})


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the tool in a folder of its own; `text` becomes the file `k.mlir` there."""
    monkeypatch.chdir(tmp_path)

    def run_tool(text: str | bytes, *arguments: str) -> Result:
        data = text if isinstance(text, bytes) else text.encode()
        Path("k.mlir").write_bytes(data)
        code = main(["k.mlir", *arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run_tool


def test_prints_the_module(run):
    result = run(GOOD)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("builtin.module {\n  func.func @f(%a: i32) -> i32 {")


def test_errors_are_located_and_nothing_is_printed(run):
    result = run(BAD)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "k.mlir:2:3: error: 'func.return' op Expected arguments to have the same types as the "
        "function output types: expected [i64], got [i32]\n"
        "  func.return %a : i32\n"
        "  ^\n"
    )


@pytest.mark.parametrize(
    "text", ["%0 = ", "@", b"\xff", '"unclosed', "%0 = no.op", BAD, '"test.op"() : () -> !x.y']
)
def test_wrong_inputs_exit_with_1(run, text):
    result = run(text)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("k.mlir:")
    assert ": error: " in result.err
    assert "Traceback" not in result.err


def test_dominance_is_checked(run):
    text = 'func.func @f() {\n  %0 = "test.op"(%0) : (i1) -> i1\n  func.return\n}'
    assert run(text).err.startswith("k.mlir:2:8: error: operand #0 does not dominate this use\n")


@pytest.mark.parametrize("path", ["missing.mlir", "."])
def test_unreadable_files(run, path, capsys):
    code = main([path, "-f", "mlir"])
    assert code == 1
    assert capsys.readouterr().err.startswith(f"{path}:1:1: error: cannot read the file: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "canonicalise"], "unknown pass 'canonicalise'; did you mean canonicalize"),
        (["-p", "cse{fast=true}"], "pass 'cse' has no option 'fast'; it takes no options"),
        (["-p", "cse,,"], "Expected pass name here at character 5 of 'cse,,'"),
        (["-p", "cse{"], "Expected argument name here at character 5 of 'cse{'"),
        (["-t", "mlri"], "unknown target 'mlri'; did you mean mlir"),
        (["-t", "mlir{a=1}"], "target 'mlir' has no option 'a'; its options are "),
        (["--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["-p"], "argument -p/--passes/--pass-pipeline: expected one argument"),
        (["-f", "wasm"], "argument -f/--frontend: invalid choice: 'wasm'"),
        (["-o", ""], "argument -o/--output-file: the name of the file is empty"),
        (["-p", "optional{y=1}"], "pass 'optional' has no option 'y'; its options are x (bool)"),
    ],
)
def test_wrong_command_lines_exit_with_2_and_one_line(run, arguments, message):
    result = run(GOOD, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"tileas-opt: error: {message}")
    assert result.err.count("\n") == 1


def test_an_empty_name_of_the_input_is_a_wrong_command_line(capsys):
    assert main([""]) == 2
    message = "tileas-opt: error: argument input_file: the name of the file is empty\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("path", ["no/such/folder", "."])
def test_an_output_that_cannot_be_written_exits_with_1(run, path):
    result = run(GOOD, "-o", path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"tileas-opt: error: cannot write '{path}': ")
    assert result.err.count("\n") == 1


def test_unknown_file_types(run, capsys):
    assert main(["k.ptx"]) == 2
    assert "unknown file extension '.ptx' of 'k.ptx'; -f takes mlir" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input(monkeypatch, capsys, arguments):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"%0 = ")))
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:6: error: ")


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    assert "pipeline" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tileas-opt (xDSL 0.74")


def test_pipelines_by_name(run):
    text = "func.func @f() {\n  %0 = arith.constant 1 : i32\n  func.return\n}"
    assert "arith.constant" not in run(text, "-p", "clean").out
    assert run(text, "-p", "clea").err.endswith("did you mean clean?\n")


def test_output_files_are_written_on_success_only(run):
    Path("out.mlir").write_text("old")
    assert run(BAD, "-o", "out.mlir").code == 1
    assert Path("out.mlir").read_text() == "old"
    result = run(GOOD, "-o", "out.mlir")
    assert (result.code, result.out) == (0, "")
    assert "func.func @f" in Path("out.mlir").read_text()


def test_a_pass_that_fails(run):
    result = run(GOOD, "-p", "cse,failing")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("k.mlir:1:1: error: no luck\n")


def test_a_pass_with_a_bug(run, monkeypatch):
    result = run(GOOD, "-p", "buggy")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("k.mlir:1:1: error: internal error in pass 'buggy': KeyError: 'x'")
    assert "Traceback" not in result.err
    monkeypatch.setenv("TILEAS_TRACEBACK", "1")
    assert "Traceback" in run(GOOD, "-p", "buggy").err


def test_a_pass_that_breaks_the_module_is_named(run):
    result = run(GOOD, "-p", "cse,breaking,cse")
    assert result.code == 1
    assert "k.mlir:1:1: error: empty block: expect at least a terminator\n" in result.err
    assert "note: the IR is no longer valid after pass 'breaking'" in result.err


def test_warnings_do_not_fail(run):
    result = run(GOOD, "-p", "talking")
    assert result.code == 0
    assert result.out
    assert "k.mlir:1:1: warning: 'func.func' op careful\n" in result.err
    assert "k.mlir:1:1: remark: 'func.func' op did it\n" in result.err


def test_emitted_errors_fail_at_the_end(run):
    result = run(GOOD, "-p", "complaining,talking")
    assert (result.code, result.out) == (1, "")
    assert "error: 'func.func' op goes on\n" in result.err
    assert "careful" in result.err


def test_every_chunk_is_processed(run):
    result = run(f"{BAD}// -----\n{GOOD}// -----\n{BAD}", "--split-input-file")
    assert (result.code, result.out) == (1, "")
    assert "k.mlir:2:3: error: " in result.err
    assert "k.mlir:10:3: error: " in result.err


def test_chunks_are_printed_with_separators(run):
    text = run(f"{GOOD}// -----\n{GOOD}", "--split-input-file").out
    assert text.count("\n// -----\n") == 1


def test_verify_diagnostics(run):
    expected = BAD.replace("  func", "  // expected-error@+1 {{'func.return' op Expected}}\n  func")
    result = run(
        f"// RUN\n// -----\n{expected}// -----\n{GOOD}",
        "--verify-diagnostics",
        "--split-input-file",
    )
    assert (result.code, result.out, result.err) == (0, "", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BAD, "k.mlir:2:3: error: unexpected error: 'func.return' op Expected"),
        (
            GOOD + "// expected-error {{x}}",
            'k.mlir:4:4: error: expected error "x" was not produced',
        ),
        (GOOD + "// expected-error {x}", "k.mlir:4:4: error: malformed expected diagnostic"),
    ],
)
def test_verify_diagnostics_fails(run, text, message):
    result = run(text, "--verify-diagnostics")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(message)


def test_verify_diagnostics_sees_parse_errors_warnings_and_remarks(run):
    assert (
        run("%0 = // expected-error {{operation name expected}}", "--verify-diagnostics").code == 0
    )
    assert run("// expected-error@+1 {{operation name}}\n%0 =", "--verify-diagnostics").code == 0
    text = f"// expected-warning@+2 {{{{careful}}}}\n// expected-remark@+1 {{{{did}}}}\n{GOOD}"
    assert run(text, "--verify-diagnostics", "-p", "talking").code == 0
    assert run(GOOD, "--verify-diagnostics", "-p", "talking").code == 1


def test_parsing_diagnostics_print_to_stdout_as_in_xdsl_opt(run):
    result = run("%0 = ", "--parsing-diagnostics")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("k.mlir:1:6: error: ")


def test_ir_and_times_between_passes_go_to_stderr(run):
    result = run(GOOD, "-p", "cse,canonicalize", "--print-between-passes", "--time-passes")
    assert result.code == 0
    assert result.out == run(GOOD).out
    assert result.err.count("IR after cse:") == 1
    assert "IR after canonicalize:" not in result.err
    assert "Pass canonicalize took " in result.err


def test_printing_options(run):
    assert '"func.func"()' in run(GOOD, "--print-op-generic").out
    assert 'loc("k.mlir":2:3)' in run(GOOD, "--print-debuginfo").out


LOOP = """\
func.func @f(%n: index, %x: i32) -> i32 {
  %a = arith.constant 1 : i32
  %c = arith.addi %a, %a : i32
  %l = arith.constant 0 : index
  %s = arith.constant 1 : index
  %r = scf.for %i = %l to %n step %s iter_args(%acc = %c) -> (i32) {
    %z = arith.addi %acc, %x : i32
    scf.yield %z : i32
  }
  func.return %r : i32
}
"""


@pytest.mark.parametrize("passes", ["canonicalize", "convert-scf-to-cf", "canonicalize,cse"])
def test_locations_survive_passes_of_others(run, passes):
    result = run(LOOP, "-p", passes, "--print-debuginfo")
    assert result.code == 0
    assert 'loc("k.mlir":' in result.out
    assert "loc(unknown)" not in result.out


def test_a_folded_constant_gets_the_location_of_its_neighbour(run):
    """Nothing before it in the block is left, so it is that of the operation after it."""
    out = run(LOOP, "-p", "canonicalize", "--print-debuginfo").out
    name = re.findall(r"%c = arith.constant 2 : i32 loc\((#loc\d*)\)", out)[0]
    assert f'{name} = loc("k.mlir":4:8)' in out.splitlines()


def nested(depth: int) -> str:
    loops = "".join(f"scf.for %i{i} = %l to %l step %l {{\n" for i in range(depth))
    return f"func.func @f(%l: index) {{\n{loops}{'}' * depth}\nfunc.return\n}}\n"


def test_deeply_nested_loops(run):
    limit = sys.getrecursionlimit()
    result = run(nested(300))
    assert (result.code, result.err) == (0, "")
    assert result.out.count("scf.for") == 300
    assert sys.getrecursionlimit() == limit


def test_a_thousand_nested_regions(run):
    end = '"test.termop"() : () -> ()\n'
    result = run('"test.op"() ({\n' * 1000 + end + f"}}) : () -> ()\n{end}" * 1000)
    assert (result.code, result.err) == (0, "")
    assert result.out.count('"test.op"') == 1000


def test_nesting_without_end_is_refused(run):
    result = run(nested(20_000))
    assert (result.code, result.out) == (1, "")
    assert re.match(r"k\.mlir:\d+:\d+: error: the input is nested too deeply\n", result.err)


def test_disable_verify_ends_with_the_run(run):
    before = Attribute.__post_init__
    assert run(BAD, "--disable-verify").code == 0
    assert Attribute.__post_init__ is before
    assert run(BAD).code == 1


def test_syntax_highlight_ends_with_the_run(run):
    assert run(GOOD, "--syntax-highlight").code == 0
    assert Diagnostic.colored is False


def test_shrinking(run):
    result = run(GOOD, "-p", "shrinking", "--shrink")
    assert (result.code, result.out) == (0, "Success, can shrink\n")
    assert run(GOOD, "--shrink").code == 1


def test_run_leaves_with_the_exit_code(run, tmp_path):
    run(BAD)
    with pytest.raises(SystemExit) as left:
        TileasOptMain(args=["k.mlir"]).run()
    assert left.value.code == 1


def test_a_reader_that_leaves_is_not_a_traceback(tmp_path):
    (tmp_path / "k.mlir").write_text(GOOD)
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [sys.executable, "-m", "tileas_xdsl.tools.tileas_opt", str(tmp_path / "k.mlir")],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (1, "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet='cse,{}=" []a-1.()', max_size=20))
def test_random_pass_lists(run, passes: str):
    result = run(GOOD, f"--passes={passes}")
    assert result.code in (0, 2)
    assert (result.code == 0) == (result.err == "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=40), st.sampled_from([[], ["--verify-diagnostics"], ["--split-input-file"]])
)
def test_random_inputs(run, data: bytes, options: list[str]):
    result = run(data, *options)
    assert result.code in (0, 1)
    assert "internal error" not in result.err
