"""The claims of docs/checker.md: what it names exists, and its counts are those of the tests."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from check import test_cute_dsl as cute_dsl
from check.racy_kernel import RIGHT, WRONG
from interpreters.ptx.checking.global_memory.test_races import FAULTS as RACES
from interpreters.ptx.checking.reports.test_findings import FAULTS as GEMM_FAULTS
from interpreters.ptx.checking.test_foreign_mutants import REDUNDANT, text_of
from interpreters.ptx.checking.test_planted_faults import KERNELS

from benchmarks.synchronization_mutants import mutants
from kernels.ptx_faults import PTX_FAULTS
from tileas_xdsl import check
from tileas_xdsl.interpreters.ptx import PtxError
from tileas_xdsl.interpreters.ptx.checking.reports.findings import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "checker.md").read_text(encoding="utf-8")
FOLDERS = ("tests/interpreters/ptx/checking", "tests/check", "tests/interpreters/ptx", "")
PLACES = sorted(set(re.findall(r"`((?:[\w/]+/)?[\w]+\.(?:py|tsv|cu))`", PAGE)))
KIND = re.compile(r"`((?:race|missing|named|barrier|tcgen05|phase|wgmma|illegal|misaligned)-[\w-]+"
                  r"|uninitialised|undefined-register|diverged|deadlock)`")  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_files_that_the_page_names_are_there(name: str) -> None:
    assert any((ROOT / folder / name).exists() for folder in FOLDERS), name


def test_kinds_that_the_page_names_are_reported_and_tested() -> None:
    named = set(KIND.findall(PAGE))
    assert len(named) > 15
    assert named <= {*KINDS}, named - {*KINDS}
    tests = [path for folder in FOLDERS[1:3] for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in tests if path != Path(__file__))
    assert not [kind for kind in sorted(named) if not re.search(rf"\b{kind}\b", text)]


def test_the_numbers_of_planted_faults() -> None:
    small = sum(len([*kernel.faults]) for kernel in KERNELS)
    foreign = ("softmax", "tilelang")
    made = [what for name in foreign for what, _ in mutants(text_of(name))]
    redundant = [w for name in foreign for w in made if w.startswith(REDUNDANT.get(name, ()))]
    others = len(made) - len(redundant)
    others += sum(len([*mutants(cute_dsl.text_of(name))]) for name in cute_dsl.KERNELS)
    total = small + len(GEMM_FAULTS) + len(RACES) + len(PTX_FAULTS) + others
    assert f"{total} planted faults" in PAGE
    assert total >= 150
    assert others >= 40
    for count, where in (
        (small, f"in {len(KERNELS)} small kernels"),
        (len(GEMM_FAULTS), "in whole GEMMs"),
        (len(RACES), "in ways to pass data through global memory"),
        (len(PTX_FAULTS), "in kernels compiled here"),
        (others, "in PTX of Triton, TileLang and the CuTe DSL"),
    ):
        assert re.search(rf"\b{count} {where}", PAGE), (count, where)


def test_the_defaults() -> None:
    defaults = {n: p.default for n, p in inspect.signature(check.ptx).parameters.items()}
    assert f"{defaults['schedules']} by\ndefault" in PAGE
    assert f"({defaults['limit'] // 1_000_000} million)" in PAGE


def test_a_finding_is_reported_once_for_all_blocks_and_orders() -> None:
    report = check.ptx(WRONG, 3, [np.zeros(64, np.int32), 64], 64, schedules=3)
    races = [f for f in report.findings if f.kind == "race-RAW" and f.line == 22]
    assert len(races) == 1


def test_what_is_not_emulated_stops_the_run_at_its_line() -> None:
    text = RIGHT.replace(
        "    bar.sync 0;", "    tex.1d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [x, {%r0}];"
    )
    with pytest.raises(PtxError, match=r":19:\d+: error: .*textures and surfaces are not emulated"):
        check.ptx(text, 1, [np.zeros(64, np.int32), 64], 64, schedules=1)
