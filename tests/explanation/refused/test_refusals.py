"""The smallest change of constants that compiles, and what a refusal is for."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.explanation.refused.refusal_text import refusal_text
from tileas_xdsl.explanation.refused.refusals import Refusal, extents_of, lacked, smaller_sizes
from tileas_xdsl.explanation.refused.variants import ConstantVariants, TextVariants, with_numbers
from tileas_xdsl.frontend.signature import Parameter, parse_signature

SIGNATURE = parse_signature("a: f16[?, ?], tm=128, tn=128, tk=64, eps=1, fast=True")


def compiling(parameters: Sequence[Parameter]) -> Any:
    """A kernel whose tiles take `tm * tn` of 4096 places, and that spills where tk is 16."""
    constants = {one.name: getattr(one, "value", None) for one in parameters}
    if constants["tm"] * constants["tn"] > 4096:
        raise op_error(None, "takes 512 registers of a thread")
    spills = 8 * (constants["tk"] == 16)
    return SimpleNamespace(assemble=lambda: SimpleNamespace(spills=spills))


def test_constants_are_halved_until_some_compile() -> None:
    attempts = smaller_sizes(ConstantVariants(SIGNATURE, compiling), ())
    works = [dict(one.constants) for one in attempts if not one.problem]
    assert works == [{"tn": 32}, {"tm": 64, "tn": 64}, {"tm": 32}]
    assert {"tm": 64} in [dict(one.constants) for one in attempts]
    assert all("512 registers" in one.problem for one in attempts if one.problem)
    refused = Refusal("sm_90a", (), ("registers",), (), (), (), (), tuple(attempts))
    assert "compiles with tm=64, tn=64" in refusal_text(refused)


def test_spills_are_no_success() -> None:
    spilling = parse_signature("tm=16, tn=16, tk=32")
    (attempt,) = smaller_sizes(ConstantVariants(spilling, compiling), ())[:1]
    assert (dict(attempt.constants), attempt.problem) == ({"tk": 16}, "8 bytes are spilled")


def test_what_is_lacked_is_said_by_messages_and_their_notes() -> None:
    why = note(None, "a block needs 294920 bytes of shared memory with tile; it has 232448")
    assert lacked(op_error(None, "failed to find smem buffer", [why])) == ("shared memory",)
    assert lacked(op_error(None, "tile takes 512 registers of a thread")) == ("registers",)
    assert lacked(op_error(None, "multiplies multiples of 64 rows, not 16")) == ()


TEXT = """\
// tiles of 128x64
%a = tl.alloc_shared : memref<128x?x64xf16>
%n = arith.constant 128 : index
%f = arith.constant 128.0 : f32
tl.kernel (%x) in (%128) threads(128) { partition_view<tile=(128x64), strides=[1280]> }
"""


def test_numbers_of_a_text_are_replaced_where_they_are_extents() -> None:
    """Not in names, threads, floats and longer numbers."""
    changed = with_numbers(TEXT, {"128": 64, "64": 32})
    assert changed.splitlines()[1:3] == [
        "%a = tl.alloc_shared : memref<64x?x32xf16>",
        "%n = arith.constant 64 : index",
    ]
    assert changed.splitlines()[3] == TEXT.splitlines()[3]
    assert "(%128) threads(128) { partition_view<tile=(64x32), strides=[1280]>" in changed


def test_a_smaller_text_is_told_by_lines() -> None:
    def compiling_text(text: str) -> Any:
        if "memref<128x" in text:
            raise op_error(None, "takes 512 registers of a thread")
        return SimpleNamespace(assemble=lambda: SimpleNamespace(spills=0))

    variants = TextVariants(TEXT, compiling_text)
    attempts = smaller_sizes(variants, extents_of(["128x64xf16", "256x8xf32"]))
    assert [one.change for one in attempts if not one.problem] == ["64 for 128 in lines 2, 3, 5"]
    assert [one.change for one in attempts if one.problem] == ["32 for 64 in lines 2, 5"]
