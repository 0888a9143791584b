"""Attributes of launches that a person has edited: what they miss is an error at the kernel."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kernels.cutile.matmul import product_problem
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError

HALVES = "f16[?, ?%8]"
SIGNATURE = f"a: {HALVES}, b: {HALVES}, c: {HALVES}, tm=128, tn=128, tk=64"


@cache
def threads() -> str:
    """A product as it is lowered to threads."""
    problem = product_problem("matmul", "f16", "f16", (256, 256, 256), (128, 128, 64))
    made = compile(problem.kernel, signature=SIGNATURE, target="sm_90a")
    return made.ir("convert-tileas-to-cute-nvgpu")


EDITS = {
    "counts": (r"(few_tile_blocks = \{)counts = [^>]*>, ", r"\1", "'counts' in tileas.few_tile"),
    "loops": (r"(few_tile_blocks = .*?)loops", r"\1loop", "'loops' in tileas.few_tile_blocks"),
    "amount": (
        r"(few_tile_blocks = .*?loops = \[\{)amount = \d+ : i64, ",
        r"\1",
        "'amount' in tileas.few_tile_blocks, or in a part",
    ),
    "ctas": (r"(few_tile_blocks = .*?)ctas", r"\1cta", "'ctas' in tileas.few_tile_blocks"),
    "persistent": (
        r"(persistent_launches = .*?)most",
        r"\1moste",
        "'most' in tileas.persistent_launches",
    ),
    "map": (r"tileas.smem_map = ", "tileas.smem_maps = ", "has no tileas.smem_map, without which"),
    "type": (
        r"(few_tile_blocks = .*?amount = )\d+ : i64",
        r'\1"many"',
        "'many' instead of an integer",
    ),
}


@pytest.mark.parametrize(("before", "after", "words"), EDITS.values(), ids=EDITS.keys())
def test_what_an_attribute_misses_is_an_error_at_the_kernel(
    before: str, after: str, words: str
) -> None:
    text, count = re.subn(before, after, threads(), count=1, flags=re.DOTALL)
    assert count == 1
    with pytest.raises(OpError) as found:
        compile(text)
    (said,) = found.value.diagnostics
    assert words in said.message
    assert said.location is not None
    assert "func.func @matmul" in text.splitlines()[said.location.line - 1]
