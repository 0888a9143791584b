"""`tileas-opt`: run passes on a module, as `xdsl-opt` does, with located errors.

Exit code 0 is success, 1 means that the input, a pass or the writing of the output failed, 2 that
the command line is wrong.  Nothing is written to the output unless everything succeeded.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from io import BytesIO
from typing import IO, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import PassPipeline
from xdsl.printer import Printer
from xdsl.utils.diagnostic import Diagnostic as XDSLDiagnostic
from xdsl.utils.exceptions import ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from tileas_xdsl.collection import collected_rarely_to_the_end
from tileas_xdsl.compilation.reproducers import FOLDER_VARIABLE, PassRunner, passes_of_reproducer
from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.diagnostics.colours import painter
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.outputs import write_output
from tileas_xdsl.diagnostics.parsing.chunks import SEPARATOR, split_chunks
from tileas_xdsl.diagnostics.parsing.inputs import input_name, read_input
from tileas_xdsl.diagnostics.parsing.parse_errors import LocatedParseError
from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError, check_target, parse_passes
from tileas_xdsl.diagnostics.pass_errors import located_failures
from tileas_xdsl.diagnostics.report import Diagnostic, render
from tileas_xdsl.diagnostics.verification.expected import check_expected
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cuda_tile.hints import HintReports, reporting_hints
from tileas_xdsl.frontend.bytecode.layout import is_bytecode
from tileas_xdsl.frontend.inputs import SUFFIX, parse_input
from tileas_xdsl.printing import module_text
from tileas_xdsl.tools.failures import discard_stdout, end_of_failure
from tileas_xdsl.tools.location_aliases import text_with_locations

PROGRAM = "tileas-opt"
DESCRIPTION = (
    "Run passes on a module, verify it before and after each one, and print the result. "
    "Exit code 1 means that the input or a pass failed, 2 that the command line is wrong."
)


class TileasOptMain(xDSLOptMain):
    """`xdsl-opt` with located errors, a dominance check, named pipelines and MLIR's diagnostics."""

    version_format = PROGRAM + " (xDSL {xdsl_version})"
    _line_offset = 0
    _chunk = b""
    """The part of the input that is being processed."""
    _aliases: Mapping[str, Attribute]
    """The aliases that the chunk being processed defines; the output uses them too."""

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        for extension in ("mlir", SUFFIX):
            self.available_frontends[extension] = self._parse

    def _parse(self, source: IO[bytes]) -> ModuleOp:
        module, self._aliases = parse_input(
            self.ctx,
            source.read(),
            self.get_input_name(),
            line_offset=self._line_offset,
            implicit_module=not self.args.no_implicit_module,
        )
        return module

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = PROGRAM
        arg_parser.error = _usage_error
        ours = arg_parser.add_argument_group("where tileas-opt differs", conflict_handler="resolve")
        ours.add_argument(
            "-p",
            "--passes",
            "--pass-pipeline",
            default="",
            metavar="PASSES",
            help="the name of a pipeline, or passes separated by commas; 'tileas pipelines' and "
            "'tileas passes --all' list both",
        )
        ours.add_argument(
            "-t",
            "--target",
            default="mlir",
            type=self._checked_target,
            help=f"what to print: {', '.join(self.available_targets)}",
        )
        ours.add_argument(
            "--verify-diagnostics",
            action="store_true",
            help="check the diagnostics against the `// expected-error@+1 {{text}}` comments "
            "of the input, as MLIR does, instead of printing them and the result",
        )
        ours.add_argument(
            "--print-between-passes",
            action="store_true",
            help="print the IR between passes to stderr, so that stdout stays a valid module",
        )
        ours.add_argument(
            "--crash-reproducer",
            metavar="FILE",
            help="where to write what shows a crash of a pass again; by default in the folder "
            f"{FOLDER_VARIABLE}, or that for temporary files",
        )
        ours.add_argument(
            "--run-reproducer", action="store_true", help="run the passes that the input names"
        )
        ours.add_argument(
            "-Wunsupported-hints",
            dest="warn_of_hints",
            action="store_true",
            help="warn of hints that an operation of cuda_tile does not take",
        )
        ours.add_argument(
            "-Werr-hints",
            dest="refuse_hints",
            action="store_true",
            help="refuse operations of cuda_tile with hints that they do not take",
        )
        ours.add_argument(
            "--time-passes", action="store_true", help="print the time of each pass to stderr"
        )

    def setup_pipeline(self) -> None:
        from tileas_xdsl.pipelines import PIPELINES

        text = self.args.passes
        if self.args.run_reproducer:
            text = self._passes_to_replay(text)
        passes = parse_passes(text, self.available_passes, PIPELINES)
        self.pipeline = PassPipeline(passes)

    def _passes_to_replay(self, given: str) -> str:
        """The passes that the input is a reproducer for."""
        if given:
            raise UsageError("--run-reproducer has the passes of the file: -p is of no use with it")
        content = read_input(self.args.input_file).decode("utf-8", "replace")
        if (found := passes_of_reproducer(content)) is None:
            name = self.get_input_name()
            raise UsageError(f"'{name}' is no reproducer: no line is '// configuration: ...'")
        return found

    def _checked_target(self, text: str) -> str:
        check_target(text, self.available_targets)
        return text

    def get_input_name(self) -> str:
        return input_name(self.args.input_file)

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        _check_file_name("input_file", self.args.input_file)
        _check_file_name("-o/--output-file", self.args.output_file)
        extension = self._input_format()
        content = read_input(self.args.input_file)
        if not self.args.split_input_file or is_bytecode(content):
            return [(BytesIO(content), 0)], extension
        return [(BytesIO(text), offset) for text, offset in split_chunks(content)], extension

    def _input_format(self) -> str:
        path = self.args.input_file or "-"
        extension = self.args.frontend or os.path.splitext(path)[1][1:] or "mlir"
        if extension not in self.available_frontends:
            known = ", ".join(self.available_frontends)
            raise UsageError(f"unknown file extension '.{extension}' of '{path}'; -f takes {known}")
        return extension

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        self._line_offset = start_offset
        self._aliases = {}
        return super().parse_chunk(chunk, file_extension, start_offset)

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run each pass and verify what it leaves; raises `DiagnosticError`."""
        self._verify(prog)
        runner = PassRunner(self.ctx, self._fresh, self._reproducer())
        for index, module_pass in enumerate(self.pipeline.passes):
            if index and self.args.print_between_passes:
                self._print_ir(prog, after=self.pipeline.passes[index - 1].name)
            start = time.perf_counter()
            runner.run(module_pass, prog, verify=not self.args.disable_verify)
            if self.args.time_passes:
                seconds = time.perf_counter() - start
                sys.stderr.write(f"Pass {module_pass.name} took {seconds} seconds\n")

    def _verify(self, module: ModuleOp) -> None:
        if not self.args.disable_verify:
            verify_module(module)

    def _fresh(self) -> ModuleOp:
        """The chunk parsed once more."""
        return self._parse(BytesIO(self._chunk))

    def _reproducer(self) -> str | None:
        """Where a reproducer goes; nowhere where diagnostics are compared."""
        return os.devnull if self.args.verify_diagnostics else self.args.crash_reproducer

    def _print_ir(self, module: ModuleOp, after: str) -> None:
        sys.stderr.write(f"IR after {after}:\n")
        Printer(stream=sys.stderr).print_op(module)
        sys.stderr.write("\n\n\n")

    def output_resulting_program(self, prog: ModuleOp) -> str:
        with located_failures(f"target '{self.args.target}'", prog):
            generic: bool = self.args.print_op_generic
            if self.args.print_debuginfo and self._prints_plain_mlir():
                dialects = self.ctx.loaded_dialects
                return text_with_locations(prog, self._aliases, dialects, generic=generic)
            if self._prints_plain_mlir():
                return module_text(prog, self._aliases, self.ctx.loaded_dialects, generic=generic)
            return super().output_resulting_program(prog)

    def _prints_plain_mlir(self) -> bool:
        args = self.args
        special = args.print_no_properties or args.syntax_highlight
        return args.target == "mlir" and not special

    def run(self) -> None:
        """Process the input and leave with the exit code, if it is not 0."""
        if code := self.execute():
            raise SystemExit(code)

    def execute(self) -> int:
        """Process the input, every chunk even if one fails; returns the exit code."""
        try:
            chunks, extension = self.prepare_input()
        except DiagnosticError as error:
            _print_all(error.diagnostics)
            return 1
        try:
            results = [self._process(*chunk, extension) for chunk in chunks]
        except ShrinkException:
            return self._shrink_result(reproduced=True)
        if None in results:
            return 1
        if not self.args.verify_diagnostics:
            self._write(f"{SEPARATOR}\n".join(result for result in results if result is not None))
        return self._shrink_result(reproduced=False) if self.args.shrink else 0

    def _shrink_result(self, *, reproduced: bool) -> int:
        """The answer for shrinkray: 0 if the pass still raised `ShrinkException`."""
        answer = "Success, can shrink" if reproduced else "Failure, can't shrink"
        sys.stdout.write(f"{answer}\n")
        return 0 if reproduced and self.args.shrink else 1

    def _process(self, chunk: IO[bytes], line_offset: int, extension: str) -> str | None:
        """Return the output for one chunk, or None if it failed and the error was reported."""
        self._chunk = text = chunk.read()
        chunk.seek(0)
        output = ""
        with collecting_diagnostics() as log, reporting_hints(self._hint_reports()):
            try:
                if (module := self.parse_chunk(chunk, extension, line_offset)) is not None:
                    self.apply_passes(module)
                    output = self.output_resulting_program(module)
            except LocatedParseError as error:
                if self.args.parsing_diagnostics:
                    return "".join(map(render, error.diagnostics))
                log.diagnostics += error.diagnostics
            except DiagnosticError as error:
                log.diagnostics += error.diagnostics
        if self.args.verify_diagnostics:
            source = text.decode("utf-8", "replace")
            wrong = check_expected(source, self.get_input_name(), log.diagnostics, line_offset)
            _print_all(wrong)
            return None if wrong else ""
        _print_all(log.diagnostics)
        return None if log.has_errors else output

    def _hint_reports(self) -> HintReports:
        """Without a flag nothing is said of hints, as by the public tool."""
        if self.args.refuse_hints:
            return HintReports.ERROR
        return HintReports.WARNING if self.args.warn_of_hints else HintReports.SILENT

    def _write(self, text: str) -> None:
        if self.args.output_file is None:
            sys.stdout.write(text)
            return
        try:
            write_output(self.args.output_file, text)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise _OutputError(f"cannot write '{self.args.output_file}': {reason}") from error


class _OutputError(Exception):
    """The output cannot be written; the message is one sentence for the user."""


def _usage_error(message: str) -> NoReturn:
    raise UsageError(message)


def _print_all(reports: Iterable[Diagnostic]) -> None:
    paint = painter(sys.stderr)
    sys.stderr.write("".join(render(report, paint) for report in reports))


@contextlib.contextmanager
def _xdsl_unchanged() -> Generator[None]:
    """`--disable-verify` and `--syntax-highlight` change xDSL's classes: change them back."""
    post_init, colored = Attribute.__post_init__, XDSLDiagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__ = post_init
        XDSLDiagnostic.colored = colored


@collected_rarely_to_the_end()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on `argv` (default: the command line) and return its exit code."""
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        discard_stdout()
        return 1
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str] | None) -> int:
    try:
        _check_options(sys.argv[1:] if argv is None else argv)
        with _xdsl_unchanged():
            return with_deep_stack(lambda: TileasOptMain(DESCRIPTION, argv).execute())
    except (UsageError, _OutputError) as error:
        sys.stderr.write(f"{PROGRAM}: error: {error}\n")
        return 2 if isinstance(error, UsageError) else 1
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
    except BrokenPipeError:
        raise
    except Exception as error:
        return end_of_failure(PROGRAM, error)


def _check_options(argv: Sequence[str]) -> None:
    """argparse takes the value of `--option=--` for the end of the options and loses it."""
    for arg in argv:
        if arg.startswith("-") and arg.endswith("=--"):
            raise UsageError(f"argument {arg.removesuffix('=--')}: '--' is no value")


def _check_file_name(argument: str, name: str | None) -> None:
    if name == "":
        raise UsageError(f"argument {argument}: the name of the file is empty")


if __name__ == "__main__":
    sys.exit(main())
