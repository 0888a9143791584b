"""The modules after passes that ran: the passes run again as far as somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec


class PassesAgain:
    """The passes of a kernel, which run again as far as somebody asks; anew for an earlier one."""

    def __init__(self, modules: Callable[[], Iterator[tuple[ArgSpec, ModuleOp]]]) -> None:
        self._modules = modules
        self._begin()

    def _begin(self) -> None:
        self._running = self._modules()
        self._number = -1

    def after(self, number: int) -> ModuleOp:
        """Return the module that a pass left, which the next one changes."""
        if number < self._number:
            self._begin()
        while self._number < number:
            _, self._left = next(self._running)
            self._number += 1
        return self._left
