"""Grids that depend on constants: `cdiv(4000, tm), cdiv(512, tn)` on the command line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from tileas_xdsl.layout.integers import ceil_div

_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


class GridError(ValueError):
    """A text that is no grid."""


def _cdiv(number: int, by: int) -> int:
    if not by:
        raise GridError("cdiv divides by zero")
    return ceil_div(number, by)


_FUNCTIONS: Mapping[str, Callable[..., int]] = {"cdiv": _cdiv, "min": min, "max": max}

MAX_EXTENTS = 3


def grid_function(text: str, names: Sequence[str]) -> Callable[[Mapping[str, int]], Sequence[int]]:
    """Return the function of constants that a text states; raises `GridError`."""
    try:
        tree = ast.parse(f"({text},)", mode="eval").body
    except SyntaxError:
        raise GridError(f"'{text}' is no grid: X[,Y[,Z]] of numbers and constants") from None
    parts = tree.elts if isinstance(tree, ast.Tuple) else []
    if not 1 <= len(parts) <= MAX_EXTENTS:
        raise GridError(f"'{text}' are {len(parts)} extents, not one to three")
    for part in parts:
        _check(part, text, names)
    return lambda constants: [_value(part, constants) for part in parts]


def _check(node: ast.expr, text: str, names: Sequence[str]) -> None:
    match node:
        case ast.Constant(value=int()):
            return
        case ast.Name(id=name):
            if name not in names:
                known = ", ".join(names) or "none"
                raise GridError(f"'{name}' in '{text}' is no constant; there are {known}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            _check(left, text, names)
            _check(right, text, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if not args or (name == "cdiv" and len(args) != 2):
                raise GridError(f"'{ast.unparse(node)}' has not the arguments of {name}")
            for argument in args:
                _check(argument, text, names)
        case _:
            known = ", ".join(_FUNCTIONS)
            raise GridError(f"'{ast.unparse(node)}' is no number, + - * // %, or {known}")


def _value(node: ast.expr, constants: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return constants[name]
        case ast.BinOp(left=left, op=op, right=right):
            sides = _value(left, constants), _value(right, constants)
            if not sides[1] and isinstance(op, ast.FloorDiv | ast.Mod):
                raise GridError(f"'{ast.unparse(node)}' divides by zero")
            return _OPERATIONS[type(op)](*sides)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_value(one, constants) for one in args))
        case _:
            raise AssertionError(ast.unparse(node))
