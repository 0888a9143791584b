"""`tileas-run`: `xdsl-run` that knows the pure operations of our dialects.

    tileas-run kernel.mlir --symbol main --args '1.0 : f32' --verbose

xDSL's driver calls `register_implementations` of its main class and nothing else, so that method is
the hook; dialects come from the `xdsl.universe` entry point.
"""

from __future__ import annotations

from xdsl.interpreter import Interpreter
from xdsl.tools.xdsl_run import xDSLRunMain

from tileas_xdsl.interpreters.pure.registration import register_implementations


class TileasRunMain(xDSLRunMain):
    """The driver of `xdsl-run` with our implementations beside xDSL's."""

    def register_implementations(self, interpreter: Interpreter) -> None:
        register_implementations(interpreter, self.ctx)


def main() -> None:
    """Run the function of a module that the command line names."""
    TileasRunMain(description="Run a function of a module with xDSL's interpreter").run()


if __name__ == "__main__":
    main()
