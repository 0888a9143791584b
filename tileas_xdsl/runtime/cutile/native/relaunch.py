"""Switch a kernel's launches from Python to the C launcher once it has been launched a few times.

The first launches are counted and made in Python.  Then another thread loads or builds the C
launcher.  Once it is ready, each launch that Python makes is registered with it under its key
(`launcher.c`), and it makes the later ones with that key.
"""

from __future__ import annotations

from typing import Any

from tileas_xdsl.runtime.cutile.gpu.chosen_plan import ChosenPlan
from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan
from tileas_xdsl.runtime.cutile.grids import MAX_BLOCKS
from tileas_xdsl.runtime.cutile.kernel_table import KernelTable, never
from tileas_xdsl.runtime.cutile.native.build import is_awaited, requested

COUNTED = 64
"""Launches of a kernel after its first one, from the last of which on C may take over."""

_EXCHANGE = "__dlpack_c_exchange_api__"
_READ = ("data_ptr", "dtype", "shape", "stride", "get_device", "__torch_dispatch__")
"""What a class must not override for its arrays to be read by the interface of its base."""

_readers: dict[type, Any] = {}
"""By type of array: how C reads one, None if only Python can."""


class Relauncher:
    """The launches of a kernel that are made again: in Python at first, later in C."""

    def __init__(self, table: KernelTable) -> None:
        self._table = table
        self._left = 1 if is_awaited() else COUNTED
        self._launcher: Any = None

    def count(self, stream: Any, grid: Any, args: Any, dependent: Any) -> bool | None:
        """Return False: this launch is for Python; after some look whether C can take over."""
        del stream, grid, args, dependent
        self._left -= 1
        if self._left > 0:
            return False
        request = requested()
        if is_awaited():
            request.wait()
        if request.module is not None:
            self.use(request.module)
            return None
        if request.failure:
            self._table.relaunch = never
        return False

    def use(self, module: Any) -> None:
        """Make launches with the C launcher from now on."""
        constants = tuple(
            bool(getattr(note, "constant", False)) for note in self._table.annotations
        )
        self._module = module
        self._launcher = module.Launcher(constants, _readers, self._table.streams, MAX_BLOCKS)
        self._constants = constants
        self._table.relaunch = self._launcher

    def remember(self, args: tuple[Any, ...], dependent: Any, plan: Any) -> None:
        """Give the C launcher what Python has launched."""
        if self._launcher is None or not isinstance(plan, LaunchPlan | ChosenPlan):
            return
        if not plan.has_launched:  # another specialization was launched
            return
        for type_, is_constant in zip(map(type, args), self._constants, strict=True):
            if not is_constant and type_ not in _readers:
                _readers[type_] = _exchange(type_)
        self._launcher.add(args, dependent, plan.native(self._module.Launch))


def _exchange(type_: type[Any]) -> Any:
    """Return the capsule of DLPack's C interface that reads arrays of a type, None if none does."""
    base = next((base for base in type_.__mro__ if _EXCHANGE in vars(base)), None)
    if base is None:
        return None
    if any(getattr(type_, name, None) is not getattr(base, name, None) for name in _READ):
        return None
    return getattr(base, _EXCHANGE)
