"""Registers the semantics of pure operations with an xDSL `Interpreter`.

`xdsl-run` registers a fixed list of implementations and has no entry point for more, so it cannot
run our operations by itself; `tileas-run` is `xdsl-run` with this function as its hook:

    interpreter = Interpreter(module)
    register_implementations(interpreter, ctx)
    interpreter.call_op("main", (np.ones((4, 4), np.float32),))
"""

from __future__ import annotations

from xdsl import interpreters
from xdsl.context import Context
from xdsl.interpreter import Interpreter

from tileas_xdsl.interpreters.pure.cute_functions import CuteFunctions
from tileas_xdsl.interpreters.pure.tile_functions import TileFunctions


def register_implementations(interpreter: Interpreter, ctx: Context) -> None:
    """Register xDSL's implementations, then ours."""
    interpreters.register_implementations(interpreter, ctx)
    register_pure_operations(interpreter)


def register_pure_operations(interpreter: Interpreter) -> None:
    """Register ours only; those of `arith`, `math`, `tensor` and `affine` replace xDSL's.

    xDSL computes `arith` on scalars, every float as a Python float; ours rounds to the type of the
    result, and computes on tensors too.
    """
    interpreter.register_implementations(TileFunctions(), override=True)
    interpreter.register_implementations(CuteFunctions(), override=True)
