"""`tileas schedule`: the schedules of a kernel's loops as a table and as pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pictures import clipped
from typer.testing import CliRunner, Result

from tests.scheduling.loops.test_loop_scheduler import PARTS
from tileas_xdsl.tools.tileas import app


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, ["schedule", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture
def attention(tmp_path: Path) -> str:
    path = tmp_path / "attention.mlir"
    path.write_text(next(part for part in PARTS if "@attention(" in part))
    return str(path)


def test_the_table_says_what_runs_when_and_what_binds(attention: str) -> None:
    result = run(attention)
    assert result.exit_code == 0
    assert "loop 0: an iteration every 2048 cycles (bounds: units 2048" in result.output
    assert "2 x consumer of 4 warps, 232 registers" in result.output
    assert "bound by tensor_core; tma 62 %, tensor_core 100 %" in result.output
    lines = [line.split() for line in result.output.splitlines() if "tensor_core  " in line]
    assert [line[:3] for line in lines] == [["1", "0", "2048"], ["2", "1", "4608"]]


def test_pictures_are_drawn(attention: str, tmp_path: Path) -> None:
    result = run(attention, "--svg", str(tmp_path / "svg"))
    assert result.exit_code == 0
    names = sorted(path.name for path in (tmp_path / "svg").iterdir())
    assert names == ["loop0_graph.svg", "loop0_reservations.svg", "loop0_timeline.svg"]
    for name in names:
        text = (tmp_path / "svg" / name).read_text()
        assert clipped(text) == []
        assert "exp2" in text
        assert ("iteration 3" in text) == ("timeline" in name)


def test_a_file_where_pictures_should_go_is_an_error(attention: str) -> None:
    result = run(attention, "--svg", attention)
    assert result.exit_code == 1
    assert f"tileas: error: cannot draw into '{attention}': File exists" in result.stderr


def test_a_loop_without_a_schedule_says_why(tmp_path: Path) -> None:
    path = tmp_path / "scalars.mlir"
    path.write_text(next(part for part in PARTS if "@scalars(" in part))
    assert "loop 0: it neither loads nor multiplies tiles" in run(str(path)).output


def test_a_kernel_without_loops_says_so(tmp_path: Path) -> None:
    path = tmp_path / "straight.mlir"
    path.write_text(
        "func.func @straight(%n: i32) attributes {nv_tileaa.kernel_spec = {}} { func.return }"
    )
    result = run(str(path))
    assert (result.exit_code, result.output) == (0, "there is no loop\n")


def test_an_unknown_solver_is_a_wrong_command_line(attention: str) -> None:
    result = run(attention, "--solver", "oracle")
    assert result.exit_code == 2
    assert "is none of own, list, cp-sat" in result.output


BLOCKS = Path(__file__).parents[4] / "kernels" / "tl"


def test_a_block_program_is_scheduled_as_tiles() -> None:
    result = run(str(BLOCKS / "gemm.mlir"))
    assert result.exit_code == 0
    assert result.output.startswith("loop 0: an iteration every ")


def test_a_block_program_that_does_not_become_tiles_says_why() -> None:
    result = run(str(BLOCKS / "softmax.mlir"))
    assert result.exit_code == 1
    words = "softmax.mlir:8:1: error: 'func.func' op has no loops over tiles, which are scheduled: "
    assert words + "it has no product of tiles" in result.output
