"""What runs the kernels of a suite: our drop-in, on a GPU or on the emulator.

The suites ask cuTile's own compiler for its path and version before anything else; here they are
told what our reader of bytecode takes.  That compiler is not needed, and tests that call it are
told apart by `NoAssemblerError`.
"""

from __future__ import annotations

import functools
import os
import random
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cuda.tile as ct
import cuda.tile._cext as extension
import cuda.tile._compile as original
import cuda.tile._execution as execution
import cuda.tile.compilation._signature as signatures
import numpy as np
import pytest
import torch
from cuda.tile._bytecode.version import BytecodeVersion

import tileas_xdsl.cutile
from benchmarks.conformance.assembler_on_path import use_assembler
from benchmarks.conformance.judging import Exceptions, NoAssemblerError
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.frontend.bytecode.layout import LATEST
from tileas_xdsl.frontend.needed_packages import MissingPackageError
from tileas_xdsl.frontend.signature import SignatureError
from tileas_xdsl.interpreters.ptx import FindingsError
from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError

GPU = "gpu"
ASSEMBLER = "assembler"

_REFUSALS = (DiagnosticError, LaunchError, MissingPackageError, SignatureError)
_FINDINGS = (FindingsError, PtxError)

_COUNT_FILE = "TILEAS_CONFORMANCE_LAUNCHES"
"""The environment variable with the file that has a byte for each launch."""


class _LaunchCount:
    """Counts launches of this process and of those that it starts, by the size of a file."""

    def __init__(self) -> None:
        if _COUNT_FILE not in os.environ:
            number, os.environ[_COUNT_FILE] = tempfile.mkstemp()
            os.close(number)
        self._path = os.environ[_COUNT_FILE]
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)

    def add(self) -> None:
        """Count a launch."""
        os.write(self._file, b".")

    def total(self) -> int:
        """Return how many there were."""
        return os.stat(self._path).st_size


class _NoCompiler:
    """Cutile's own compiler, which is not there."""

    path = "none"
    bin_path = ld_path = ""
    pass_cuda_home_var = False

    def run(self, arguments: object, flags: object = (), timeout_sec: object = None) -> None:
        """Refuse."""
        raise NoAssemblerError("the test runs tileiras")


class DropInEnvironment:
    """The drop-in, installed for good; or cuTile as it is, with our assembler."""

    def __init__(self, device: str) -> None:
        self._is_gpu = device in (GPU, ASSEMBLER)
        self._launches = _LaunchCount()
        self.exceptions = Exceptions(_REFUSALS, _FINDINGS)
        if device == ASSEMBLER:
            use_assembler(original)
        else:
            _describe_compiler()
            self._install(device)

        def counted(*args: Any, **options: Any) -> None:
            launch(*args, **options)
            self._launches.add()

        launch = _without_mode(ct.launch)
        ct.launch = extension.launch = functools.wraps(ct.launch)(counted)

    def _install(self, device: str) -> None:
        if self._is_gpu:
            tileas_xdsl.cutile.install("gpu")
        else:
            self.exceptions = replace(self.exceptions, absent=_emulate(device))
            tileas_xdsl.cutile.install("emulator", target=device)

    def begin_test(self) -> None:
        """Seed what tests draw at random: a tolerance that one run in ten misses says little."""
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)

    def launches(self) -> int:
        """Return how many launches have returned, in processes that tests start too."""
        return self._launches.total()

    def check_device(self) -> None:
        """Raise what a kernel did to the GPU."""
        if self._is_gpu and torch.cuda.is_initialized():
            torch.cuda.synchronize()


def prepare(device: str) -> DropInEnvironment:
    """Install the drop-in for `gpu` or the emulator of a target, or the `assembler`."""
    return DropInEnvironment(device)


def _describe_compiler() -> None:
    version = BytecodeVersion[f"V_{LATEST.major}_{LATEST.minor}"]

    @functools.cache
    def newest(temp_dir: str, allow_dev: bool = False) -> BytecodeVersion:
        return version

    original._find_compiler_bin = _NoCompiler
    original._get_max_supported_bytecode_version = newest


def _emulate(target: str) -> re.Pattern[str]:
    """Let torch and cuTile see a GPU of the target; return the messages of what it lacks."""
    from benchmarks.conformance import cuda_on_cpu
    from tileas_xdsl.target.arch import TARGETS

    capability = divmod(TARGETS[target].capability, 10)
    for module in (extension, original, execution):
        module.get_compute_capability = lambda device_id=0: capability
    signatures.get_parameter_constraints_from_pyargs = _needs_driver
    cuda_on_cpu.install(capability)
    return cuda_on_cpu.ABSENT


def _needs_driver(*_: object) -> None:
    pytest.skip("cuTile asks the driver about arguments of `from_kernel_args`")


def _without_mode(launch: Callable[..., None]) -> Callable[..., None]:
    """Return the launcher that sees tensors as they are, on the CPU."""

    def plain(*args: Any, **options: Any) -> None:
        with torch._C.DisableTorchFunction():
            launch(*args, **options)

    return plain
