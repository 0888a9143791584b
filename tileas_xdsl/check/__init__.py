"""The checker of PTX as a library: what is wrong with a kernel, found without a GPU.

    from tileas_xdsl import check

    report = check.ptx(text, grid=4, args=[x, y, 256], block=128)
    check.assert_no_findings(report)

    with check.triton() as reports:         # unmodified Triton, tensors of the CPU
        kernel[(4,)](x, y, 256, BLOCK=64)

The findings are those of `tileas check`.
"""

from tileas_xdsl.check.capture.cuda_core_launches import cuda_core
from tileas_xdsl.check.capture.cupy_launches import cupy
from tileas_xdsl.check.capture.cute_dsl_launches import cute_dsl
from tileas_xdsl.check.capture.launch_capture import CaptureUnavailableError
from tileas_xdsl.check.capture.numba_launches import numba
from tileas_xdsl.check.capture.triton_launches import triton
from tileas_xdsl.check.reports import (
    CheckError,
    CheckReport,
    NothingCheckedError,
    assert_no_findings,
    ptx,
)
from tileas_xdsl.check.suppressions import Suppression, parse_suppression
from tileas_xdsl.interpreters.ptx.arguments import TensorMapArg
from tileas_xdsl.interpreters.ptx.checking.reports.findings import KINDS, Finding, Severity

__all__ = [
    "KINDS",
    "CaptureUnavailableError",
    "CheckError",
    "CheckReport",
    "Finding",
    "NothingCheckedError",
    "Severity",
    "Suppression",
    "TensorMapArg",
    "assert_no_findings",
    "cuda_core",
    "cupy",
    "cute_dsl",
    "numba",
    "parse_suppression",
    "ptx",
    "triton",
]
