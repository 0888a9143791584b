"""What a PTX text says of its kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.assembling import needs_ptxas
from typer.testing import CliRunner, Result

from tileas_xdsl.explanation.ptx.instructions import by_unit
from tileas_xdsl.explanation.ptx.kernels import ptx_kernel_facts
from tileas_xdsl.interpreters.ptx import load
from tileas_xdsl.tools.tileas import app

COLUMN = """\
.version 8.0
.target sm_90a
.address_size 64

.extern .shared .align 16 .b8 room[];

.visible .entry column(.param .u64 P) .reqntid 32
{
  .reg .pred %p;
  .reg .b32 %t, %a, %x, %n;
  .reg .b64 %g;

  mov.u32 %t, %tid.x;
  shl.b32 %a, %t, 7;
  mov.u32 %x, room;
  add.u32 %a, %a, %x;
  mov.u32 %n, 2;
loop:
  st.shared.b32 [%a], %t;
  add.s32 %n, %n, -1;
  setp.ne.s32 %p, %n, 0;
  @%p bra loop;
  ld.param.u64 %g, [P];
  st.global.b32 [%g], %t;
  ret;
}
"""


def explain(path: Path, *args: str) -> Result:
    return CliRunner().invoke(app, ["explain", str(path), *args])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "column.ptx"
    found.write_text(COLUMN, encoding="utf-8")
    return found


def test_instructions_are_counted_by_unit_and_loop() -> None:
    module = load(COLUMN)
    kernel = module.kernels["column"]
    facts = ptx_kernel_facts(module, kernel, (), "", None)
    assert facts.instructions == by_unit(kernel.code)
    assert facts.instructions["shared memory"] == facts.instructions["global memory"] == 1
    (loop,) = facts.loops
    assert (loop.label, loop.first_line, loop.last_line) == ("loop", 19, 22)
    assert loop.instructions == {
        "arithmetic and moves": 2,
        "shared memory": 1,
        "branches": 1,
    }
    assert facts.shared == (("room", 0),)


def test_accesses_are_counted_with_arguments(path: Path) -> None:
    told = explain(path).stdout
    assert "accesses are not counted: say --grid" in told
    told = explain(path, "--grid", "1", "--arg", "i32:1:zeros").stdout
    assert "st.shared.b32: 64 wavefronts for 256 bytes, 32.00 times the 2 needed: 62 bank" in told
    assert "at least 32 cycles an iteration, bound by shared_memory: what units do in 2" in told
    (found,) = json.loads(explain(path, "--json").stdout)
    assert found["name"] == "column"


TOO_OLD = """\
.version 7.8
.target sm_90
.address_size 64
.visible .entry worker() .reqntid 128
{
  setmaxnreg.inc.sync.aligned.u32 96;
  ret;
}
"""


@needs_ptxas
def test_occupancy_is_that_of_the_machine_code(path: Path) -> None:
    """A block of one warp: 32 of them are the most of a multiprocessor."""
    told = explain(path).stdout
    assert "occupancy: 32 blocks of 32 threads on a multiprocessor, 50 % of its warps" in told
    (found,) = json.loads(explain(path, "--json").stdout)
    assert found["assembly"]["spills"] == 0


@needs_ptxas
def test_directives_that_are_refused_are_changed_until_the_text_assembles(tmp_path: Path) -> None:
    found = tmp_path / "old.ptx"
    found.write_text(TOO_OLD, encoding="utf-8")
    result = explain(found)
    told = result.stdout
    assert result.exit_code == 1
    assert "old.ptx:6:1: error: ptxas: Feature 'setmaxnreg.inc' requires PTX ISA" in told
    assert "assembles with .version 8.0 and .target sm_90a" in told


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (["--grid", "1"], 1, "takes 1 argument"),
        (["--show", "loops"], 2, "of a .ptx file there is one explanation"),
    ],
)
def test_mistakes(path: Path, args: list[str], code: int, why: str) -> None:
    result = explain(path, *args)
    assert (result.exit_code, why in result.stderr) == (code, True), result.stderr
