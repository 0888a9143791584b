"""Concise programs for layout inference: `kernel.parallel((4,), "f[i] = A[i]")`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    Buffer,
    CumSum,
    Gemm,
    Loop,
    LoopKind,
    Operation,
    Program,
    Reduce,
    Scope,
    WarpPolicy,
)
from tileas_xdsl.layout.expr.expression import Number, dimension

BITS = {"f32": 32, "f16": 16, "bf16": 16, "f8E4M3FN": 8, "i8": 8, "i32": 32, "f64": 64}


@dataclass
class Kernel:
    """A thread block of `threads` threads; buffers are global by default."""

    threads: int
    arch: str = "sm_90a"
    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    operations: list[Operation] = field(default_factory=list[Operation])
    trips: list[int] = field(default_factory=list[int])

    def buffer(self, scope: Scope, element: str, **shapes: tuple[int, ...]) -> None:
        """Declare buffers of one scope and element type."""
        for name, shape in shapes.items():
            self.buffers[name] = Buffer(name, shape, BITS[element], scope, element)

    def fragments(self, element: str = "f32", **shapes: tuple[int, ...]) -> None:
        """Declare fragments."""
        self.buffer(Scope.FRAGMENT, element, **shapes)

    def shared(self, element: str = "f32", **shapes: tuple[int, ...]) -> None:
        """Declare buffers in shared memory."""
        self.buffer(Scope.SHARED, element, **shapes)

    def arrays(self, element: str = "f32", **shapes: tuple[int, ...]) -> None:
        """Declare global arrays."""
        self.buffer(Scope.GLOBAL, element, **shapes)

    def copy(self, source: str, target: str) -> None:
        """Copy one buffer to another of the same shape."""
        shape = self.buffers[target].shape
        variables = tuple(dimension(k) for k in range(len(shape)))
        accesses = (
            Access(source, variables, AccessKind.READ),
            Access(target, variables, AccessKind.WRITE),
        )
        bits = self._widest(source, target)
        location = f"copy {source} to {target}"
        self._add(Loop(shape, accesses, LoopKind.COPY, location=location, cast_bits=bits))

    def fill(self, target: str) -> None:
        """Fill a buffer."""
        shape = self.buffers[target].shape
        variables = tuple(dimension(k) for k in range(len(shape)))
        access = Access(target, variables, AccessKind.WRITE)
        self._add(Loop(shape, (access,), LoopKind.FILL, location=f"fill {target}"))

    def parallel(
        self,
        extents: tuple[int, ...],
        *statements: str,
        inner: tuple[int, ...] = (),
        coalesced_width: int | None = None,
    ) -> None:
        """Add a parallel loop over i, j, k, ... (innermost last) of Python-syntax assignments."""
        names = "ijklmn"[: len(extents) + len(inner)]
        accesses = [access for text in statements for access in _accesses(text, names)]
        location = f"loop {'; '.join(statements)}"
        self._add(
            Loop(
                extents,
                tuple(accesses),
                inner=inner,
                location=location,
                coalesced_width=coalesced_width,
                cast_bits=max((self._cast_bits(text) for text in statements), default=0),
            )
        )

    def reduce(self, source: str, target: str, axis: int, *, clear: bool = True) -> None:
        """Reduce along an axis."""
        self._add(Reduce(source, target, axis, clear=clear, location=f"reduce {source}"))

    def cumsum(self, source: str, target: str, axis: int) -> None:
        """Add a cumulative sum along an axis."""
        self._add(CumSum(source, target, axis, location=f"cumsum {source}"))

    def gemm(
        self,
        a: str,
        b: str,
        c: str,
        policy: WarpPolicy = WarpPolicy.SQUARE,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ) -> None:
        """`c += a @ b`."""
        self._add(Gemm(a, b, c, transpose_a, transpose_b, policy, location=f"gemm {c}"))

    @property
    def program(self) -> Program:
        """Return the program so far."""
        return Program(self.threads, self.buffers, tuple(self.operations), self.arch)

    def _widest(self, *names: str, literals: Sequence[str] = ()) -> int:
        """Return the bits of the widest type among buffers and literals, 0 if all are of one."""
        elements = {*literals, *(self.buffers[name].element for name in names)}
        return max(BITS[element] for element in elements) if len(elements) > 1 else 0

    def _cast_bits(self, statement: str) -> int:
        """Return the widest type that a statement converts: float literals are f32 at least."""
        names = [access.buffer for access in _accesses(statement, "ijklmn")]
        nodes = ast.walk(ast.parse(statement.strip()))
        constants = [node for node in nodes if isinstance(node, ast.Constant)]
        has_literal = any(isinstance(node.value, float) for node in constants)
        is_double = any(self.buffers[name].element == "f64" for name in names)
        return self._widest(*names, literals=["f32"] if has_literal and not is_double else [])

    def _add(self, operation: Operation) -> None:
        self.operations.append(operation)


def _accesses(statement: str, names: Sequence[str]) -> list[Access]:
    tree = ast.parse(statement.strip()).body[0]
    if isinstance(tree, ast.AugAssign):
        reads: list[ast.AST] = [tree.target, *ast.walk(tree.value)]
        targets: list[ast.expr] = [tree.target]
    else:
        assert isinstance(tree, ast.Assign)
        reads, targets = list(ast.walk(tree.value)), tree.targets
    found = [
        Access(node.value.id, _indices(node.slice, names), AccessKind.READ)
        for node in reads
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    ]
    for target in targets:
        assert isinstance(target, ast.Subscript)
        assert isinstance(target.value, ast.Name)
        found.append(Access(target.value.id, _indices(target.slice, names), AccessKind.WRITE))
    return found


def expression_of(text: str, names: Sequence[str]) -> Number:
    """Parse a quasi-affine expression in Python syntax; dimension k is called `names[k]`."""
    found = _expression(ast.parse(text, mode="eval").body, names)
    assert found is not None, text
    return found


def _indices(index: ast.expr, names: Sequence[str]) -> tuple[Number | None, ...]:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return tuple(_expression(part, names) for part in parts)


def _expression(node: ast.expr, names: Sequence[str]) -> Number | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return dimension(names.index(name))
        case ast.BinOp(left=left, op=operator, right=right):
            first, second = _expression(left, names), _expression(right, names)
            if first is None or second is None:
                return None
            return _combined(operator, first, second)
        case _:
            return None


def _combined(operator: ast.operator, first: Number, second: Number) -> Number:
    match operator:
        case ast.Add():
            return first + second
        case ast.Sub():
            return first - second
        case ast.Mult():
            return first * second
        case ast.FloorDiv():
            return first // second
        case ast.Mod():
            return first % second
        case _:
            raise ValueError(f"no index has {operator}")
