"""Reports about PTX of other projects: the command in them repeats what they say."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from typer.testing import CliRunner

from tileas_xdsl.tools.tileas import app

REPORT = Path(__file__).parents[2] / "benchmarks" / "reports" / "triton_tmem_wait"


def found(folder: Path) -> list[tuple[str, int]]:
    """Kinds and lines of what the checker finds in the kernel of a folder."""
    files = [str(folder / f"matmul_tma.{end}") for end in ("ptx", "json")]
    words = ["check", files[0], "--launch", files[1], "--schedules", "1", "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    return [(f["kind"], f["location"]["line"]) for f in json.loads(result.stdout)["findings"]]


def test_triton_uses_registers_before_the_wait_for_them(tmp_path: Path) -> None:
    told = found(REPORT)
    page = (REPORT / "README.md").read_text(encoding="utf-8")
    assert ("tcgen05-wait", 514) in told
    assert {line for kind, line in told if kind != "tcgen05-wait"} == {
        int(line) for line in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    }
    repaired = shutil.copytree(REPORT, tmp_path / "repaired")
    lines = (repaired / "matmul_tma.ptx").read_text(encoding="utf-8").split("\n")
    wait = lines.pop(535)
    assert "tcgen05.wait::ld" in wait
    lines.insert(498, wait)
    (repaired / "matmul_tma.ptx").write_text("\n".join(lines), encoding="utf-8")
    left = {kind for kind, _ in found(repaired)}
    assert left == {kind for kind, _ in told} - {"tcgen05-wait"}
