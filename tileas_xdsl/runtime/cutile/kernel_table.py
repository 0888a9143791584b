"""What has been compiled and planned for a kernel, and the interface of what runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field
from functools import partial
from importlib import import_module
from typing import Any, Protocol, TypeAlias, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.signature import Parameter
from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.runtime.cutile.argument_keys import (
    Find,
    Key,
    Read,
    ReadArray,
    finder,
    reader,
    type_tree,
)
from tileas_xdsl.runtime.cutile.compilation import compile_signature
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.settings import Settings
from tileas_xdsl.runtime.specializations import Specializations
from tileas_xdsl.target.launches.specializations import ChooseSpecialization, unspecialized

StreamReader: TypeAlias = Callable[[Any], Any]
"""Returns what a launch needs of a stream."""

Relaunch: TypeAlias = Callable[[Any, Any, Any, Any], "bool | None"]
"""Makes a launch that is known again, for a stream, a grid, arguments, and whether it is dependent.

It returns True if it did, False to leave it to Python, None to be given it once Python has made it.
"""


class Plan(Protocol):
    """A kernel that is ready for arguments with one key."""

    def start(
        self, grid: tuple[int, ...], stream: Any, values: tuple[Any, ...], args: tuple[Any, ...]
    ) -> None:
        """Launch."""
        ...

    def measure(
        self,
        grid: tuple[int, ...],
        stream: Any,
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        *,
        flush: bool,
    ) -> float:
        """Launch and wait; return the microseconds, with a cold L2 cache if it is flushed."""
        ...


class Backend(Protocol):
    """Where kernels run."""

    read_array: ReadArray

    def attach(self, table: KernelTable) -> None:
        """Choose how launches of a new table are made again."""
        ...

    def stream_reader(self, stream: Any) -> StreamReader:
        """Return the function for streams of this type; raises `TypeError` as cuTile does."""
        ...

    def parameters(self, table: KernelTable, args: tuple[Any, ...]) -> tuple[Parameter, ...]:
        """Return what a kernel is compiled for; raises as cuTile for what it does not take."""
        ...

    def plan(
        self,
        table: KernelTable,
        parameters: tuple[Parameter, ...],
        args: tuple[Any, ...],
        *,
        grid: Any,
        dependent: bool,
    ) -> Plan:
        """Compile for these arguments, if that has not been done, and prepare launches.

        The grid, that of the first launch, selects the specialization that is compiled first.
        """
        ...


@dataclass(frozen=True, slots=True)
class Profile:
    """How arguments of certain types are read, and the plans by key."""

    read: Read
    plans: dict[Key, Plan]
    find: Find


def never(stream: Any, grid: Any, args: Any, dependent: Any, /) -> bool | None:
    """Leave a launch to Python."""
    del stream, grid, args, dependent
    return False


def forget(args: tuple[Any, ...], dependent: Any, plan: Plan, /) -> None:
    """Keep nothing of a launch."""


def _nothing(args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    raise KeyError(args)


@dataclass
class KernelTable:
    """What has been compiled and planned for a kernel."""

    kernel: Any
    settings: Settings
    backend: Backend
    profiles: dict[Any, Profile] = field(default_factory=dict[Any, Profile])
    dependent: dict[Any, Profile] = field(default_factory=dict[Any, Profile])
    """Those of programmatic dependent launches."""
    find: Find = _nothing
    """That of the profile which was used last."""
    relaunch: Relaunch = never
    """Tried before `find`, for all types of arguments."""
    remember: Callable[[tuple[Any, ...], Any, Plan], None] = forget
    """Given a launch that `relaunch` returned None for."""
    streams: dict[type, StreamReader] = field(default_factory=dict[type, StreamReader])
    executables: dict[Any, Specializations[Executable]] = field(
        default_factory=dict[Any, "Specializations[Executable]"]
    )
    """The specializations for each signature and compute capability."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def annotations(self) -> tuple[Any, ...]:
        """What the kernel says of its parameters."""
        return tuple(self.kernel._annotated_function.parameter_annotations)

    def executable(
        self,
        parameters: tuple[Parameter, ...],
        capability: tuple[int, int],
        choose: ChooseSpecialization = unspecialized,
    ) -> Executable:
        """Return the specialization that launches with these parameters select, compiled once."""
        with self.lock:
            found = self.executables.setdefault((parameters, capability), Specializations())
            compile = partial(
                self._compile, parameters, capability, choose, is_first=found.is_empty
            )
            return found.chosen(choose, compile)

    def _compile(
        self,
        parameters: tuple[Parameter, ...],
        capability: tuple[int, int],
        choose: ChooseSpecialization,
        *,
        is_first: bool,
    ) -> Executable:
        from tileas_xdsl.frontend.cutile.kernels import kernel_signature

        context: Any = import_module("cuda.tile._cext").default_tile_context
        signature = kernel_signature(self.kernel, parameters)
        method = self.kernel._compile
        is_theirs = getattr(method, "__func__", None) is not compile_here
        if self.settings.is_installed and is_theirs and is_first:
            # What programs override or observe knows nothing of specializations.
            return cast("Executable", method(signature, context, capability))
        return compile_here(self.kernel, signature, context, capability, choose)

    def profile(self, args: tuple[Any, ...], dependent: bool) -> Profile:
        """Return the profile of arguments of these types, made once."""
        profiles = self.dependent if dependent else self.profiles
        types = tuple(map(type, args))
        with self.lock:
            if types not in profiles:
                profiles[types] = self._profile(args, is_nested=tuple in types)
            return profiles[types]

    def _profile(self, args: tuple[Any, ...], *, is_nested: bool) -> Profile:
        plans: dict[Key, Plan] = {}
        if not is_nested:
            read_array = self.backend.read_array
            find = finder(args, self.annotations, read_array, plans)
            return Profile(self._reader(args), plans, find)
        read, types = self._nested_reader(), tuple(map(type, args))

        def find_nested(args: tuple[Any, ...]) -> tuple[Plan, tuple[Any, ...]]:
            if tuple(map(type, args)) != types:
                raise KeyError
            key, values = read(args)
            return plans[key], values

        return Profile(read, plans, find_nested)

    def _reader(self, args: tuple[Any, ...]) -> Read:
        return reader(args, self.annotations, self.backend.read_array)

    def _nested_reader(self) -> Read:
        """Return a reader of arguments with tuples, which looks at the types of their items."""
        readers: dict[Any, Read] = {}

        def read(args: tuple[Any, ...]) -> tuple[Key, tuple[Any, ...]]:
            tree = type_tree(args)
            found = readers.get(tree)
            if found is None:
                found = readers[tree] = self._reader(args)
            key, values = found(args)
            return (tree, key), values

        return read


def compile_here(
    kernel: Any,
    signature: Any,
    context: Any,
    compute_capability: tuple[int, int],
    choose: ChooseSpecialization = unspecialized,
) -> Executable:
    """Compile a kernel where launches run: `cuda.tile.kernel._compile` while installed."""
    on_gpu = not settings.current.emulates
    return compile_signature(
        kernel, signature, context, compute_capability, for_gpu=on_gpu, choose=choose
    )
