"""The text of any stage is compiled on from there; edited, and by tools that leave no mark."""

import re
from functools import cache

import numpy as np
import pytest

from benchmarks.freeze import SOURCE_LINES
from kernels import make
from tileas_xdsl.compilation.levels import LAST_PASS, Level, level_of, remaining
from tileas_xdsl.compilation.pass_execution import apply_pass
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.printing import module_text

TO_THREADS = "convert-tileas-to-cute-nvgpu"
TO_PTX = "convert-cute-nvgpu-to-ptx"


@cache
def vector_add() -> CompiledKernel:
    return compile(make("vector_add").text(), "sm_90a")


def unmarked(text: str) -> str:
    return re.sub(rf', {LAST_PASS} = "[^"]*"', "", text)


@pytest.mark.parametrize(
    ("stage", "level"),
    [
        (None, Level.TILES),
        ("tileas-slicing", Level.TILES),
        (TO_THREADS, Level.THREADS),
        ("tileas-cse", Level.THREADS),
        (TO_PTX, Level.PTX),
    ],
)
def test_what_remains_of_the_passes(stage: str | None, level: Level) -> None:
    module, passes = vector_add().module_after(stage), [*vector_add().passes]
    assert level_of(module.ops) is level
    found = remaining(module, module.ops)
    done = max((at + 1 for at, each in enumerate(passes) if each.name == stage), default=0)
    assert ([*found.to_tiles], [*found.passes]) == ([], passes[done:])


@pytest.mark.parametrize("stage", ["tileas-assign-load-store-layouts", TO_THREADS, TO_PTX])
def test_texts_are_compiled_on(stage: str) -> None:
    text, wanted = vector_add().ir(stage), SOURCE_LINES.sub("", vector_add().ptx)
    for source in (text, unmarked(text)):
        made = compile(source)
        assert (made.target, SOURCE_LINES.sub("", made.ptx)) == ("sm_90a", wanted)


def test_a_mark_counts_only_on_its_own_level() -> None:
    """A pass of another tool, which leaves no mark, may have lowered the kernel since then."""
    module = vector_add().module_after(TO_THREADS)
    older = vector_add().module_after("tileas-slicing").attributes[LAST_PASS]
    module.attributes[LAST_PASS] = older
    assert remaining(module, module.ops).passes == [*PIPELINES["cute-to-ptx"].passes]


def test_passes_that_clean_up_on_another_level_are_no_stage() -> None:
    module = vector_add().module_after("tileas-slicing")
    cse = next(one for one in vector_add().passes if one.name == "tileas-cse")
    apply_pass(cse, vector_add().ctx, module)
    assert str(module.attributes[LAST_PASS]) == '"tileas-slicing"'


def test_edited_ir_of_three_levels_runs_on_the_emulator() -> None:
    """x + y becomes x * y in tiles and in threads, and x - y in PTX."""
    a, b = np.random.default_rng(1).standard_normal((2, 192)).astype(np.float32)
    for stage, old, new, wanted in (
        ("tileas-slicing", "arith.addf", "arith.mulf", a * b),
        (TO_THREADS, "arith.addf", "arith.mulf", a * b),
        (TO_PTX, "ptx.add %[^:]*f32", None, a - b),
    ):
        text = vector_add().ir(stage)
        if new is None:
            line = next(line for line in text.splitlines() if re.search(old, line))
            old, new = line, line.replace("ptx.add", "ptx.sub")
        assert old in text
        made = compile(text.replace(old, new))
        got = made.emulate(a, b, np.zeros_like(a), grid=3)
        assert not got.findings
        np.testing.assert_array_equal(got.arrays[2], wanted)


def test_the_stages_are_made_once() -> None:
    first = vector_add().ir("tileas-cse")
    assert vector_add().ir("tileas-cse") is first
    for name in ("convert-tileas-to-cute-nvgpu", "tileas-choose-tma"):  # an earlier one, too
        module = vector_add().module_after(name)
        assert vector_add().ir(name) == module_text(module, {}, vector_add().ctx.loaded_dialects)
    with pytest.raises(KeyError, match="no pass 'tileas-csee' ran; did you mean tileas-cse"):
        vector_add().ir("tileas-csee")


def test_a_kernel_is_one_line() -> None:
    found, stages = repr(vector_add()), len(vector_add().stages)
    assert found == f"<CompiledKernel @vector_add for sm_90a, {stages} stages up to {TO_PTX}>"
