"""What `gpu.py --ablation` measures: kernels without one transformation after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.gpu_cases import Case, Heads, attentions, compile_with, product_case
from benchmarks.gpu_products import persistent
from benchmarks.gpu_rows import softmax_of

SCHEDULE, PIPELINE = "tileas-materialize-schedule", "tileas-pipeline-loads"
SQUARES = (4096, 8192)
WIDTHS = (4096, 10001)
"""Of the rows of softmax: of whole vectors, and that begin anywhere."""

CHANGES: Mapping[str, Sequence[str]] = {
    "without turns": (f"{SCHEDULE}{{default=true}}",),
    "wait for the next stage ahead": (f"{SCHEDULE}{{default=true ahead=true}}",),
    "scheduled by the solver": (f"tileas-generate-schedule,{SCHEDULE}{{default=true}}",),
    "not rotated": (f"{SCHEDULE}{{default=true rotate=false}}",),
    "stages released a round later": (f"{SCHEDULE}{{default=true turns=true defer=true}}",),
    "products in order": (f"without {SCHEDULE}",),
    "products waited for": ("without tileas-materialize-async",),
    "row sums exchanged in the loop": ("without tileas-defer-lane-sums",),
    "no agents: loads waited for": (f"without {SCHEDULE}", f"without {PIPELINE}"),
    "no TMA stores": ("tileas-choose-tma{stores=false}",),
    "no TMA": ("without tileas-choose-tma",),
    "a CTA for each tile": ("tileas-make-persistent{mode=off}",),
}
"""By what it is called, changes of passes as `compile_with` takes them."""

CHANGES_OF_ROWS: Mapping[str, Sequence[str]] = {
    "rows not rotated": ("without tileas-rotate-rows",),
    "launches one by one": ("without overlap-launches",),
}
"""The same of kernels of rows, whose code the others do not change."""

HEADS = tuple(Heads(4, 16, 4096, d, causal=c) for d in (64, 128) for c in (False, True))
WIDE = "128x256x64"
Make = Callable[[], Case]


def ablations(target: str) -> Iterator[Case]:
    """Each kernel as it is, then with each change, then in tiles of one warpgroup of consumers."""
    for heads in HEADS:
        make = partial(_attention, target, heads)
        yield _ablation(make, "128x128", "64x128")
    for n in SQUARES:
        yield _ablation(partial(product_case, "bf16", (n, n, n), target), WIDE, "")
    yield _ablation(lambda: next(persistent(target)), WIDE, "")
    for columns in WIDTHS:
        make = partial(softmax_of, "f16", 8192, columns, target)
        wide = 1 << (columns - 1).bit_length()
        yield _ablation(make, f"1x{wide}", "", CHANGES_OF_ROWS)


def _attention(target: str, heads: Heads) -> Case:
    (case,) = attentions(target, (heads,), ((128, 128), (64, 128)))
    return case


def _ablation(
    make: Make, tiles: str, half: str, changes: Mapping[str, Sequence[str]] = CHANGES
) -> Case:
    """A case whose other implementations are ours with changes."""
    whole = make()
    peers = {who: them for who, them in whole.others.items() if who != "Triton"}
    changed = {
        name: {tiles: _changed(make, change).ours[tiles]} for name, change in changes.items()
    }
    groups = {"one group of consumers": {half: whole.ours[half]}} if half else {}
    return replace(
        whole,
        group="ablation",
        ours={tiles: whole.ours[tiles]},
        others={**peers, **groups, **changed},
    )


def _changed(make: Make, changes: Sequence[str]) -> Case:
    compile_with(changes)
    try:
        return make()
    finally:
        compile_with(())
