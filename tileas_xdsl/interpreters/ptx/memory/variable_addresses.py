"""Addresses of the variables and parameters of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import Buffer, GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.shared_memory import RESERVED
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, Parameter, PtxModule, Variable
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.target.arch import shared_memory_of

MAX_LOCAL = 1 << 20


class SharedName(NamedTuple):
    """What a compiler calls a part of dynamic shared memory."""

    offset: int
    size: int
    name: str
    step: int = 0
    """Bytes of each of several that are alike, as the mbarriers of stages; 0 for one."""

    def at(self, offset: int) -> str:
        """The name of what is at an offset in it."""
        return f"{self.name}, stage {offset // self.step}" if self.step else self.name


class Variables:
    """Allocates variables and resolves names; `parameters` are the bytes of each parameter."""

    def __init__(
        self,
        module: PtxModule,
        kernel: Kernel,
        memory: GlobalMemory,
        parameters: Mapping[str, bytes],
        dynamic_shared: int,
        shared_names: Sequence[SharedName] = (),
    ) -> None:
        self._dynamic: frozenset[str] = frozenset()
        self._shared_names = shared_names
        self._locations: dict[str, tuple[str, int]] = {}
        self._shared: list[tuple[int, str]] = []
        self._parameters = parameters
        self.local_size = 0
        self.shared_outside: Array | None = None
        """Which bytes of shared memory are padding between variables; None if there are none."""
        every = [*module.variables, *kernel.variables]
        self.shared_size = self._place_shared(every, dynamic_shared)
        limit = shared_memory_of(module.target)
        if self.shared_size > limit:
            self._refuse_shared(every, limit, dynamic_shared)
        self.shared_outside = self._between(every, self.shared_size + RESERVED - dynamic_shared)
        self._place_local(every)
        for name in module.functions:
            code = memory.add(f"the code of '{name}'", np.zeros(16, np.uint8), read_only=True)
            self._locations[name] = ("global", code.base)
        stored = [v for v in every if v.space in ("global", "const")]
        buffers = [self._place_global(variable, memory) for variable in stored]
        for variable, buffer in zip(stored, buffers, strict=True):
            self._fill_addresses(variable, buffer)
        self._place_parameters(kernel.parameters, memory)

    def address(self, name: str, offset: int) -> tuple[str, int] | None:
        """Return state space and address of a name; shared addresses are offsets in the window."""
        found = self._locations.get(name)
        return None if found is None else (found[0], found[1] + offset)

    def parameter_bytes(self, name: str, offset: int, size: int, location: SourceLocation) -> bytes:
        """Return bytes of a parameter."""
        data = self._parameters.get(name)
        if data is None:
            raise PtxError(f"'{name}' is no parameter of the kernel", location)
        if offset < 0 or offset + size > len(data):
            raise PtxError(
                f"bytes {offset}..{offset + size - 1} are outside of parameter '{name}' of "
                f"{len(data)} bytes",
                location,
            )
        return data[offset : offset + size]

    def shared_name(self, offset: int) -> str:
        """Return an offset as a variable and an offset in it."""
        best = max(((at, name) for at, name in self._shared if at <= offset), default=None)
        if best is None:
            return f"shared+{offset - RESERVED:#x}"
        inside = offset - best[0]
        return f"{best[1]}+{inside:#x}{self._called(*best, inside)}"

    def _called(self, _: int, variable: str, offset: int) -> str:
        """What the compiler calls an offset in a variable, in parentheses, if anything."""
        names = self._shared_names if variable in self._dynamic else ()
        parts = (part for part in names if part.offset <= offset < part.offset + part.size)
        part = next(parts, None)
        return "" if part is None else f" ({part.at(offset - part.offset)})"

    def _refuse_shared(self, variables: Sequence[Variable], limit: int, dynamic: int) -> NoReturn:
        """Variables may be too large by themselves, or with what the launch asks for."""
        text = f"the block takes {self.shared_size} bytes of shared memory; it has {limit}"
        if self.shared_size - dynamic <= limit:
            raise LaunchError(text)
        shared = (variable for variable in variables if variable.space == "shared")
        raise PtxError(text, max(shared, key=lambda variable: variable.size).location)

    def _place_shared(self, variables: Sequence[Variable], dynamic: int) -> int:
        if dynamic < 0:
            raise LaunchError(f"dynamic_shared is {dynamic} bytes; it cannot be negative")
        at = RESERVED
        for v in variables:
            if v.space == "shared" and not (v.extern or v.size == 0):
                at = align_up(at, v.align)
                self._put_shared(v, at)
                at += v.size
        open_ended = [v for v in variables if v.space == "shared" and (v.extern or v.size == 0)]
        for v in open_ended:
            at = align_up(at, v.align)
        self._dynamic = frozenset(v.name for v in open_ended)
        for v in open_ended:
            self._put_shared(v, at)
        return at + dynamic - RESERVED

    def _between(self, variables: Sequence[Variable], end: int) -> Array | None:
        """Return which bytes up to `end` are padding between variables; None if there are none."""
        outside = np.ones(end, np.bool_)
        closed = [v for v in variables if v.space == "shared" and not (v.extern or v.size == 0)]
        for variable in closed:
            start = self._locations[variable.name][1]
            outside[start : start + variable.size] = False
        return outside if outside[RESERVED:].any() else None

    def _put_shared(self, variable: Variable, at: int) -> None:
        self._locations[variable.name] = ("shared", at)
        self._shared.append((at, variable.name))

    def _place_local(self, variables: Sequence[Variable]) -> None:
        at = 0
        for v in variables:
            if v.space == "local":
                at = align_up(at, v.align)
                self._locations[v.name] = ("local", at)
                at += v.size
        if at > MAX_LOCAL:
            raise LaunchError(f"a thread takes {at} bytes of local memory, more than {MAX_LOCAL}")
        self.local_size = align_up(at, 16)

    def _place_global(self, variable: Variable, memory: GlobalMemory) -> Buffer:
        data = np.zeros(max(variable.size, 1), np.uint8)
        data[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
        buffer = memory.add(f"'{variable.name}'", data, read_only=variable.space == "const")
        self._locations[variable.name] = ("global", buffer.base)
        return buffer

    def _fill_addresses(self, variable: Variable, buffer: Buffer) -> None:
        """Write the generic addresses among the initial values of a variable."""
        for at, symbol in variable.addresses.items():
            space, address = self._locations.get(symbol.name, ("", 0))
            if space != "global":
                raise PtxError(
                    f"'{symbol.name}' is no function or variable of global memory, whose address "
                    f"may be an initial value of '{variable.name}'",
                    variable.location,
                )
            buffer.data[at : at + 8] = np.array([address + symbol.offset], np.uint64).view(np.uint8)

    def _place_parameters(self, parameters: Sequence[Parameter], memory: GlobalMemory) -> None:
        data = b""
        offsets: dict[str, int] = {}
        for p in parameters:
            align = max(p.align, 64 if p.size == 128 else 1)
            data = data.ljust(align_up(len(data), align), b"\0")
            offsets[p.name] = len(data)
            data += self._parameters[p.name]
        if not parameters:
            return
        cells = np.frombuffer(data, np.uint8).copy()
        buffer = memory.add_parameters(cells)
        for name, offset in offsets.items():
            self._locations[name] = ("param", buffer.base + offset)
