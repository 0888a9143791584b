"""Apply loop slicing to test programs."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.transforms.loops.tileas_slicing import TileasSlicing


def sliced(module: ModuleOp) -> ModuleOp:
    """Return a verified copy of the module with its loops sliced."""
    copy = module.clone()
    TileasSlicing().apply(Context(), copy)
    verify_module(copy)
    assert "sliceCount" not in str(copy)
    return copy
