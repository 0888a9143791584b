"""Named pipelines as data: each prints as a `-p` string that `xdsl-opt` and `tileas-opt` accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.data_classes import dataclass

RUNS_BEHIND: Mapping[str, tuple[str, ...]] = {
    "cute-kernel-to-nvvm": ("tileas-materialize-convert-layout", "cute-to-llvm"),
}
"""By pass: those that have to be in front of it in a pipeline."""


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes by name and options; nothing is imported before it runs."""

    name: str
    summary: str
    passes: tuple[ArgSpec, ...]

    def __post_init__(self) -> None:
        """Refuse an order of passes that one of them does not work in."""
        before: list[str] = []
        for spec in self.passes:
            missing = [name for name in RUNS_BEHIND.get(spec.name, ()) if name not in before]
            if missing:
                raise ValueError(f"{self.name}: {spec.name} runs after {', '.join(missing)}")
            before.append(spec.name)

    @property
    def spec(self) -> str:
        """The pipeline as `-p` takes it."""
        return ",".join(str(spec) for spec in self.passes)


def _plain(*names: str) -> tuple[ArgSpec, ...]:
    return tuple(ArgSpec(name, {}) for name in names)


_LAYOUT = (
    "tileas-assign-load-store-layouts",
    "tileas-remove-layout-conversions",
    "tileas-remove-buffer-alias",
    "tileas-remove-dead-args",
    "tileas-resolve-agent-boundary",
    "tileas-slicing",
    "tileas-materialize-convert-layout",
    "tileas-legalize-tmem-copy",
)
"""Tiles are laid out, and what that leaves to do is made explicit."""

_BULK = ArgSpec("lower-tma-load-store-to-async", {"prefer_tma": (True,)})
"""What was laid out for TMA is done by TMA, for nothing else can."""

MAKE_PERSISTENT = ArgSpec("tileas-make-persistent", {})
"""CTAs take tile after tile where that pays: launches pass the grid that the program counts."""

FORM_CLUSTERS = ArgSpec("tileas-form-clusters", {})
"""Neighbouring tile blocks load by multicast what they share, where a launch gains."""

PLAN_CTA = ArgSpec("tileas-plan-cta", {})
"""CTAs divide tile blocks where a program asks for several, or a launch has few tile blocks."""

DEAL_ITERATIONS = ArgSpec("tileas-deal-iterations", {})
"""CTAs that take tile after tile share those of the last waves, where a launch gains."""

DIVIDE_SUMS = ArgSpec("tileas-divide-sums", {})
"""CTAs divide the iterations of few tile blocks, where a launch gains."""

BOUND_ROWS = ArgSpec("tileas-bound-rows", {})
"""Rows have the length that a launch knows."""

ASSUME_WHOLE_TILES = ArgSpec("tileas-assume-whole-tiles", {})
"""Tiles divide the extents that loops mask, where those of a launch do."""

ASKING = frozenset(
    spec.name
    for spec in (
        *(BOUND_ROWS, ASSUME_WHOLE_TILES, PLAN_CTA, DIVIDE_SUMS),
        *(FORM_CLUSTERS, MAKE_PERSISTENT, DEAL_ITERATIONS),
    )
)
"""Passes that without options write down what a launch decides: with options they do it."""

_TMA = ArgSpec("tileas-choose-tma", {})

_OF_LAUNCHES = (DIVIDE_SUMS, FORM_CLUSTERS, MAKE_PERSISTENT, DEAL_ITERATIONS)
"""How CTAs take the tile blocks of a launch, and what they share."""

_NO_LISTS = ArgSpec(_TMA.name, {"lists": (False,)})
"""Lists of arrays have no tensor maps: host code of others writes their tables."""

_LAID_OUT = (
    ArgSpec("tileas-materialize-schedule", {"default": (True,), "turns": (True,)}),
    *_plain("tileas-pipeline-loads", "optimize-execution-unit-mapping"),
    *_plain("tileas-materialize-constants", "tileas-legalize-i1-memory"),
    *_plain("tileas-rotate-rows", _LAYOUT[0]),
    _BULK,
    *_plain("tileas-multicast-loads", *_LAYOUT[1:], "tileas-materialize-async"),
    *_plain("tileas-unroll-register-loops", "tileas-defer-lane-sums"),
)
"""Loads and constants have their places, tiles are laid out, and TMA moves asynchronously.

What products read comes, by warps of its own, while the product before is made.
"""

_TO_THREADS = (
    "convert-tileas-to-cute-nvgpu",
    "share-ctas",
    "fuse-differences",
    "place-turns",
    "balance-inverses",
    "expand-int-to-float",
    "expand-division",
    "expand-math",
    "hoist-loop-invariants",
    "scalarize-vectors",
    "tileas-cse",
    "separate-constant-offsets",
    "join-neighbouring-loads",
    "recompute-conditions",
    "overlap-launches",
    "convert-cute-nvgpu-to-ptx",
)
"""Tiles that are laid out become threads, and those PTX."""

_HOST_TMA = ("tileas-separate-host-tma", "tileas-attach-tma-descriptor-args")
"""Tensor maps are encoded by host code, and become arguments."""

_FROM_TILEAA = (
    *_plain("convert-tileaa-to-tileas", "tileas-split-choices", "tileas-order-tile-blocks"),
    *_plain("tileas-bound-rows", "tileas-assume-whole-tiles", "tileas-reduce-slices"),
    *_plain("tileas-sum-rows-early", "tileas-peel-masks"),
    *_plain("tileas-relax-weights", "tileas-relax-functions"),
    *_plain("tileas-end-products", "tileas-fuse-elementwise"),
    *_plain("tileas-plan-cta", "tileas-load-tables"),
    *_plain("tileas-normalize-dot-operands"),
    ArgSpec("tileas-cse", {"extensions": (True,)}),
    *_plain("tileas-compact-loops", "tileas-chunk-tiles"),
)
"""Tiles of pointers and arrays become tiles that layouts can be chosen for.

`tileas-cse` there leaves one copy in shared memory of what several products read, and one load of
what a program loads twice.
"""

_CUDATILE = (
    *_plain("tileas-attach-target", "cudatile-sink-loads", "convert-cudatile-to-tileaa"),
    *_FROM_TILEAA,
)
"""Tile IR becomes tiles that layouts can be chosen for."""

_CUTE = ("convert-pipeline-to-nvgpu", "convert-cute-to-nvgpu", *_TO_THREADS[1:])
"""Kernels that are written for the threads of a block become PTX."""

_ALL = (
    Pipeline(
        "cleanup",
        "fold, merge and drop what is redundant, then check that every value is defined before use",
        _plain("canonicalize", "cse", "dce", "verify-dominance"),
    ),
    Pipeline(
        "cudatile-to-tileas",
        "Tile IR, by way of nv_tileaa, to tiles that layouts can be chosen for",
        _CUDATILE,
    ),
    Pipeline(
        "cute-to-nvvm",
        "lower kernels of cute to the llvm dialect, and mark them and their grid constants",
        _plain(
            "tileas-materialize-convert-layout",
            "cute-desugar",
            "cute-to-llvm",
            "cute-kernel-to-nvvm",
        ),
    ),
    Pipeline(
        "cute-to-ptx",
        "lower kernels that are written with cutlass, cute and cute_nvgpu to PTX",
        _plain(*_CUTE),
    ),
    Pipeline(
        "tileas-layout",
        "lay out tiles, and make conversions, aliases, transfers of tiles and slices explicit",
        _plain(*_LAYOUT),
    ),
    Pipeline(
        "tileas-schedule",
        "schedule the loops of kernels of tiles, as attributes that can be edited and compiled on",
        (_TMA, *_OF_LAUNCHES, *_plain("tileas-generate-schedule", "tileas-assign-buffers")),
    ),
    Pipeline(
        "tileas-to-ptx",
        "lay out the tiles of kernels, lower them to the threads of a block, and those to PTX",
        (_TMA, *_OF_LAUNCHES, *_LAID_OUT, *_plain(*_TO_THREADS)),
    ),
    Pipeline(
        "tileas-to-ptx-with-host-code",
        "as tileas-to-ptx, with an object for the host that encodes the tensor maps",
        (_NO_LISTS, *_LAID_OUT, *_plain(*_HOST_TMA, *_TO_THREADS)),
    ),
    Pipeline(
        "tileas-to-standalone-ptx",
        "as tileas-to-ptx, with the parameters of the program alone: tensor maps are built by CTAs",
        (
            *(_TMA, *_LAID_OUT, ArgSpec(_TO_THREADS[0], {"standalone": (True,)})),
            *_plain(*_TO_THREADS[1:]),
        ),
    ),
    Pipeline(
        "tl-by-tiles-to-ptx",
        "turn block programs over buffers into programs over tiles, and lower those to PTX",
        (
            *_plain("tileas-attach-target", "convert-tl-to-tileaa"),
            *_FROM_TILEAA,
            *(_TMA, *_OF_LAUNCHES, *_LAID_OUT),
            *_plain(*_TO_THREADS),
        ),
    ),
    Pipeline(
        "tl-to-ptx",
        "lay out block programs over buffers, lower them to the threads of a block, those to PTX",
        _plain("tl-layout-inference", "tl-lower", *_TO_THREADS[1:]),
    ),
)


DYNAMIC = "dynamic"
"""CTAs take over others that have not started."""


def with_persistence(passes: Sequence[ArgSpec], mode: str) -> Sequence[ArgSpec]:
    """Return the passes with another mode of `tileas-make-persistent`."""
    changed = ArgSpec(MAKE_PERSISTENT.name, {"mode": (mode,)})
    if mode == DYNAMIC:
        changed = ArgSpec("tileas-dynamic-persistent", {})
    return [changed if spec.name == MAKE_PERSISTENT.name else spec for spec in passes]


PIPELINES: Mapping[str, Pipeline] = {pipeline.name: pipeline for pipeline in _ALL}
"""Every named pipeline."""
