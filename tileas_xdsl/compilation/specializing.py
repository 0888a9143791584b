"""Specialize a kernel pass by pass: a pass leaves a predicate over launches, and runs once more.

    tileas-plan-cta              leaves tileas.few_tile_blocks = [{count = 4}, {count = 2}]
    choose(count = 2) is true    runs tileas-plan-cta{ctas=2}

The options of the second run are those of the first predicate that holds for the launches.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.compilation.module_kernels import kernels_in
from tileas_xdsl.pipelines import (
    ASKING,
    ASSUME_WHOLE_TILES,
    BOUND_ROWS,
    DEAL_ITERATIONS,
    DIVIDE_SUMS,
    FORM_CLUSTERS,
    PLAN_CTA,
)
from tileas_xdsl.target.launches.specializations import (
    ChooseSpecialization,
    LaunchPredicate,
    chosen_count,
    chosen_lengths,
    chosen_loads,
)


def specializing_pass(
    module: ModuleOp, spec: ArgSpec, choose: ChooseSpecialization
) -> ArgSpec | None:
    """Return a pass with the options of the first predicate of its own that holds, or None."""
    if spec.name not in ASKING or spec.parameters:
        return None
    from tileas_xdsl.backend.ptx.launch_attributes import (
        bounded_rows_of,
        few_tile_blocks_of,
        shared_loads_of,
    )

    for op in kernels_in(module):
        if spec == PLAN_CTA:
            few = few_tile_blocks_of(op)
            if (count := chosen_count(few, choose)) > 0:
                return ArgSpec(spec.name, {"ctas": (count,)})
        elif spec == BOUND_ROWS:
            rows = bounded_rows_of(op)
            if (lengths := chosen_lengths(rows, choose)) is not None:
                least, most = lengths
                return ArgSpec(spec.name, {"least": (least,), "most": (most,)})
        elif spec == FORM_CLUSTERS:
            shared = shared_loads_of(op)
            if (one := chosen_loads(shared, choose)) is not None:
                place = {"axis": (one.axis,), "count": (one.count,)}
                return ArgSpec(spec.name, {"mode": ("on",), **place})
        else:
            asked = _single_predicate(spec, op)
            if asked is not None and choose(asked):
                return ArgSpec(spec.name, {"mode": ("on",)})
    return None


def _single_predicate(spec: ArgSpec, kernel: Operation) -> LaunchPredicate | None:
    """The predicate of a pass that leaves one alone, between two specializations."""
    from tileas_xdsl.backend.ptx.launch_attributes import (
        divided_sums_of,
        persistent_launches_of,
        uneven_waves_of,
        whole_tiles_of,
    )

    if spec == DEAL_ITERATIONS:
        return uneven_waves_of(kernel)
    if spec == ASSUME_WHOLE_TILES:
        return whole_tiles_of(kernel)
    if spec == DIVIDE_SUMS:
        return divided_sums_of(kernel)
    return persistent_launches_of(kernel)
