"""Where launches of cuTile kernels run, and what a finding of the emulator's checker becomes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.runtime.arguments.host_arrays import is_array, is_on_host
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.driver import DriverError

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.ptx import Finding

Where: TypeAlias = Literal["auto", "gpu", "emulator"]
OnFindings: TypeAlias = Literal["raise", "warn", "ignore"]

EMULATED_TARGET = "sm_90a"
"""The target of kernels for the emulator, unless another is asked for."""


class HostArraysWarning(UserWarning):
    """A kernel runs on the emulator, though there is a GPU: its arrays are in host memory."""


class FindingsWarning(UserWarning):
    """The checker of the emulator found a race, an access out of bounds or another error."""


@dataclass(frozen=True)
class Settings:
    """What `install` was asked for."""

    on: Where = "auto"
    """Where kernels run; `auto` is the GPU that the arrays are on, for arrays in host memory and
    without a GPU the emulator."""
    target: str = EMULATED_TARGET
    """What kernels for the emulator are compiled for; a GPU's own target is used on it."""
    findings: OnFindings = "raise"
    """What happens after an emulated launch with findings; the results are written before."""

    is_installed: bool = False
    """Whether cuTile's own launcher is replaced."""

    @property
    def emulates(self) -> bool:
        """Whether kernels run on the emulator."""
        return self.on == "emulator" or (self.on == "auto" and not has_gpu())

    def for_arguments(self, args: tuple[Any, ...]) -> Settings:
        """Return these settings, with the emulator for arrays that no GPU reads."""
        if self.on != "auto" or self.emulates:
            return self
        arrays = [*_arrays(args)]
        return _on_emulator(self) if arrays and all(map(is_on_host, arrays)) else self

    def report(self, findings: Sequence[Finding]) -> None:
        """Raise `FindingsError` (for more than notes), warn, or do nothing, as asked for."""
        if not findings or self.findings == "ignore":
            return
        if self.findings == "raise":
            if not any(finding.severity.fails for finding in findings):
                return
            from tileas_xdsl.interpreters.ptx import FindingsError

            raise FindingsError(findings)
        warnings.warn("\n".join(map(str, findings)), FindingsWarning, stacklevel=4)


def _arrays(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple | list):
            yield from _arrays(cast("Sequence[Any]", value))
        elif is_array(value):
            yield value


@lru_cache(maxsize=64)
def _on_emulator(chosen: Settings) -> Settings:
    return replace(chosen, on="emulator")


current = Settings()
"""What `install` was asked for last."""


@cache
def has_gpu() -> bool:
    """Whether the driver finds a GPU."""
    try:
        gpu()
    except DriverError:
        return False
    return True
