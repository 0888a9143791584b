"""An environment without a compiler: the tests of a fake suite say what their kernels do."""

from __future__ import annotations

import builtins
import random

from benchmarks.conformance.judging import Exceptions


class UnsupportedError(Exception):
    """The refusal of a compiler."""


class FakeEnvironment:
    """Count launches; lose the device when a test asks for it."""

    exceptions = Exceptions((UnsupportedError,))

    def __init__(self) -> None:
        self.count = 0
        self.is_broken = False

    def launch(self) -> None:
        """Run a kernel."""
        self.count += 1

    def break_device(self) -> None:
        """Let a kernel write to an illegal address."""
        self.is_broken = True

    def begin_test(self) -> None:
        """Seed the tests."""
        random.seed(0)

    def launches(self) -> int:
        """Return how many kernels have run."""
        return self.count

    def check_device(self) -> None:
        """Raise if the device is lost."""
        if self.is_broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered\nand more")


def prepare(device: str) -> FakeEnvironment:
    """Return it; the tests of a fake suite find it among the builtins."""
    environment = FakeEnvironment()
    vars(builtins).update(environment=environment, UnsupportedError=UnsupportedError)
    return environment
