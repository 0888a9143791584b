"""Reports about PTX of other projects: the command in them repeats what they say."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from typer.testing import CliRunner

from tileas_xdsl.tools.tileas import app

REPORTS = Path(__file__).parents[2] / "benchmarks" / "reports"


def found(folder: Path) -> list[tuple[str, int]]:
    """Kinds and lines of what the checker finds in the kernel of a folder."""
    (text,) = folder.glob("*.ptx")
    words = ["check", str(text), "--launch", str(text.with_suffix(".json"))]
    result = CliRunner().invoke(app, [*words, "--schedules", "1", "--json"])
    findings = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(findings)
    return [(f["kind"], f["location"]["line"]) for f in findings]


def lines_of(page: Path) -> set[int]:
    """The numbers of lines in the tables of a page."""
    rows = re.findall(r"^\| ([\d, ]+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {int(number) for row in rows for number in row.split(",")}


def changed(report: str, folder: Path, line: int, new: str, *, removed: int | None = None) -> Path:
    """A copy of a report with a line behind another one, and one left out."""
    copy = shutil.copytree(REPORTS / report, folder / "repaired")
    (path,) = copy.glob("*.ptx")
    lines = path.read_text(encoding="utf-8").split("\n")
    if removed is not None:
        assert lines.pop(removed - 1).strip() == new
    lines.insert(line, new)
    path.write_text("\n".join(lines), encoding="utf-8")
    return copy


def test_triton_uses_registers_before_the_wait_for_them(tmp_path: Path) -> None:
    report = "triton_tmem_wait"
    told = found(REPORTS / report)
    assert ("tcgen05-wait", 514) in told
    others = {line for kind, line in told if kind != "tcgen05-wait"}
    assert others == lines_of(REPORTS / report / "README.md")
    wait = "tcgen05.wait::ld.sync.aligned;"
    left = {kind for kind, _ in found(changed(report, tmp_path, 498, wait, removed=536))}
    assert left == {kind for kind, _ in told} - {"tcgen05-wait"}


def test_tilelang_has_no_fence_in_its_last_iteration(tmp_path: Path) -> None:
    report = "tilelang_last_fence"
    told = found(REPORTS / report)
    assert told == [("missing-proxy-fence", 259), ("missing-proxy-fence", 269)]
    assert {line for _, line in told} < lines_of(REPORTS / report / "README.md")
    assert not found(changed(report, tmp_path, 245, "fence.proxy.async.shared::cta;"))
