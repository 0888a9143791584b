"""Every notebook runs from top to bottom, warnings being errors, and its test cells pass."""

import runpy
from pathlib import Path

import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].joinpath("notebooks").glob("*.py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = runpy.run_path(str(path))["app"]
    outputs, definitions = app.run()
    capsys.readouterr()
    assert definitions
    assert any(output is not None for output in outputs)


def test_the_layout_notebook_shows_its_pictures() -> None:
    app = runpy.run_path(str(next(p for p in NOTEBOOKS if p.stem == "layouts")))["app"]
    outputs, _ = app.run()
    pictures = [o for o in outputs if "<svg" in getattr(o, "text", "")]
    assert len(pictures) == 4
