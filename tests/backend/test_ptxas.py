"""ptxas: properties, and its log as diagnostics at the location of the operation."""

import re

import pytest
from support.assembling import Body, module_of, needs_ptxas
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from tests.backend.ptx_gemm import one_tile_gemm
from tileas_xdsl.backend import nvidia_tools
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.backend.ptx.file_names import file_name_from_ptx, file_name_in_ptx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptxas import assemble, entry_facts, log_messages
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity
from tileas_xdsl.dialects.ptx import (
    AddOp,
    EntryOp,
    FmaOp,
    LdOp,
    LdParamOp,
    RetOp,
    SetmaxnregOp,
    StOp,
    param,
)

LOG = """\
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine \
register count at entry.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a' for 'sm_90a'
ptxas info    : Function properties for a
    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 168 registers, used 2 barriers, 16 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compile time = 14.599 ms
ptxas /tmp/k.ptx, line 3; warning : Advisory: something
ptxas /tmp/k.ptx, line 5; error   : Arguments mismatch for instruction 'xor'
ptxas info    : (C7517) wgmma.wait_group is injected in around line 5 by compiler
ptxas fatal   : Ptx assembly aborted due to errors
"""

TEXT = """\
.version 8.0
.loc 1 10 4
first;
.loc 2 20 1
second;
.file 1 "a.mlir"
.file 2 "b %22c%22.mlir"
"""


def test_facts():
    facts = entry_facts(LOG)["a"]
    assert (facts.registers, facts.barriers, facts.shared, facts.stack) == (168, 2, 4096, 16)
    assert (facts.spill_stores, facts.spill_loads, facts.spills) == (24, 32, 56)


def test_messages_are_at_the_place_of_the_operation():
    setmaxnreg, advice, mismatch, injected = log_messages(LOG, TEXT, "kernel.ptx", strict=True)
    assert (setmaxnreg.severity, setmaxnreg.location) == (Severity.ERROR, None)
    assert (advice.severity, advice.location) == (Severity.WARNING, Location("a.mlir", 10, 4))
    assert (mismatch.severity, mismatch.location) == (
        Severity.ERROR,
        Location('b "c".mlir', 20, 1),
    )
    assert mismatch.notes[0].location == Location("kernel.ptx", 5, 1)
    assert mismatch.notes[0].source_line == "second;"
    assert injected.severity is Severity.ERROR
    assert injected.location == mismatch.location


def test_a_missing_program_is_named_with_its_cure(monkeypatch):
    monkeypatch.delenv("TILEAS_PTXAS", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(nvidia_tools.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingToolError, match=r"pip install 'tileas-xdsl\[ptxas\]'"):
        assemble(".version 8.0")


NAMES = (
    "a.mlir",
    'b "c".mlir',
    "d\\e.mlir",
    "f'g.mlir",
    "hüÿ 100%.mlir",
    "i%20j.mlir",
    "k\nl.mlir",
)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files_are_written_so_that_they_can_be_read(name):
    text = file_name_in_ptx(name)
    assert text.isascii()
    assert text.isprintable()
    assert '"' not in text
    assert file_name_from_ptx(text) == name


@needs_ptxas
@pytest.mark.parametrize("name", NAMES)
def test_ptxas_takes_any_name_of_a_file(name):
    body = ".entry k() {\n.loc 1 2 3\nret; }"
    assemble(f'.version 8.0\n.target sm_90a\n{body}\n.file 1 "{file_name_in_ptx(name)}"\n')


@pytest.mark.parametrize("path", ["/nowhere/ptxas", "/tmp", __file__])
def test_a_wrong_variable_is_named(monkeypatch, path):
    monkeypatch.setenv("TILEAS_PTXAS", path)
    with pytest.raises(MissingToolError, match=f"TILEAS_PTXAS names no program: '{path}'"):
        assemble(".version 8.0")


@needs_ptxas
def test_the_variable_comes_first(monkeypatch, tmp_path):
    program = tmp_path / "ptxas"
    program.write_text("#!/bin/sh\necho 'ptxas fatal   : not today' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("TILEAS_PTXAS", str(program))
    with pytest.raises(DiagnosticError, match="not today"):
        assemble(".version 8.0")


@needs_ptxas
def test_a_kernel():
    done = assemble(ptx_text(one_tile_gemm()))
    assert done.messages == ()
    assert list(done.entries) == ["gemm"]
    assert (done.registers, done.spills, done.stack, done.shared) == (58, 0, 0, 0)


def entry_with(fill, **directives):
    entry = EntryOp("k", [param("u64")], **directives)
    body = Body(entry.entry_block)
    fill(body, body(LdParamOp(entry.parameters[0], "u64")))
    body(RetOp())
    for index, op in enumerate(entry.entry_block.ops):
        op.location = FileLineColLoc(StringAttr("k.mlir"), IntAttr(index + 1), IntAttr(3))
    return ptx_text(module_of(entry))


@needs_ptxas
def test_errors_are_located():
    text = entry_with(lambda body, place: body(AddOp(place, place, "u64")))
    with pytest.raises(DiagnosticError) as caught:
        assemble(text.replace("add.u64", "add.u32"))
    (report,) = caught.value.diagnostics
    assert report.location == Location("k.mlir", 2, 3)
    assert "Arguments mismatch" in report.message


@needs_ptxas
def test_ignored_setmaxnreg_is_an_error():
    def fill(body, _):
        body(SetmaxnregOp(40, "dec"))

    with pytest.raises(DiagnosticError, match="C7508"):
        assemble(entry_with(fill, maxntid=(128,)))
    assert assemble(entry_with(fill, maxntid=(128,), minnctapersm=1)).messages == ()


@needs_ptxas
def test_spills_are_warnings():
    def fill(body, place):
        values = [
            body(LdOp(place, "f32", "global", offset=4 * i, semantics="volatile"))
            for i in range(64)
        ]
        for i, value in enumerate(values):
            body(
                StOp(
                    place,
                    body(FmaOp(value, values[-1 - i], value, "f32", rounding="rn")),
                    "f32",
                    "global",
                    offset=4 * i,
                    semantics="volatile",
                )
            )

    done = assemble(entry_with(fill, maxntid=(128,), maxnreg=32))
    assert re.match(r"entry 'k' spills registers: \d+ bytes of stores", done.warnings[0].message)
    assert done.spills > 0


@needs_ptxas
def test_an_accumulator_touched_in_flight_is_an_error():
    text = ptx_text(one_tile_gemm())
    late = text.replace(
        "wgmma.commit_group.sync.aligned;",
        "wgmma.commit_group.sync.aligned;\n    add.f32 %f0, %f0, %f1;",
    )
    with pytest.raises(DiagnosticError, match="C7517"):
        assemble(late)
    (warning,) = assemble(late, strict=False).warnings
    assert "C7517" in warning.message


@needs_ptxas
def test_fewer_blocks_are_asked_for_where_registers_spill() -> None:
    """120 registers that live at once do not fit sixteen blocks of 128 threads."""
    count = 120
    text = f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 128, 1, 1 .minnctapersm 16
{{
    .reg .b64 %rd<2>;
    .reg .f32 %f<{count}>;
    ld.param.u64 %rd0, [p];
    {" ".join(f"ld.volatile.global.f32 %f{k}, [%rd0+{4 * k}];" for k in range(count))}
    {" ".join(f"st.volatile.global.f32 [%rd0+{4 * k}], %f{k};" for k in range(count))}
    ret;
}}
"""
    text = text.replace(" .minnctapersm", "\n.minnctapersm")
    made = assemble(text)
    assert made.spills == 0
    assert made.registers > count
    with_agents = assemble(text.replace("ret;", "setmaxnreg.dec.sync.aligned.u32 24; ret;"))
    assert with_agents.spills > 0
