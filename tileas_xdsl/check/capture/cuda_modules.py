"""A module of CUDA kernels that is checked where it is launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileas_xdsl.check.capture.cuda_sources import kernel_named, ptx_of
from tileas_xdsl.check.capture.launch_capture import CaptureSettings, argument
from tileas_xdsl.interpreters.ptx import LaunchError, load


class CheckedModule:
    """The PTX of a source, and its kernels by name."""

    def __init__(
        self, settings: CaptureSettings, source: str, options: Sequence[str], capture: str
    ) -> None:
        self.settings = settings
        self.text = ptx_of(source, settings.target.name, options, capture)
        self.module = load(self.text, f"{capture}.ptx")

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Any],
        *,
        cluster: Sequence[int] | None = None,
        shared: int = 0,
    ) -> None:
        """Check a launch of a kernel, by its name in the source."""
        kernel = kernel_named(name, list(self.module.kernels))
        entry = self.module.kernels.get(kernel)
        given = [argument(value) for value in values]
        if entry is not None and len(entry.parameters) != len(given):
            raise LaunchError(
                f"kernel '{name}' has {len(entry.parameters)} parameters, not {len(given)}"
            )
        self.settings.check(
            self.text, self.module, kernel, grid, block, given, cluster=cluster, shared=shared
        )
