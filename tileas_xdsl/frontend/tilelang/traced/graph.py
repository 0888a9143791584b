"""The JSON form of a TVM object: a table of nodes that refer to one another by index.

A field is a plain value or an index, which one is known by the type of the node alone, so readers
ask for what they expect: `node.child("value")` follows an index, `node.number("value")` does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tileas_xdsl.data_classes import dataclass


class SourceLine(NamedTuple):
    """Where in Python a statement stands."""

    file: str
    line: int


@dataclass(frozen=True)
class Node:
    """One object of the table; equal where it is the same object."""

    table: Table
    index: int

    @property
    def kind(self) -> str:
        """The type key, `tirx.For`."""
        return str(self._row["type"])

    @property
    def data(self) -> Any:
        """What the row holds: fields by name, a list of indices, a text."""
        return self._row.get("data")

    @property
    def _row(self) -> Mapping[str, Any]:
        return self.table.rows[self.index]

    @property
    def dtype(self) -> str:
        """The element type of an expression or buffer, `float16`."""
        return str(self.data["dtype"])

    @property
    def line(self) -> SourceLine | None:
        """The line of Python, where the tracer recorded it."""
        span = self.optional("span")
        if span is None:
            return None
        return SourceLine(span.child("source_name").data, span.number("line"))

    def child(self, field: str) -> Node:
        """The object that a field refers to."""
        return self.table.at(self.data[field])

    def optional(self, field: str) -> Node | None:
        """The object that a field refers to; None for none."""
        fields: Any = self.data
        index: int | None = fields.get(field) if hasattr(fields, "get") else None
        found = None if index is None else self.table.at(index)
        return None if found is None or found.kind == "None" else found

    def children(self, field: str) -> Sequence[Node]:
        """The objects of an array."""
        return self.child(field).elements

    @property
    def elements(self) -> Sequence[Node]:
        """The objects of this array."""
        return [self.table.at(index) for index in self.data]

    def entries(self, field: str) -> Sequence[tuple[Node, Node]]:
        """The keys and values of a map."""
        items = self.children(field)
        return list(zip(items[::2], items[1::2], strict=True))

    def named(self, field: str) -> Mapping[str, Node]:
        """A map whose keys are texts; empty for none."""
        if self.optional(field) is None:
            return {}
        return {str(key.data): value for key, value in self.entries(field)}

    def text(self, field: str) -> str:
        """A text, which may stand in the row itself."""
        value = self.data[field]
        return value if isinstance(value, str) else str(self.table.at(value).data)

    def number(self, field: str) -> int:
        """A number that stands in the row itself."""
        return int(self.data[field])

    @property
    def constant(self) -> int | None:
        """The value of an integer literal; None for anything else."""
        return self.number("value") if self.kind == "ir.IntImm" else None


@dataclass(frozen=True, eq=False)
class Table:
    """All nodes."""

    rows: Sequence[Mapping[str, Any]]

    def at(self, index: int) -> Node:
        """The node of an index."""
        return Node(self, index)


def read_graph(text: str) -> Node:
    """The root of what `tvm.ir.save_json` wrote."""
    content = json.loads(text)
    return Table(content["nodes"]).at(content["root_index"])
