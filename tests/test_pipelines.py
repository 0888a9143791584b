"""Named pipelines: passes that need others in front of them have them there."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.diagnostics.verification.required_dialects import MissingDialectError
from tileas_xdsl.pipelines import PIPELINES, RUNS_BEHIND, Pipeline
from tileas_xdsl.transforms.conversion.cute_kernel_to_nvvm import CuteKernelToNvvm

ORDERED = [ArgSpec(spec.name, {}) for spec in PIPELINES["cute-to-nvvm"].passes]


def test_a_pipeline_in_order_is_made() -> None:
    assert Pipeline("mine", "in order", tuple(ORDERED)).spec == PIPELINES["cute-to-nvvm"].spec


@pytest.mark.parametrize("missing", RUNS_BEHIND["cute-kernel-to-nvvm"])
def test_a_pipeline_out_of_order_is_refused(missing: str) -> None:
    """Both what is left out and what comes too late."""
    rest = [spec for spec in ORDERED if spec.name != missing]
    late = [*rest, ArgSpec(missing, {})]
    for passes in (rest, late):
        with pytest.raises(ValueError, match=f"cute-kernel-to-nvvm runs after {missing}"):
            Pipeline("mine", "out of order", tuple(passes))


def test_without_llvm_the_compiler_is_set_up_wrongly() -> None:
    ctx, module = Context(), ModuleOp([])
    with pytest.raises(MissingDialectError, match="llvm, which is not registered"):
        CuteKernelToNvvm().apply(ctx, module)
