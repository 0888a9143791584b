"""The inference as its users see it: the timeline, reasons, refusals, and what it may not mind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.inference.parity.tilelang_kernels import flash_attn, seed_sparse, softmax
from tests.support.tile_loops import Kernel
from tileas_xdsl.inference.decisions import Decisions, InferenceError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.gemm_layouts import shared_layout
from tileas_xdsl.inference.parity import infer, timeline
from tileas_xdsl.inference.parity.state import Level, Visit
from tileas_xdsl.inference.program import Buffer, Loop, Program, Scope, WarpPolicy
from tileas_xdsl.layout.expr.expression import dimension

I, J = dimension(0), dimension(1)


def test_the_timeline_of_the_worked_example() -> None:
    """Seed 004: nothing in strict and common mode, a plan for the first loop, then the second."""
    assert timeline(seed_sparse().program) == (
        Visit(Level.STRICT, 0, (), is_decided=False),
        Visit(Level.STRICT, 1, (), is_decided=False),
        Visit(Level.COMMON, 0, (), is_decided=False),
        Visit(Level.COMMON, 1, (), is_decided=False),
        Visit(Level.FREE, 0, ("f",), is_decided=True),
        Visit(Level.FREE, 1, (), is_decided=True),
    )


def test_the_worked_example_runs_on_every_sixteenth_thread() -> None:
    decisions = infer(seed_sparse().program)
    assert decisions.loops[1].owners.thread_table.ravel().tolist() == [0, 16, 32, 48]
    reasons = {reason.subject: reason for reason in decisions.reasons}
    assert reasons["f"].rule == "plan: vectors of 1"
    assert reasons["f"].operation == 0
    assert reasons["loop 1"].rule == "from f"
    first, second = reasons["f"].considered
    assert (first.candidate, first.verdict, first.cost) == (
        "operation 0 first",
        "chosen",
        "1 registers",
    )
    assert (second.verdict, second.cost) == ("costs more", "16 registers")


def _renamed(program: Program, names: dict[str, str]) -> Program:
    """The program with other names, declared in the opposite order."""
    buffers = {
        names[name]: replace(buffer, name=names[name])
        for name, buffer in reversed(program.buffers.items())
    }
    operations = tuple(
        replace(
            operation,
            accesses=tuple(replace(a, buffer=names[a.buffer]) for a in operation.accesses),
        )
        if isinstance(operation, Loop)
        else replace(
            operation,
            **{
                field: names[getattr(operation, field)]
                for field in ("source", "target", "a", "b", "c")
                if hasattr(operation, field)
            },
        )
        for operation in program.operations
    )
    return replace(program, buffers=buffers, operations=operations)


def _layouts(decisions: Decisions) -> tuple[object, ...]:
    return decisions.fragments, decisions.loops, decisions.shared


@pytest.mark.parametrize("model", ["register-count", "io-aware"])
@pytest.mark.parametrize(
    "kernel", [flash_attn((64, 64, 64), 128, "f16"), softmax((32, 64), 64, "f16")]
)
def test_names_do_not_matter(kernel: Kernel, model: str) -> None:
    program = kernel.program
    names = {name: f"z{len(program.buffers) - k}" for k, name in enumerate(program.buffers)}
    original, renamed = infer(program, model), infer(_renamed(program, names), model)
    assert {names[n]: layout for n, layout in original.fragments.items()} == renamed.fragments
    assert {names[n]: layout for n, layout in original.shared.items()} == renamed.shared
    assert original.loops == renamed.loops
    assert _layouts(infer(program, model)) == _layouts(original)


def test_vectors_of_loops_and_copies() -> None:
    kernel = softmax((64, 128), 128, "f16")
    loops = infer(kernel.program).loops
    assert {number: loop.vector for number, loop in loops.items()} == {0: 8, 2: 4, 4: 4, 5: 4, 6: 8}


def test_ragged_loops_without_fragments_are_padded() -> None:
    kernel = Kernel(128)
    kernel.arrays(A=(15, 40), B=(15, 40))
    kernel.parallel((15, 40), "B[i, j] = A[i, j]")
    decision = infer(kernel.program).loops[0]
    assert decision.is_padded
    assert decision.vector == 1
    assert decision.owners.slots == 5


def test_copies_of_an_iteration_write_memory_once() -> None:
    kernel = Kernel(128)
    kernel.arrays(A=(64,), B=(64,))
    kernel.fragments(x=(64,))
    kernel.copy("A", "x")
    kernel.parallel((64,), "B[i] = x[i]")
    loop = infer(kernel.program).loops[1]
    assert (loop.owners.replicas, loop.runs_once) == (2, True)


def test_running_sums_do_not_tie_their_ends_together() -> None:
    kernel = Kernel(128)
    kernel.arrays("f16", A=(64, 64))
    kernel.arrays("f32", B=(64, 64))
    kernel.fragments("f16", x=(64, 64))
    kernel.fragments("f32", y=(64, 64))
    kernel.copy("A", "x")
    kernel.cumsum("x", "y", 1)
    kernel.copy("y", "B")
    decisions = infer(kernel.program)
    assert decisions.fragments["x"].slot_table[0, 7] == 7
    assert decisions.fragments["y"].slots == 32
    assert sorted(decisions.loops) == [0, 2]


def test_floating_fragments_are_everywhere() -> None:
    kernel = Kernel(64)
    kernel.arrays(A=(8,))
    kernel.fragments(x=(8,))
    kernel.copy("A", "x")
    decisions = infer(replace(kernel.program, floating=frozenset({"x"})))
    assert decisions.fragments["x"].is_fully_replicated
    assert decisions.reasons[0].rule == "read outside of all operations"


def test_annotations_are_kept() -> None:
    """The way out that the article names: rows in registers, columns over threads."""
    kernel = seed_sparse()
    by_column = FragmentMap((4, 16), J, I, threads=64)
    decisions = infer(replace(kernel.program, annotations={"f": by_column}))
    assert decisions.fragments["f"] is by_column
    assert decisions.loops[1].owners.thread_table.ravel().tolist() == [0, 0, 0, 0]
    assert decisions.loops[1].owners.slots == 4


def test_views_of_other_element_width() -> None:
    kernel = Kernel(128)
    kernel.arrays("f16", A=(64, 64))
    kernel.arrays("i32", B=(64, 32))
    kernel.fragments("f16", x=(64, 64))
    kernel.fragments("i32", y=(64, 32))
    for name in "xy":
        kernel.buffers[name] = replace(kernel.buffers[name], storage="x")
    kernel.copy("A", "x")
    kernel.copy("y", "B")
    fragments = infer(kernel.program).fragments
    x, y = fragments["x"], fragments["y"]
    for i, j in ((0, 0), (3, 17), (63, 31)):
        for half in (0, 1):
            assert x.thread_table[0, i, 2 * j + half] == y.thread_table[0, i, j]
            assert x.slot_table[i, 2 * j + half] == 2 * y.slot_table[i, j] + half


def _refusal(kernel: Kernel, model: str = "register-count") -> InferenceError:
    with pytest.raises(InferenceError) as caught:
        infer(kernel.program, model)
    return caught.value


def test_two_indices_into_one_fragment_are_refused() -> None:
    kernel = Kernel(64)
    kernel.arrays(A=(64,), B=(32,))
    kernel.fragments(x=(64,))
    kernel.copy("A", "x")
    kernel.parallel((32,), "B[i] = x[i] + x[i + 32]")
    error = _refusal(kernel)
    assert error.text.startswith("one loop uses 'x' at [d0] and at [(d0 + 32)]") or (
        "one loop uses 'x' at [d0] and at [d0 + 32]" in error.text
    )
    assert error.location == "loop B[i] = x[i] + x[i + 32]"


def test_constant_indices_are_refused() -> None:
    kernel = Kernel(64)
    kernel.arrays(A=(4, 64), B=(64,))
    kernel.fragments(x=(4, 64))
    kernel.copy("A", "x")
    kernel.parallel((64,), "B[i] = x[3, i]")
    assert "the loop uses x[3, d0]" in _refusal(kernel).text


def test_layouts_of_two_products_clash() -> None:
    kernel = Kernel(128)
    kernel.shared("f16", a=(64, 64), b=(64, 64), d=(64, 64))
    kernel.fragments("f32", c=(64, 64), e=(64, 64))
    kernel.fragments("f16", p=(64, 64))
    kernel.gemm("a", "b", "c")
    kernel.gemm("p", "d", "e")
    kernel.parallel((64, 64), "p[j, i] = c[i, j]")
    error = _refusal(kernel)
    assert error.text.startswith("element c[0, 1] lives in thread 0, ")
    assert "the loop runs iteration [" in error.text


def test_an_owner_within_the_iteration_is_refused() -> None:
    kernel = Kernel(64)
    kernel.arrays(A=(4, 64), B=(4, 64), C=(4,))
    kernel.fragments(x=(4, 64))
    kernel.copy("A", "x")
    kernel.parallel((4, 64), "x[i, j] = x[i, j] + B[i, j]")
    kernel.parallel((4,), "C[i] = C[i] + x[i, j]", inner=(64,))
    decisions = infer(kernel.program)
    assert decisions.fragments["x"].slots == 64
    by_column = FragmentMap((4, 64), J, I, threads=64)
    with pytest.raises(InferenceError, match="depends on inner variable d1"):
        infer(replace(kernel.program, annotations={"x": by_column}))


def test_a_fragment_that_nothing_lays_out() -> None:
    kernel = Kernel(64)
    kernel.fragments(x=(64,))
    kernel.fill("x")
    assert _refusal(kernel).text == "no operation says how 'x' is laid out"


def test_unknown_cost_models_are_named() -> None:
    with pytest.raises(ValueError, match="known: register-count, io-aware"):
        infer(seed_sparse().program, "fastest")


def test_split_views_are_refused() -> None:
    kernel = Kernel(32)
    kernel.arrays("f16", A=(32,))
    kernel.buffers["x"] = Buffer("x", (32,), 16, Scope.FRAGMENT, "f16", storage="x")
    kernel.buffers["y"] = Buffer("y", (16,), 32, Scope.FRAGMENT, "i32", storage="x")
    kernel.copy("A", "x")
    assert "elements of 'y' are split between registers of 'x'" in _refusal(kernel).text


def _two_products(second: str) -> Kernel:
    """16 warps multiply by rows, then by columns: 128, then 32 of B for each warpgroup."""
    kernel = Kernel(512)
    kernel.shared("f16", a=(256, 64), b=(64, 128))
    kernel.fragments("f32", c=(256, 128), d=(256, 128))
    kernel.gemm("a", "b", "c", WarpPolicy.FULL_ROW)
    kernel.gemm("a", "b", second, WarpPolicy.FULL_COL)
    return kernel


def test_what_two_products_read_has_the_narrower_swizzle() -> None:
    """32 columns are 64 bytes; A, whose rows both read whole, keeps 128 bytes."""
    shared = infer(_two_products("d").program).shared
    assert shared["a"] == shared_layout((256, 64), 16, 3)
    assert shared["b"] == shared_layout((64, 128), 16, 2)


def test_accumulators_that_warps_share_in_two_ways_are_refused() -> None:
    with pytest.raises(InferenceError, match="'c' has two layouts"):
        infer(_two_products("c").program)
