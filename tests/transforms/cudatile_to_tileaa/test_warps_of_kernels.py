"""Number of warps of a Tile IR kernel: derived from its products, or given."""

from __future__ import annotations

import pytest

from tests.support.tile_ir import entry, lowered


def text(m: int, n: int, hints: str = "") -> str:
    types = f"tile<{m}x16xf16>, tile<16x{n}xf16>, tile<{m}x{n}xf32>"
    body = f"""%a = constant <f16: 1.0> : tile<{m}x16xf16>
    %b = constant <f16: 1.0> : tile<16x{n}xf16>
    %c = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %d = mmaf %a, %b, %c : {types}"""
    return entry("", body, hints)


@pytest.mark.parametrize(
    ("m", "n", "warps"),
    [
        (16, 16, 4),
        (128, 64, 4),
        (128, 128, 8),
        (64, 256, 4),
        (64, 512, 8),
        (256, 128, 16),
        (256, 256, 8),
    ],
)
def test_threads_share_the_sums_of_large_products(m: int, n: int, warps: int) -> None:
    assert f"num_warps = {warps}" in str(lowered(text(m, n)))


def test_a_kernel_may_say_how_many() -> None:
    hints = "optimization_hints = <sm_90 = {num_worker_warps_per_cta = 4}>"
    assert "num_warps = 4" in str(lowered(text(128, 128, hints)))


def test_a_kernel_without_products_has_the_usual_ones() -> None:
    assert "num_warps = 4" in str(lowered(entry("", "")))


def rows(elements: int, warps: int) -> str:
    """A kernel whose three tiles are live at once, with a hint."""
    tile, pointers = f"tile<{elements}xf32>", f"tile<{elements}xptr<f32>>"
    body = f"""%r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q = broadcast %r : tile<1xptr<f32>> -> {pointers}
    %a, %t = load_ptr_tko weak %q : {pointers} -> {tile}, token
    %b = exp %a : {tile}
    %c = exp %b : {tile}
    %d = addf %a, %b : {tile}
    %e = addf %d, %c : {tile}
    print_tko "%f", %e : {tile} -> token"""
    hints = f"optimization_hints = <sm_90 = {{num_worker_warps_per_cta = {warps}}}>"
    return entry("%p: tile<ptr<f32>>", body, hints)


def test_too_few_are_raised_until_live_tiles_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert "num_warps = 8" in str(lowered(rows(16384, 4)))
    remark = "num_worker_warps_per_cta = 4 is too few: tiles that are live at once take 384"
    assert remark in capsys.readouterr().err


def test_enough_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert "num_warps = 4" in str(lowered(rows(8192, 4)))
    assert "too few" not in capsys.readouterr().err


def reduced(elements: int, times: int) -> str:
    """A kernel that sums up a tile so many times, one after another."""
    tile = f"tile<{elements}xf32>"
    lines = [f"%x0 = constant <f32: 1.0> : {tile}", f"%one = exp %x0 : {tile}"]
    for k in range(times):
        lines.append(
            f"""%s{k} = reduce %one dim = 0 identities = [0.0 : f32] : {tile} -> tile<f32>
            (%a{k} : tile<f32>, %b{k} : tile<f32>) {{
              %c{k} = addf %a{k}, %b{k} : tile<f32>
              yield %c{k} : tile<f32>
            }}"""
        )
    return entry("", "\n".join(lines))


@pytest.mark.parametrize(
    ("elements", "times", "warps"),
    [
        *((1024, 1, 4), (1024, 2, 2), (512, 2, 1), (512, 1, 2), (256, 1, 1)),
        *((64, 1, 1), (64, 3, 1), (16, 1, 1), (2048, 2, 4)),
    ],
)
def test_few_elements_that_are_reduced_again_are_shared_by_few(
    elements: int, times: int, warps: int
) -> None:
    assert f"num_warps = {warps}" in str(lowered(reduced(elements, times)))


def reduced_in_loop(elements: int, loads: bool) -> str:
    """A kernel whose loop carries a tile, and sums it up in every round."""
    tile, pointers = f"tile<{elements}xf32>", f"tile<{elements}xptr<f32>>"
    load = f"%l, %t = load_ptr_tko weak %q : {pointers} -> {tile}, token" if loads else ""
    body = f"""%r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q = broadcast %r : tile<1xptr<f32>> -> {pointers}
    %one = constant <f32: 1.0> : {tile}
    %w = exp %one : {tile}
    %from = constant <i32: 0> : tile<i32>
    %to = constant <i32: 9> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %end = for %i in (%from to %to, step %step) : tile<i32> iter_values(%old = %w) -> ({tile}) {{
      {load}
      %s = reduce %old dim = 0 identities = [0.0 : f32] : {tile} -> tile<f32>
      (%a : tile<f32>, %b : tile<f32>) {{
        %c = addf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %u = reshape %s : tile<f32> -> tile<1xf32>
      %v = broadcast %u : tile<1xf32> -> {tile}
      %new = addf %old, %v : {tile}
      continue %new : {tile}
    }}
    print_tko "%f", %end : {tile} -> token"""
    return entry("%p: tile<ptr<f32>>", body)


@pytest.mark.parametrize(
    ("elements", "loads", "warps"), [(1024, False, 1), (1024, True, 4), (4096, False, 4)]
)
def test_loops_that_load_nothing_are_bound_by_instructions(
    elements: int, loads: bool, warps: int
) -> None:
    assert f"num_warps = {warps}" in str(lowered(reduced_in_loop(elements, loads)))


def streamed(elements: int, *functions: str, rounds: int = 9) -> str:
    """A kernel whose loop sums up functions of what it loads; the sum is reduced twice."""
    tile, pointers = f"tile<{elements}xf32>", f"tile<{elements}xptr<f32>>"
    names = ["%l", *(f"%f{k}" for k in range(len(functions)))]
    lines = [
        f"{made} = {name} {of} : {tile}"
        for name, of, made in zip(functions, names, names[1:], strict=False)
    ]
    body = f"""%r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q = broadcast %r : tile<1xptr<f32>> -> {pointers}
    %zero = constant <f32: 0.0> : {tile}
    %from = constant <i32: 0> : tile<i32>
    %to = constant <i32: {rounds}> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %end = for %i in (%from to %to, step %step) : tile<i32> iter_values(%old = %zero) -> ({tile}) {{
      %l, %t = load_ptr_tko weak %q : {pointers} -> {tile}, token
      {" ".join(lines)}
      %new = addf %old, {names[-1]} : {tile}
      continue %new : {tile}
    }}
    %s = reduce %end dim = 0 identities = [0.0 : f32] : {tile} -> tile<f32>
    (%a : tile<f32>, %b : tile<f32>) {{
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }}
    %m = reduce %end dim = 0 identities = [0.0 : f32] : {tile} -> tile<f32>
    (%d : tile<f32>, %e : tile<f32>) {{
      %g = maxf %d, %e : tile<f32>
      yield %g : tile<f32>
    }}
    print_tko "%f %f", %s, %m : tile<f32>, tile<f32> -> token"""
    return entry("%p: tile<ptr<f32>>", body)


@pytest.mark.parametrize(
    ("elements", "functions", "warps"),
    [(128, (), 1), (512, (), 2), (128, ("exp", "log", "exp"), 4), (1024, (), 4)],
)
def test_loops_take_few_warps_where_they_only_wait(
    elements: int, functions: tuple[str, ...], warps: int
) -> None:
    """What is reduced behind a loop, twice, is little beside it."""
    assert f"num_warps = {warps}" in str(lowered(streamed(elements, *functions)))


def test_a_loop_that_runs_once_is_none() -> None:
    assert "num_warps = 1" in str(lowered(streamed(128, "exp", "log", "exp", rounds=1)))
