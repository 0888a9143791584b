"""ptxas that waits for its text: the same machine code and messages, and no process is left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.assembling import needs_ptxas

from tileas_xdsl.backend import waiting_ptxas
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.backend.waiting_ptxas import WaitingPtxas
from tileas_xdsl.backend.waiting_ptxas import waiting_ptxas as started
from tileas_xdsl.diagnostics.errors import DiagnosticError

TEXT = """\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_0) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [k_0];
  st.global.u64 [%rd0], %rd0;
  ret;
}
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that are run on files."""
    found: list[str] = []
    run = subprocess.run

    def counted(command: list[object], **options: object) -> object:
        found.append(Path(str(command[0])).name)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    return found


@needs_ptxas
def test_a_text_is_assembled_as_from_a_file(runs: list[str]) -> None:
    expected = assemble(TEXT)
    with started("sm_90a") as waiting:
        found = assemble(TEXT, waiting=waiting)
        assert runs == ["ptxas"]
        again = assemble(TEXT, waiting=waiting)
    assert found.cubin == expected.cubin == again.cubin
    assert (found.entries, found.messages) == (expected.entries, expected.messages)
    assert runs == ["ptxas"] * 2, "it reads one text"


@needs_ptxas
@pytest.mark.parametrize(("target", "options"), [("sm_100a", ()), ("sm_90a", ("-O1",))])
def test_a_text_for_others_is_not_given_to_it(
    runs: list[str], target: str, options: tuple[str, ...]
) -> None:
    with started("sm_90a") as waiting:
        text = TEXT.replace("8.0", "8.6").replace("sm_90a", target)
        assert assemble(text, target, options=options, waiting=waiting).cubin
    assert runs == ["ptxas"]


@needs_ptxas
def test_what_is_wrong_is_told_as_of_a_file() -> None:
    with started("sm_90a") as waiting, pytest.raises(DiagnosticError) as error:
        assemble(TEXT.replace("st.global", "st.nowhere"), name="k.ptx", waiting=waiting)
    (found,) = error.value.diagnostics
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("k.ptx", 7)


@needs_ptxas
def test_a_process_that_is_not_needed_ends() -> None:
    with started("sm_90a") as waiting:
        assert isinstance(waiting, WaitingPtxas)
    assert waiting.assemble(TEXT) is None


def test_nothing_waits_without_ptxas_or_such_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(waiting_ptxas, "find_tool", lambda name: None)
        with started("sm_90a") as waiting:
            assert waiting is None
    monkeypatch.setattr(waiting_ptxas, "_INPUT", "/nowhere")
    with started("sm_90a") as waiting:
        assert waiting is None
