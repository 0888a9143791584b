"""What an import knows: values of variables, buffers, ranges of loops; and how it reads scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.tilelang.emitter import INDEX, Emitter
from tileas_xdsl.frontend.tilelang.memory.views import view_of
from tileas_xdsl.frontend.tilelang.scalars.conversions import resized
from tileas_xdsl.frontend.tilelang.scalars.element_types import BOOLEAN, is_unsigned, memory_type
from tileas_xdsl.frontend.tilelang.scalars.value_types import literal_type, natural_type
from tileas_xdsl.frontend.tilelang.threads.thread_programs import ThreadProgram
from tileas_xdsl.frontend.tilelang.traced.graph import Node


@dataclass
class Scope(Emitter):
    """The state of an import."""

    expressions: Mapping[str, ExpressionHandler] = field(
        default_factory=dict[str, "ExpressionHandler"]
    )
    """By the type key of a node."""
    values: dict[Node, SSAValue] = field(default_factory=dict[Node, SSAValue])
    """Of variables."""
    deferred: dict[Node, Node] = field(default_factory=dict[Node, Node])
    """Expressions of names that stand before the loop whose variable they use (`T.Persistent`)."""
    bound: dict[Node, Node] = field(default_factory=dict[Node, Node])
    """The expressions of variables that name one."""
    kernel: Block = field(default_factory=Block)
    """What a block does."""
    owners: dict[Node, SSAValue] = field(default_factory=dict[Node, SSAValue])
    """The buffer that has the storage, by its variable; others of the variable are views."""
    buffers: dict[Node, SSAValue] = field(default_factory=dict[Node, SSAValue])
    extents: dict[Node, range] = field(default_factory=dict[Node, range])
    """The values that variables of loops take, where those are constants."""
    threads: ThreadProgram = field(default_factory=ThreadProgram)
    """What differs from thread to thread, where the program names its threads."""
    written: Mapping[Node, set[str]] = field(default_factory=dict[Node, set[str]])
    """Elements that iterations of the parallel loop around write, as texts of their indices."""
    reducers: frozenset[Node] = frozenset()
    """The variables of buffers that iterations of parallel loops may update together."""
    of_iterations: set[Node] = field(default_factory=set[Node])
    """Local buffers that iterations of parallel loops write."""

    def scalar(self, node: Node, wanted: Attribute | None = None) -> SSAValue:
        """The value of an expression.

        `wanted` chooses between an index and an integer; other conversions are explicit in TVM.
        """
        if node.kind in ("ir.IntImm", "ir.FloatImm"):
            return self._literal(node, wanted)
        handler = self.expressions.get(node.kind)
        if handler is None:
            raise self.refusal(f"'{node.kind.split('.')[-1]}'", "is no expression of tl")
        found = handler(self, node)
        if wanted is None or not is_whole(wanted) or not is_whole(found.type):
            return found
        return resized(self, found, wanted, is_unsigned=is_unsigned(node.dtype))

    def index(self, node: Node) -> SSAValue:
        """An integer as an index."""
        return self.scalar(node, INDEX)

    def condition(self, node: Node) -> SSAValue:
        """Whether an expression is not 0."""
        found = self.scalar(node)
        if found.type == i1:
            return found
        zero = self.constant(0, found.type)
        if isinstance(found.type, AnyFloat):
            return self.insert(arith.CmpfOp(found, zero, "une")).result
        return self.insert(arith.CmpiOp(found, zero, "ne")).result

    def type_of(self, node: Node) -> Attribute:
        """The type that `scalar` gives an expression."""
        found = self.natural_type(node) or literal_type(node)
        if found is None:
            raise self.refusal(f"a value of type {node.dtype}", "is none of tl, which has scalars")
        return found

    def natural_type(self, node: Node) -> Attribute | None:
        """Return the type of an expression; None for integer literals, which take any."""
        return natural_type(node, self._type_of_variable)

    def _type_of_variable(self, node: Node) -> Attribute:
        if node in self.values:
            return self.values[node].type
        if node in self.threads.axes:
            return INDEX
        expression = self.threads.expressions.get(node, self.deferred.get(node))
        if expression is not None:
            return self.type_of(expression)
        return self.variable(node).type

    def variable(self, node: Node) -> SSAValue:
        """The value of a variable."""
        found = self.values.get(node)
        if found is not None:
            return found
        if self.threads.indices and node in self.threads.varying:
            return self._of_thread(node)
        if node in self.deferred:
            return self.scalar(self.deferred[node])
        name = node.text("name")
        if node in self.threads.varying:
            why = "is the index of a thread: tl says what the block does; write T.Parallel"
            raise self.refusal(f"'{name}'", why)
        raise self.refusal(f"'{name}'", "has no value: no argument of the kernel gives it")

    def is_known(self, node: Node) -> bool:
        """Whether a variable has a value, now or for each thread."""
        return node in self.values or node in self.threads.varying

    def _of_thread(self, node: Node) -> SSAValue:
        """The value that a variable has for the thread that is an iteration."""
        threads = self.threads
        if (axis := threads.axes.get(node)) is not None:
            is_one = axis >= len(threads.extents)
            return self.index_constant(0) if is_one else threads.index(axis)
        if node in threads.expressions:
            return self.scalar(threads.expressions[node])
        found = self.insert(memref.LoadOp.get(threads.kept[node], threads.indices)).res
        if node.dtype != BOOLEAN:
            return found
        return self.insert(arith.CmpiOp(found, self.constant(0, found.type), "ne")).result

    def row(self, buffer: Node) -> Sequence[SSAValue]:
        """The first indices of a buffer private to a thread that is a row of a fragment."""
        return self.threads.indices if buffer in self.threads.varying else ()

    def buffer(self, node: Node) -> SSAValue:
        """The buffer of an access."""
        if node not in self.buffers:
            self.buffers[node] = self._view(node)
        return self.buffers[node]

    def define(self, node: Node, value: SSAValue) -> None:
        """Give a buffer, which owns its storage."""
        self.buffers[node] = self.owners[node.child("data")] = value

    def _view(self, node: Node) -> SSAValue:
        """Another buffer of a storage, defined where that is."""
        name = node.text("name")
        owner = self.owners.get(node.child("data"))
        if owner is None:
            raise self.refusal(f"'{name}'", "is no buffer that the kernel allocates")
        shape = [extent.constant for extent in node.children("shape")]
        known = [n for n in shape if n is not None]
        if len(known) != len(shape):
            raise self.refusal(f"the view '{name}'", "has an extent that only run time knows")
        element = self.element_type(node.dtype)
        found = view_of(owner, known, element, self.kernel, self.location)
        found.name_hint = name
        return found

    def element_type(self, dtype: str) -> Attribute:
        """The type of elements in memory."""
        found = memory_type(dtype)
        if found is None:
            raise self.refusal(f"a buffer of {dtype}", "has no elements of tl, which are scalars")
        return found

    def _literal(self, node: Node, wanted: Attribute | None) -> SSAValue:
        number = node.data["value"]
        is_integer = node.kind == "ir.IntImm" and node.dtype != BOOLEAN
        if is_integer and wanted is not None and is_whole(wanted):
            return self.constant(number, wanted)
        return self.constant(float(number), self.type_of(node))


def is_whole(type_: Attribute) -> bool:
    """Whether values are integers or indices."""
    return isinstance(type_, IntegerType | IndexType)


ExpressionHandler: TypeAlias = Callable[[Scope, Node], SSAValue]
"""Writes one kind of expression."""
