"""`tileas-remove-layout-conversions`: kernels mean the same with fewer conversions, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tests.support.ir import parse
from tests.support.simulating import SCHEDULES, agents, kernel, numbers
from tests.transforms.layout_conversions.layout_programs import random_program
from tileas_xdsl.analysis.layouts import layout_flow
from tileas_xdsl.analysis.layouts.layout_flow import RETYPABLE, LayoutRole, layout_role
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.layout_conversions.cleanup import clean_up
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.web import Cost, cost_of
from tileas_xdsl.transforms.layouts.tileas_remove_layout_conversions import (
    TileasRemoveLayoutConversions,
    checked,
)

PASS = TileasRemoveLayoutConversions()
TYPES = {
    "a": 'tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>',
    "b": 'tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@value,1@thread)">>',
    "a16": 'tensor<4x8xf16, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>',
    "b16": 'tensor<4x8xf16, #nv_tileas.blocked<"(4,8):(1@value,1@thread)">>',
    "rows": "tensor<4x8xf32, #nv_tileas.shared<(4,8),(8,1)>>",
    "columns": "tensor<4x8xf32, #nv_tileas.shared<(4,8),(1,4)>>",
    "wide": "tensor<4x8xf32, #nv_tileas.shared<(4,8),(16,1)>>",
    "open": "tensor<4x8xf32, #nv_tileas<space smem>>",
    "one": "tensor<1x8x8xf32>",
    "m": "memref<4x8xf32>",
}


def text_of(body: str) -> str:
    return kernel("%x: !m, %y: !m, %out: !m, %flag: i1", body, types=TYPES)


def load(name: str, of: str, type_: str) -> str:
    place = "[%zero, %zero] {atom = #any} : !m ->"
    return f"%{name} = nv_tileas.tiled_load %{of}{place} !{type_}\n"


def convert(name: str, source: str, there: str, here: str) -> str:
    return f"%{name} = nv_tileas.convert_layout %{source} : !{there} -> !{here}\n"


def store(name: str, type_: str) -> str:
    return f"nv_tileas.tiled_store %{name}, %out[%zero, %zero] {{atom = #any}} : !{type_}, !m\n"


SAVED: Mapping[str, tuple[str, int, int]] = {
    "arms of a branch": (
        load("u", "x", "a")
        + load("v", "y", "a")
        + "%r = scf.if %flag -> (!b) {\n"
        + convert("u1", "u", "a", "b")
        + "scf.yield %u1 : !b\n} else {\n%w = arith.mulf %v, %v : !a\n"
        + convert("w1", "w", "a", "b")
        + "scf.yield %w1 : !b\n}\n%s = arith.addf %r, %r : !b\n"
        + convert("t", "s", "b", "a")
        + store("t", "a"),
        3,
        0,
    ),
    "a carried sum": (
        load("first", "x", "b")
        + load("v", "y", "a")
        + "%r = scf.for %i = %zero to %three step %one iter_args(%sum = %first) -> (!b) {\n"
        + convert("u", "sum", "b", "a")
        + "%w = arith.addf %u, %v : !a\n%k = math.sqrt %w : !a\n"
        + convert("z", "k", "a", "b")
        + "scf.yield %z : !b\n}\n"
        + store("r", "b"),
        2,
        1,
    ),
    "a carried sum of a while": (
        load("first", "x", "b")
        + load("v", "y", "a")
        + "%n, %r = scf.while (%i = %zero, %sum = %first) : (index, !b) -> (index, !b) {\n"
        "%p = arith.cmpi slt, %i, %three : index\n"
        "scf.condition(%p) %i, %sum : index, !b\n} do {\n^bb0(%i: index, %sum: !b):\n"
        + convert("u", "sum", "b", "a")
        + "%w = arith.subf %v, %u : !a\n"
        + convert("z", "w", "a", "b")
        + "%j = arith.addi %i, %one : index\nscf.yield %j, %z : index, !b\n}\n"
        + store("r", "b"),
        2,
        1,
    ),
    "other element types": (
        load("u", "x", "a")
        + convert("v", "u", "a", "b")
        + "%w = arith.truncf %v : !b to !b16\n%t = arith.mulf %w, %w : !b16\n"
        + convert("s", "t", "b16", "a16")
        + "%r = arith.extf %s : !a16 to !a\n"
        + store("r", "a"),
        2,
        0,
    ),
    "what a pragma yields": (
        load("u", "x", "a")
        + '%r = nv_tileas.pragma {ocgEnterDirectives = "x"} -> !b {\n'
        + convert("v", "u", "a", "b")
        + "nv_tileas.yield %v : !b\n}\n"
        + convert("t", "r", "b", "a")
        + store("t", "a"),
        2,
        0,
    ),
    "shared memory": (
        load("u", "x", "rows")
        + convert("v", "u", "rows", "columns")
        + convert("w", "v", "columns", "a")
        + store("w", "a"),
        2,
        1,
    ),
    "shared memory that others see": (
        load("u", "x", "open")
        + convert("v", "u", "open", "columns")
        + convert("w", "v", "columns", "a")
        + convert("t", "u", "open", "a")
        + "%seen = nv_tileas.view %u : !open -> !open\n"
        + convert("s", "seen", "open", "a")
        + "%r = arith.addf %w, %t : !a\n%q = arith.subf %r, %s : !a\n"
        + store("q", "a"),
        4,
        2,
    ),
}
"""Bodies of kernels, how many conversions they have, and how many are left."""

KEPT: Mapping[str, str] = {
    "through memory and back": load("u", "x", "a")
    + convert("v", "u", "a", "columns")
    + convert("w", "v", "columns", "a")
    + store("w", "a"),
    "what a buffer held": "%buffer = nv_tileas.alloc_tensor : !rows\n"
    + load("u", "x", "a")
    + load("v", "y", "a")
    + "nv_tileas.copy %u, %buffer {atom = #any} : !a, !rows\n"
    + convert("w", "buffer", "rows", "rows")
    + convert("z", "buffer", "rows", "columns")
    + "nv_tileas.copy %v, %buffer {atom = #any} : !a, !rows\n"
    + convert("s", "w", "rows", "a")
    + convert("t", "z", "columns", "a")
    + "%r = arith.addf %s, %t : !a\n"
    + store("r", "a"),
    "what registers held": "%buffer = nv_tileas.alloc_tensor : !a\n"
    + load("u", "x", "rows")
    + load("v", "y", "rows")
    + "nv_tileas.copy %u, %buffer {atom = #any} : !rows, !a\n"
    + convert("w", "buffer", "a", "a")
    + convert("z", "buffer", "a", "b")
    + "nv_tileas.copy %v, %buffer {atom = #any} : !rows, !a\n"
    + convert("t", "z", "b", "a")
    + "%r = arith.addf %w, %t : !a\n"
    + store("r", "a"),
    "what registers hold later": "%buffer = nv_tileas.alloc_tensor : !a\n"
    + load("u", "x", "rows")
    + load("v", "y", "rows")
    + "nv_tileas.copy %u, %buffer {atom = #any} : !rows, !a\n"
    + convert("w", "buffer", "a", "b")
    + "nv_tileas.copy %v, %buffer {atom = #any} : !rows, !a\n"
    + "%s = math.sqrt %buffer : !a\n%t = math.absf %buffer : !a\n"
    + convert("s1", "s", "a", "b")
    + convert("t1", "t", "a", "b")
    + "%z = arith.addf %w, %s1 : !b\n%r = arith.mulf %z, %t1 : !b\n"
    + store("r", "b"),
    "a wait between": load("u", "x", "a")
    + convert("v", "u", "a", "b")
    + "%token = nv_tileas.async.tiled_load %y[%zero, %zero] {atom = #any} "
    ": !m -> !nv_tileas.token<!b>\n"
    + "%w = nv_tileas.async.wait %token : !nv_tileas.token<!b> -> !b\n"
    + "%s = arith.addf %v, %v : !b\n"
    + convert("r", "s", "b", "a")
    + store("r", "a"),
}
"""Bodies of kernels in which no conversion can be saved."""


def results(module: ModuleOp, *args: Any) -> Sequence[bytes]:
    """What the kernel leaves in its last array, under every schedule, for either flag."""
    found: list[bytes] = []
    for flag in (True, False):
        for schedule in SCHEDULES:
            run = simulate(module, (*args, flag), schedule=schedule)
            found.append(np.asarray(run.arrays[-2]).tobytes())
    return found


def tiles(seed: int) -> Sequence[Any]:
    rng = np.random.default_rng(seed)
    one, other, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    return np.abs(one), np.abs(other), out


def count(module: ModuleOp) -> int:
    return cost_of(module).conversions


@pytest.mark.parametrize("name", SAVED)
def test_conversions_are_saved_and_results_stay(name: str) -> None:
    body, before, after = SAVED[name]
    module = parse(text_of(body))
    assert count(module) == before
    expected = results(module, *tiles(1))
    PASS.apply(Context(), module)
    verify_module(module)
    assert count(module) == after
    assert results(module, *tiles(1)) == expected


@pytest.mark.parametrize("name", KEPT)
def test_conversions_that_mean_something_stay(name: str) -> None:
    module = parse(text_of(KEPT[name]))
    expected, before = results(module, *tiles(2)), str(module)
    PASS.apply(Context(), module)
    assert str(module) == before
    assert results(module, *tiles(2)) == expected


def pipelined(stages: int) -> str:
    """A producer sends tiles; the consumer yields a sum in another layout than it adds in."""
    slots = f"!nv_tileas.tiled_view<{stages}x4x8xf32, smem>"
    iterator = f"!nv_tileas.async.pipeline.iterator<tensor<4x8xf32>, {stages}, smem>"
    types = TYPES | {
        "tile": "tensor<4x8xf32>",
        "slots": slots,
        "iter": iterator,
        "buffer": f"tensor<{stages}x4x8xf32, #nv_tileas<space smem>>",
        "all": "memref<12x8xf32>",
        "views": "!nv_tileas.tiled_view<4x8xf32, gmem>",
    }
    producer = """
      %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
      %pn, %in = scf.for %k = %zero to %three step %one
        iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
        %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!tile]}
          : (!prod, !iter) -> !prod {
        ^bb0(%stage: !tile):
          %l = nv_tileas.tiled_load %views[%k, %zero] {atom = #any} : !views -> !tile
          nv_tileas.async.pipeline.yield %l : !tile
        }
        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
        scf.yield %p1, %i1 : !prod, !iter
      }
    """
    consumer = (
        """
      %nothing = arith.constant dense<1.5> : !a
      %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
      %cn, %jn, %r = scf.for %k = %zero to %three step %one
        iter_args(%c = %c0, %j = %j0, %sum = %nothing) -> (!cons, !iter, !a) {
        %c1, %next = nv_tileas.async.pipeline.consume_one %c, %j
          {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> (!cons, !b) {
        ^bb0(%stage: !tile):
          %read = nv_tileas.convert_layout %stage : !tile -> !a
    """
        + "%v = arith.addf %sum, %read : !a\n%w = arith.mulf %v, %sum : !a\n"
        + convert("t", "w", "a", "b")
        + """
          nv_tileas.async.pipeline.yield %t : !b
        }
        %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    """
        + convert("u", "next", "b", "a")
        + """
        scf.yield %c1, %j1, %u : !cons, !iter, !a
      }
    """
        + store("r", "a")
    )
    setup = f"""
      %views = nv_tileas.view %all[%zero, %zero] : !all -> !views
      %buffer = nv_tileas.alloc_tensor : !buffer
      %slots = nv_tileas.view %buffer : !buffer -> !slots
      %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = {stages} : i32,
        producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons
    """
    body = setup + agents(producer, consumer)
    return kernel("%all: !all, %out: !m, %flag: i1", body, types=types)


@pytest.mark.parametrize(("stages", "left"), [(1, 1), (2, 2), (3, 2)])
def test_conversions_move_out_of_consumers_of_pipelines_with_nothing_in_flight(
    stages: int, left: int
) -> None:
    """What the body yields is converted there and back in one stage no more.

    In several the loop carries it as it is yielded, so that it is converted behind the loop.
    """
    module = parse(pipelined(stages))
    rng = np.random.default_rng(5)
    args = numbers(rng, (12, 8), np.float32), numbers(rng, (4, 8), np.float32)
    assert count(module) == 3
    expected = results(module, *args)
    PASS.apply(Context(), module)
    verify_module(module)
    assert count(module) == left
    assert results(module, *args) == expected


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs_mean_the_same_with_fewer_conversions(seed: int) -> None:
    module = parse(random_program(seed))
    rng = np.random.default_rng(seed)
    args = numbers(rng, (8, 8), np.int32), numbers(rng, (4, 8), np.int32)
    before, expected = cost_of(module), _outputs(module, args)
    other = module.clone()
    PASS.apply(Context(), module)
    verify_module(module)
    assert cost_of(module) <= before
    assert _outputs(module, args) == expected
    once = str(module)
    PASS.apply(Context(), module)
    assert str(module) == once, "a second run changes nothing"
    PASS.apply(Context(), other)
    assert str(other) == once, "the pass is deterministic"


def _outputs(module: ModuleOp, args: Sequence[Any]) -> Sequence[bytes]:
    return [
        np.asarray(simulate(module, (*args, flag)).arrays[1]).tobytes() for flag in (True, False)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_every_step_lowers_the_cost_or_changes_nothing(seed: int) -> None:
    module, failures = parse(random_program(seed)), Failures()
    for _ in range(10):
        changes = False
        for step in PASS.steps():
            before, text = cost_of(module), str(module)
            changed = step(module, failures)
            assert changed == (str(module) != text)
            assert cost_of(module) < before if changed else cost_of(module) == before
            changes |= changed
        if not changes:
            return
    raise AssertionError("cycles do not end")


def test_the_steps_are_propagate_clean_up_rewrite_clean_up_clean_up() -> None:
    names = [step.__name__ for step in PASS.steps()]
    assert names == [
        "propagate_buffer_layouts",
        "propagate_register_layouts",
        "cleaning",
        "rewrite_layout_sensitive_ops",
        "cleaning",
        "cleaning",
    ]


def test_a_step_that_lowers_nothing_is_reported() -> None:
    module, failures = parse(text_of(KEPT["a wait between"])), Failures()
    checked(lambda root, _: True, module, failures)
    (found,) = failures.diagnostics
    assert message("remove_layout_conversions.patterns") in found.message
    assert found.notes[0].message == "2 conversions before a step, 2 after it"
    assert module in failures


def test_a_step_may_move_conversions_out_of_loops() -> None:
    assert Cost(2, 0) < Cost(2, 1) < Cost(3, 0)


# What the verifier refuses is undone


def refused(module: ModuleOp) -> tuple[list[str], list[list[str]]]:
    """The errors of the pass, which leaves a valid module, and their notes."""
    with pytest.raises(DiagnosticError) as caught:
        PASS.apply(Context(), module)
    verify_module(module)
    reports = caught.value.diagnostics
    assert all(report.location is not None for report in reports)
    return [r.message for r in reports], [[n.message for n in r.notes] for r in reports]


def test_a_producer_that_is_refused_stays_and_the_pass_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tile that a wait delivers has the type that its token says."""
    monkeypatch.setitem(layout_flow.ROLES, "nv_tileas.async.wait", LayoutRole.PRODUCER)
    monkeypatch.setitem(RETYPABLE, "nv_tileas.async.wait", frozenset({Space.SMEM}))
    text = text_of(
        "%t = nv_tileas.async.tiled_load %x[%zero, %zero] {atom = #any} "
        ": !m -> !nv_tileas.token<!open>\n"
        "%u = nv_tileas.async.wait %t : !nv_tileas.token<!open> -> !open\n"
        + convert("v", "u", "open", "rows")
        + '"test.op"(%u, %v) : (!open, !rows) -> ()\n'
    )
    more = load("p", "x", "rows") + convert("q", "p", "rows", "columns")
    with_more = text.replace("%t = nv", f'{more}"test.op"(%q) : (!columns) -> ()\n%t = nv')
    module = parse(text)
    before = str(module)
    messages, notes = refused(module)
    assert messages == ["failed to rewrite in buffer layout propagation"]
    assert notes[0][0].startswith("gives [tensor<4x8xf32, #nv_tileas.shared<(4,8),(8,1)>>], but")
    assert str(module) == before
    module = parse(with_more)
    assert count(module) == 2
    refused(module)
    assert count(module) == 1


def test_a_consumer_that_is_refused_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(text_of(SAVED_BY_A_ROOT))
    before = str(module)
    _refuse_layout(monkeypatch, "(1@thread,1@value)")
    messages, notes = refused(module)
    assert messages == ["failed to rewrite in reg layout propagation"]
    assert notes[0] == ["takes no such layout"]
    assert str(module) == before


def test_a_consumer_that_a_clean_up_retypes_may_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module, failures = parse(text_of(SAVED_BY_A_ROOT)), Failures()
    before = str(module)
    _refuse_layout(monkeypatch, "(1@thread,1@value)")
    assert not clean_up(module, failures, None)
    found = {report.message for report in failures.diagnostics}
    assert found == {"failed to apply patterns greedily"}
    assert str(module) == before


SAVED_BY_A_ROOT = (
    load("u", "x", "a")
    + convert("v", "u", "a", "b")
    + "%w = math.sqrt %v : !b\n"
    + convert("t", "w", "b", "a")
    + store("t", "a")
)


def _refuse_layout(monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    def verify(op: Operation) -> None:
        if layout in str(op.results[0].type):
            raise VerifyException("takes no such layout")

    monkeypatch.setattr(math.SqrtOp, "verify_", verify)


# Facts


@pytest.mark.parametrize(
    ("text", "role"),
    [
        (load("t", "x", "a"), LayoutRole.PRODUCER),
        (convert("t", "v", "a", "b"), LayoutRole.CONVERSION),
        ("%t = arith.addf %v, %v : !a\n", LayoutRole.ELEMENTWISE),
        ("%t = nv_tileas.shuffle %v : !a -> !b\n", LayoutRole.FIXING),
        ("%t = nv_tileas.extract_slice %v[0, 0][4, 8][1, 1] : !a -> !a\n", LayoutRole.FIXING),
        ('%t = "test.op"() : () -> !a\n', LayoutRole.FIXING),
        ("%t = arith.constant dense<1.0> : !a\n", LayoutRole.PRODUCER),
        ("%t = nv_tileas.alloc_tensor : !open\n", LayoutRole.PRODUCER),
    ],
)
def test_roles(text: str, role: LayoutRole) -> None:
    module = parse(text_of(load("v", "y", "a") + text))
    op = next(op for op in module.walk() if op.results and op.results[0].name_hint == "t")
    assert layout_role(op) is role
