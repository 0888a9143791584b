"""`python -m kernels.sass`: what the loops of the GEMMs have, and what is beyond their bars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from support.assembling import needs_nvdisasm

from kernels import sass
from kernels.sass import CUTE_GEMMS, GEMMS, TALL, TILED_GEMMS, Facts, facts
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.backend.sass import Instruction, Loop


def loop(*opcodes: str) -> Loop:
    code = [Instruction(16 * n, name, "", False, None) for n, name in enumerate(opcodes)]
    return Loop(0, tuple(code), True)


PRODUCTS = ("UTCHMMA",) * 4


def made(*opcodes: str, spills: int = 0, **counts: int) -> Facts:
    return Facts(TALL, 255, spills, 100, [("products", loop(*opcodes))], Counter(counts))


@pytest.mark.parametrize(
    ("found", "problems"),
    [
        (made(*PRODUCTS, "UTCBAR", "SYNCS", "SYNCS"), []),
        (made(*PRODUCTS, *PRODUCTS, "UTCBAR", "UTCBAR"), []),
        (made(*PRODUCTS, "UTCBAR", "UTCBAR"), ["2 UTCBAR in a loop of 1 blocks of K"]),
        (made(*PRODUCTS[1:]), ["3 products, not 4 for each block of K"]),
        (made(*PRODUCTS, "SYNCS.ARRIVE", "SYNCS", "SYNCS"), ["3 SYNCS in a loop of 1 blocks of K"]),
        (made(*PRODUCTS, spills=8, STL=2), ["8 bytes are spilled", "2 STL"]),
        (
            Facts(TALL, 255, 0, 100, [("loads", loop("UTMALDG"))], Counter()),
            ["0 loops multiply, for 1 consumers"],
        ),
    ],
)
def test_what_is_beyond_a_bar_is_said(found: Facts, problems: Sequence[str]) -> None:
    assert [*found.problems] == problems


@needs_nvdisasm
@pytest.mark.parametrize("kernel", [GEMMS[0], GEMMS[3], GEMMS[-1]], ids=str)
def test_gemms_are_within_their_bars(kernel) -> None:
    found = facts(kernel)
    assert [*found.problems] == []
    first, *loops = found.lines
    assert first[-1] == "yes"
    assert [line[2] for line in loops] == ["loop: loads", *["loop: products"] * kernel.consumers]
    word = {"UTCHMMA": "f16", "UTCQMMA": "e4m3", "HGMMA": "bf16"}
    counted = [name for name, element in word.items() if element == kernel.element]
    assert f"4 {counted[0]}" in loops[1][4]


@pytest.mark.slow
@needs_nvdisasm
def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert sass.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith("| yes |") for line in lines) == len(
        (*GEMMS, *CUTE_GEMMS, *TILED_GEMMS)
    )


def test_the_table_fails_beyond_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sass, "facts", lambda _: made(*PRODUCTS, spills=8))
    assert sass.main() == 1
    assert "| 8 bytes are spilled |" in capsys.readouterr().out


def test_missing_tools_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> Facts:
        raise MissingToolError("ptxas is not here")

    monkeypatch.setattr(sass, "facts", fail)
    assert sass.main() == 2
    assert capsys.readouterr().err == "python -m kernels.sass: ptxas is not here\n"
