"""A table of handlers by class of operation, whose modules are loaded when one is asked for.

    HANDLERS = HandlerTable[Handler](
        "tileas_xdsl.backend.ptx.lowering",
        {"cute_nvgpu.mma.wgmma": ("dot.wgmma",), "xdsl.dialects.func": ("control.control_flow",)},
    )
    HANDLERS.get(MmaSm90Op)     loads `lowering/dot/wgmma.py`, whose table `HANDLERS` has it

The rows are the modules that define operations, of our dialects below `tileas_xdsl.dialects`, with
the modules that have handlers for them.  Who compiles one kernel loads those of its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from xdsl.ir import Operation

HandlerT = TypeVar("HandlerT")

_DIALECTS = "tileas_xdsl.dialects."


class HandlerTable(dict[type[Operation], HandlerT]):
    """Handlers by class; `add` puts each of a module that is loaded into the table."""

    def __init__(
        self,
        package: str,
        modules: Mapping[str, Sequence[str]],
        add: Callable[[type[Operation], HandlerT], None] | None = None,
    ) -> None:
        super().__init__()
        self.modules = modules
        self._package = package
        self._add = add or self.__setitem__
        self._loaded = set[str]()

    def get(self, kind: type[Operation], default: Any = None) -> Any:
        """Return the handler of a class of operations, or what is given."""
        if kind not in self:
            for module in self.modules.get(kind.__module__.removeprefix(_DIALECTS), ()):
                self._load(module)
        return super().get(kind, default)

    def load(self) -> None:
        """Load all modules, for who looks at the whole table."""
        for modules in self.modules.values():
            for module in modules:
                self._load(module)

    def _load(self, name: str) -> None:
        if name in self._loaded:
            return
        for kind, handler in import_module(f"{self._package}.{name}").HANDLERS.items():
            if kind not in self:  # Another package may have replaced it.
                self._add(kind, handler)
        self._loaded.add(name)  # The last step: other threads load it too until all are there.
