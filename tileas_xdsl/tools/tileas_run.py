"""`tileas-run`: `xdsl-run` that knows the pure operations of our dialects, with located errors.

    tileas-run kernel.mlir --symbol main --args '1.0 : f32' --verbose

xDSL's driver calls `register_implementations` of its main class and nothing else, so that method is
the hook; dialects come from the `xdsl.universe` entry point.  Exit code 1 means that the input is
wrong or did not run, 2 that the command line is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import BytesIO
from typing import IO, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.tools.xdsl_run import xDSLRunMain
from xdsl.traits import CallableOpInterface
from xdsl.utils.exceptions import InterpretationError, ParseError

from tileas_xdsl.collection import collected_rarely_to_the_end
from tileas_xdsl.diagnostics.colours import painter
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import input_name, read_input
from tileas_xdsl.diagnostics.parsing.located_parser import LocatedParser
from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
from tileas_xdsl.diagnostics.report import render
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.frontend.inputs import SUFFIX, parse_input
from tileas_xdsl.interpreters.pure.registration import register_implementations
from tileas_xdsl.tools.failures import end_of_failure

PROGRAM = "tileas-run"
ARGUMENTS = "--args"


class TileasRunMain(xDSLRunMain):
    """The driver of `xdsl-run` with our implementations beside xDSL's."""

    def register_implementations(self, interpreter: Interpreter) -> None:
        register_implementations(interpreter, self.ctx)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = PROGRAM
        arg_parser.error = _usage_error

    def register_all_frontends(self) -> None:
        for extension in ("mlir", SUFFIX):
            self.available_frontends[extension] = self._parse

    def _parse(self, source: IO[bytes]) -> ModuleOp:
        name, is_implicit = self.get_input_name(), not self.args.no_implicit_module
        module = parse_input(self.ctx, source.read(), name, implicit_module=is_implicit).module
        if not self.args.disable_verify:
            verify_module(module)
        self._check_call(module)
        return module

    def _check_call(self, module: ModuleOp) -> None:
        """Refuse a symbol that is no function, and arguments that are not those it takes."""
        symbol, text = self.args.symbol, self.args.args
        function = Interpreter(module).get_op_for_symbol(symbol)
        callable_ = function.get_trait(CallableOpInterface)
        if callable_ is None:
            raise UsageError(f"@{symbol} is {function.name}, which nothing can call")
        parser = LocatedParser(self.ctx, text, ARGUMENTS)
        try:
            given = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_attribute, parser.parse_attribute
            )
        except ParseError as error:
            where = f"at column {error.span.start + 1} of '{text}'"
            raise UsageError(f"argument {ARGUMENTS}: {error.msg} {where}") from error
        wanted = callable_.get_argument_types(function)
        if len(given or ()) != len(wanted):
            types = ", ".join(map(str, wanted))
            raise UsageError(f"@{symbol} takes ({types}), but {ARGUMENTS} has {len(given or ())}")

    def get_input_name(self) -> str:
        return input_name(self.args.input_file)

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        content = BytesIO(read_input(self.args.input_file))
        extension = (self.args.input_file or "").rpartition(".")[2]
        return content, extension if extension in self.available_frontends else "mlir"


def _usage_error(message: str) -> NoReturn:
    raise UsageError(message)


@collected_rarely_to_the_end()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the function of a module that the command line names; return the exit code."""
    description = "Run a function of a module with xDSL's interpreter"
    try:
        TileasRunMain(description, argv).run()
    except DiagnosticError as error:
        paint = painter(sys.stderr)
        sys.stderr.write("".join(render(report, paint) for report in error.diagnostics))
        return 1
    except (UsageError, InterpretationError) as error:
        sys.stderr.write(f"{PROGRAM}: error: {error}\n")
        return 2 if isinstance(error, UsageError) else 1
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0
    except Exception as error:
        return end_of_failure(PROGRAM, error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
