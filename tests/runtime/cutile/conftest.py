"""Launches of this folder find no GPU, on machines that have one too."""

import pytest

from tileas_xdsl.runtime.cutile import settings


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `auto` be the emulator; tests of launches on a GPU bring one that records them."""
    monkeypatch.setattr(settings, "has_gpu", lambda: False)
