"""Views of one storage, rewritten as accesses to its first buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.fragment_map import REPLICA, FragmentMap
from tileas_xdsl.inference.improved.candidates.expression_recovery import map_from
from tileas_xdsl.inference.program import Access, Buffer, Program, Scope
from tileas_xdsl.layout.expr.expression import substituted
from tileas_xdsl.layout.expr.tables import delinearized, linearized, variables_of_box


@dataclass(frozen=True)
class Views:
    """The representative buffer of each storage that several buffers view."""

    buffers: Mapping[str, Buffer]
    first: Mapping[str, str]

    def storage_of(self, name: str) -> Buffer:
        """The buffer that stands for `name`."""
        return self.buffers[self.first[name]]

    def access(self, access: Access) -> Access:
        """An access to a view as one to the buffer that stands for it."""
        storage = self.storage_of(access.buffer)
        if storage.name == access.buffer:
            return access
        if storage.shape == self.buffers[access.buffer].shape:
            return replace(access, buffer=storage.name)
        known = [index for index in access.indices if index is not None]
        if len(known) < len(access.indices):
            return replace(access, buffer=storage.name, indices=(None,) * len(storage.shape))
        flat = linearized(known, self.buffers[access.buffer].shape)
        return replace(access, buffer=storage.name, indices=delinearized(flat, storage.shape))

    def onto_storage(self, name: str, layout: FragmentMap) -> FragmentMap:
        """A layout of a view as one of the buffer that stands for it."""
        return _reshaped(layout, self.storage_of(name).shape)

    def onto_view(self, name: str, layout: FragmentMap) -> FragmentMap:
        """The layout of a view from that of the buffer that stands for it."""
        return _reshaped(layout, self.buffers[name].shape)


def views_of(program: Program) -> Views:
    """Map each fragment to the representative of its storage.

    Raises `InferenceError` for views of other widths or sizes: their registers would differ.
    """
    first: dict[str, str] = {}
    by_storage: dict[str, str] = {}
    for name, buffer in program.buffers.items():
        if buffer.scope is not Scope.FRAGMENT:
            continue
        first[name] = by_storage.setdefault(buffer.storage or name, name)
        storage = program.buffers[first[name]]
        if storage.bits != buffer.bits or _size(storage) != _size(buffer):
            raise InferenceError(
                f"{name} ({_size(buffer)} elements of {buffer.bits} bits) and {storage.name} "
                f"({_size(storage)} of {storage.bits}) are views of one storage: fragments of "
                f"other sizes or widths have no common layout",
                buffer.location,
            )
    return Views(program.buffers, first)


def _size(buffer: Buffer) -> int:
    size = 1
    for extent in buffer.shape:
        size *= extent
    return size


def _reshaped(layout: FragmentMap, shape: tuple[int, ...]) -> FragmentMap:
    if layout.shape == shape:
        return layout
    flat = linearized(variables_of_box(len(shape)), shape)
    there = delinearized(flat, layout.shape)
    thread = substituted(layout.thread, there, [REPLICA])
    slot = substituted(layout.slot, there, [])
    threads = layout.thread_table.reshape(layout.replicas, *shape)
    slots = layout.slot_table.reshape(shape)
    found = map_from(threads, thread, slots, slot, layout.threads)
    assert found is not None, "expressions are given"
    return found
