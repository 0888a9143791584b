"""`call` of the device functions that a driver provides: output, assertions, and the heap.

Calls of functions of the module are gone by then (`parsing/inlining.py`), but for those from inside
of the function itself: registers and call parameters are saved, and restored when it returns.

Source: CUDA programming guide, PTX compiler driver, system calls.  Parameters of a call are in
thread-local memory; printed text is collected by the launch, thread after thread.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import Fault, SourceLocation
from tileas_xdsl.interpreters.ptx.execution.lane_mask import first_lane, indices
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Frame
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.memory.global_memory import LOCAL_WINDOW, SHARED_WINDOW
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Operand, Register, Symbol, Vector
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.target.printf import (
    MAX_VALUES,
    Conversion,
    FormatError,
    formatted,
    parse_format,
)

MAX_DEPTH = 1024
"""Calls of a function from inside of itself; a GPU ends where the stack of a thread does."""

LONGEST = 1 << 16
"""Maximal length in bytes of a string that is read."""


@dataclass(frozen=True)
class Thread:
    """A calling thread and the memory that it can address."""

    f: ConvergenceGroup
    lane: int

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes at a generic address."""
        if not LOCAL_WINDOW <= address < SHARED_WINDOW:
            return self.f.warpgroup.cta.cluster.memory.read(address, size)
        memory, start = self.f.warpgroup.local, address - LOCAL_WINDOW
        if memory is None or start + size > memory.shape[1]:
            raise Fault("illegal-address", f"local address {start:#x} is beyond what a thread has")
        return memory[self.lane, start : start + size].tobytes()

    def text(self, address: int) -> str:
        """Return the zero-terminated string at an address."""
        found = bytearray()
        while (byte := self.read(address + len(found), 1)) != b"\0":
            found += byte
            if len(found) == LONGEST:
                raise Fault("invalid", f"the text at {address:#x} does not end")
        return found.decode("utf-8", "replace")

    @property
    def name(self) -> str:
        """The name of the thread in diagnostics."""
        warp, lane = divmod(self.lane, 32)
        return (
            f"{self.f.warpgroup.cta.name}, warp {self.f.warpgroup.first_warp + warp}, lane {lane}"
        )


Parameters = tuple[int, ...]
Result = int | None


@dataclass(frozen=True)
class Function:
    """A driver-provided function: the bytes of its parameters and result, and its effect."""

    parameters: tuple[int, ...]
    result: int
    run: Callable[[Thread, Site, Parameters], int]


def _vprintf(thread: Thread, site: Site, parameters: Parameters) -> int:
    """Print the text of one thread; return the number of arguments, as on a device."""
    text = thread.text(parameters[0])
    try:
        parts = parse_format(text, of_device=True)
    except FormatError as error:
        raise Fault("invalid", f"the format of vprintf {error}") from error
    formats = [part for part in parts if isinstance(part, Conversion)]
    if len(formats) > MAX_VALUES:
        raise Fault("invalid", f"vprintf takes {MAX_VALUES} values, not {len(formats)}")
    values = _values(thread, formats, parameters[1])
    thread.f.warpgroup.cta.cluster.printed.append(formatted(parts, values))
    return len(values)


def _values(thread: Thread, formats: Sequence[Conversion], address: int) -> list[float | str]:
    found: list[float | str] = []
    end = 0
    for conversion in formats:
        size = conversion.bits // 8
        start = align_up(end, size)
        data = thread.read(address + start, size)
        end = start + size
        found.append(_value(thread, conversion, data))
    return found


def _value(thread: Thread, conversion: Conversion, data: bytes) -> float | str:
    if conversion.is_float:
        return struct.unpack("<d", data)[0]
    number = int.from_bytes(data, "little")
    return thread.text(number) if conversion.is_string else number


def _assertfail(thread: Thread, site: Site, parameters: Parameters) -> int:
    """End the kernel with a finding at the source location of the assertion."""
    message, file, function = (thread.text(parameters[at]) for at in (0, 1, 3))
    line, location = parameters[2], site.instruction.location
    if file and line:
        origin = site.instruction.origin
        column = origin.column if origin and (origin.path, origin.line) == (file, line) else 1
        location = SourceLocation(file, line, column)
    notes = (f"in kernel {function}, by {thread.name}", f"at {site.instruction.location}")
    what = f"assertion failed: {message}" if message else "assertion failed"
    raise Fault("assertion", what, notes, location)


def _malloc(thread: Thread, site: Site, parameters: Parameters) -> int:
    """Allocate memory; an alignment may be given behind the size."""
    heap = thread.f.warpgroup.cta.cluster.heap
    assert heap is not None
    size, alignment = (*parameters, 1)[:2]
    if alignment & (alignment - 1):
        raise Fault("invalid", f"the alignment of an allocation is no power of two: {alignment}")
    where = f"{thread.name}, at line {site.instruction.location.line}"
    return heap.allocate(size, alignment, where, site.at)


def _free(thread: Thread, site: Site, parameters: Parameters) -> int:
    """Give memory back; of null nothing."""
    [address] = parameters
    cluster = thread.f.warpgroup.cta.cluster
    heap, races = cluster.heap, cluster.races
    assert heap is not None
    if not address:
        return 0
    where = f"{thread.name}, at line {site.instruction.location.line},"
    slab, piece = heap.find(address, where)
    if races is not None:
        races.free(thread.f.warpgroup, thread.lane, address, piece.size, site.at)
    gone = heap.release(slab, piece, where)
    if races is not None and gone is not None:
        races.forget(gone)
    return 0


FUNCTIONS: Mapping[str, Function] = {
    "vprintf": Function((8, 8), 4, _vprintf),
    "__assertfail": Function((8, 8, 4, 8, 8), 0, _assertfail),
    "malloc": Function((8,), 8, _malloc),
    "__cuda_syscall_aligned_malloc": Function((8, 8), 8, _malloc),
    "free": Function((8,), 0, _free),
}


def build_call(site: Site) -> Step:
    """`call` of a driver-provided function; those of the module are inlined."""
    site.flag("uni")
    site.no_more()
    label = site.operands[0] if site.operands else None
    if isinstance(label, Symbol) and label.name.startswith(("start~", "return~")):
        return _recursion(site, label.name)
    if site.operands and isinstance(site.operands[0], Register):
        return _call_of_nothing(site, site.operands[0])
    name, results, arguments = _parts(site)
    function = FUNCTIONS.get(name)
    if function is None:
        what = f"function '{name}'" if name else "a function"
        site.fail(
            f"{what} is called; calls are supported of "
            f"functions of the module, and of {', '.join(FUNCTIONS)}"
        )
    if len(arguments) != len(function.parameters) or len(results) != (function.result > 0):
        site.fail(f"'{name}' has {len(function.parameters)} parameters, not {len(arguments)}")
    locations = [_parameter_offset(site, operand) for operand in arguments]
    given = [_parameter_offset(site, operand) for operand in results]

    def step(f: ConvergenceGroup) -> None:
        assert f.warpgroup.local is not None
        for lane in indices(f.mask).tolist():
            memory = f.warpgroup.local[lane]
            values = [
                int.from_bytes(memory[at : at + size].tobytes(), "little")
                for at, size in zip(locations, function.parameters, strict=True)
            ]
            result = function.run(Thread(f, lane), site, tuple(values))
            for at in given:
                memory[at : at + function.result].view(f"<u{function.result}")[0] = result
                f.warpgroup.local_written[lane, at : at + function.result] = True

    return step


@dataclass(frozen=True)
class _Frames:
    """Where a function that calls itself has its parameters, results and variables."""

    name: str
    results: Sequence[tuple[int, int]]
    """Offset and bytes in local memory."""
    parameters: Sequence[tuple[int, int]]
    own: Sequence[tuple[int, int]]
    """Of what a call uses again."""


def _recursion(site: Site, label: str) -> Step:
    kernel = site.program.kernel
    kind, _, number = label.partition("~")
    found = kernel.recursions[f"~{number}"]

    def slot_of(name: str) -> int:
        return _parameter_offset(site, Symbol(name, 0))

    formals = [(slot_of(name), size) for name, size in found.formals]
    own = [(slot_of(name), size) for name, size in found.own]
    results, parameters = formals[: found.results], formals[found.results :]
    frames = _Frames(found.function, results, parameters, [*formals, *own])
    if kind == "return":
        return _return_step(label.replace("return", "start"), frames)
    given = [_parameter_offset(site, operand) for operand in site.operands[1:]]
    return _recursive_step(label, kernel.labels[label], frames, given)


def _recursive_step(label: str, start: int, frames: _Frames, given: Sequence[int]) -> Step:
    wanted = given[: len(frames.results)]
    results = [(at, to, size) for (at, size), to in zip(frames.results, wanted, strict=True)]
    passed = list(zip(given[len(wanted) :], frames.parameters, strict=True))

    def step(f: ConvergenceGroup) -> int:
        depth = 1 if f.frames is None else f.frames.depth + 1
        if depth > MAX_DEPTH:
            raise Fault("illegal-address", f"'{frames.name}' calls itself {MAX_DEPTH} deep: the "
                        "stack of a thread is full")  # fmt: skip
        rows = indices(f.mask)[:, None]
        planes = f.warpgroup.local, f.warpgroup.local_written
        saved = [[plane[:, at : at + size].copy() for at, size in frames.own] for plane in planes]
        for plane in planes:
            values = [plane[rows, np.arange(at, at + size)] for at, (_, size) in passed]
            if plane is f.warpgroup.local_written:
                for at, size in frames.own:
                    plane[rows, np.arange(at, at + size)] = False
            for value, (_, (at, size)) in zip(values, passed, strict=True):
                plane[rows, np.arange(at, at + size)] = value
        f.frames = Frame(f.frames, label, f.pc + 1, f.r.copy(), saved, results, depth)
        return start

    return step


def _return_step(label: str, frames: _Frames) -> Step:
    def step(f: ConvergenceGroup) -> int | None:
        frame = f.frames
        if frame is None or frame.function != label:
            return None
        lanes = indices(f.mask)
        rows = lanes[:, None]
        for plane, saved in zip(
            (f.warpgroup.local, f.warpgroup.local_written), frame.local, strict=True
        ):
            results = [plane[rows, np.arange(at, at + size)] for at, _, size in frame.results]
            for (at, size), before in zip(frames.own, saved, strict=True):
                plane[rows, np.arange(at, at + size)] = before[lanes]
            for value, (_, to, size) in zip(results, frame.results, strict=True):
                plane[rows, np.arange(to, to + size)] = value
        f.r, f.frames = frame.registers.copy(), frame.outer
        return frame.back

    return step


def _call_of_nothing(site: Site, pointer: Register) -> Step:
    """Return the fault of a call through a pointer that is no function that it may reach."""
    slot = site.source(pointer, TYPES["b64"])
    names = ", ".join(site.program.module.functions) or "none"

    def step(f: ConvergenceGroup) -> None:
        value = f.r[slot]
        lane = first_lane(f.mask)
        found = int(value[lane]) if isinstance(value, np.ndarray) else int(value)
        raise Fault(
            "illegal-address",
            f"{pointer.name} is {found:#x}, which is no function with these parameters",
            (f"functions whose addresses are taken: {names}",),
        )

    return step


def _parts(site: Site) -> tuple[str, Sequence[Operand], Sequence[Operand]]:
    """Split the operands into name, results and arguments: `(results), name, (arguments)`."""
    groups = [o.parts for o in site.operands if isinstance(o, Vector)]
    names = [o.name for o in site.operands if isinstance(o, Symbol)]
    if not names:
        return "", (), ()
    gives = isinstance(site.operands[0], Vector)
    results, arguments = [*([] if gives else [()]), *groups, (), ()][:2]
    return names[0], results, arguments


def _parameter_offset(site: Site, operand: Operand) -> int:
    """Return the offset of a call parameter in thread-local memory."""
    found = None
    if isinstance(operand, Symbol):
        found = site.program.variables.address(operand.name, operand.offset)
    if found is None or found[0] != "local":
        site.fail("parameters of calls are variables in .param space of the body")
    return found[1]


TABLE = (Semantics("call", build_call),)
