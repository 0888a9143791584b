"""The public tests of Tile IR's own tools on our parser, verifiers and passes.

    python benchmarks/tile_ir_suite.py CHECKOUT [--json FILE] [--compare OLD] [--details] [--only TEXT]

CHECKOUT is one of https://github.com/NVIDIA/cuda-tile.  Of its `test/` the `.mlir` files are taken
by chunks (`// -----`):

* wrong ones have `expected-error` comments: is the program rejected, with an error on that line, and
  with exactly that text in it?  Each comment counts once.
* the others must be accepted, and print so that they parse back to the same text.
* where a file makes bytecode, so do we, of the version that it names.
* what is wrong in the version of the checkout and right in ours must not be written as bytecode of it.
* where a file runs a pass of the optimiser, each of its chunks is judged by its own CHECK lines.
* where a pass of the checkout's own tests finds the fault (`--test-...`), there is none to judge.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path

from filecheck.error import CheckError
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import DumpInputKind, Options
from filecheck.parser import Parser, pattern_for_opts
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface

sys.path.insert(0, str(Path(__file__).parents[1]))

from tileas_xdsl.diagnostics.emission import collecting_diagnostics, op_error
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.chunks import split_chunks
from tileas_xdsl.diagnostics.parsing.parse_errors import LocatedParseError
from tileas_xdsl.diagnostics.report import Diagnostic, Severity
from tileas_xdsl.diagnostics.verification.expected import Expectation, read_expectations
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import ANY
from tileas_xdsl.dialects.cuda_tile.hints import (
    HintReports,
    OptimizationHintsAttr,
    reporting_hints,
)
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.structure.control import ReturnOp
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.structure.regions import check_blocks
from tileas_xdsl.frontend.bytecode.layout import LATEST, Version
from tileas_xdsl.frontend.bytecode.writing.body_writer import check_rounding
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.frontend.inputs import parse_input
from tileas_xdsl.installed import installed_universe, registered_context
from tileas_xdsl.printing import module_text
from tileas_xdsl.tools.location_aliases import text_with_locations

EXPECTED = re.compile(r"expected-(error|warning|remark)")
CHECK = re.compile(r"// CHECK(?:-(?!NOT)[A-Z-]+)?: (.*)")
TO_BYTECODE = re.compile(r"-mlir-to-cudatilebc(?:.*-bytecode-version=([\d.]+))?")
SEVERAL = re.compile(r"^ *(%[\w$.-]+(?:, %[\w$.-]+)+) =", re.M)
WRONG = re.compile(r"RUN: not cuda-tile-(?:opt|translate -mlir-to)")
OWN_PASS = re.compile(r"RUN: cuda-tile-opt --test-")
CURRENT_VERSION = re.compile(r"kCurrentVersion = \{\s*/\*verMajor=\*/(\d+),\s*/\*verMinor=\*/(\d+)")
PRINTS_LOCATIONS = "--mlir-print-debuginfo"
OPTIMISER = re.compile(r"// RUN:.*?(canonicalize|fuse-fma|loop-split|synthesize-debug-info-scopes)")
COLUMNS = (
    *("exact", "line", "rejected", "accepted wrongly", "crashed", "valid", "refused"),
    *("optimised", "otherwise"),
)


@cuda_tile_op
class TestingFuncOp(CudaTileOp):
    """A function of the suite's own: written as a kernel, with arguments and results of any type."""

    name = "cuda_tile.testing$func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())
    parse = classmethod(EntryOp.parse.__func__)  # pyright: ignore
    print = EntryOp.print
    _print_arguments = EntryOp._print_arguments  # pyright: ignore[reportPrivateUsage]

    def check(self) -> None:
        check_blocks(self, self.body, 0, "body")
        for op in self.body.walk():
            if isinstance(op, ReturnOp):
                self._check_return(op)

    def _check_return(self, op: ReturnOp) -> None:
        wanted = self.function_type.outputs.data
        if len(op.values) != len(wanted):
            return
        for index, (value, type_) in enumerate(zip(op.values, wanted, strict=True)):
            if value.type != type_:
                raise op_error(
                    op,
                    f"type of return operand {index} ({quoted(value.type)}) doesn't match function "
                    f"result type ({quoted(type_)}) in function @{self.sym_name.data}",
                    prefix=False,
                )


@cuda_tile_op
class TestingEvolutionOp(CudaTileOp):
    """An operation of the suite's own, with an operand and a result of a later version."""

    name = "cuda_tile.testing$bytecode_test_evolution"

    input = operand_def(ANY)
    token = opt_operand_def(ANY)
    result = result_def(ANY)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "`(` $input `:` type($input) `)` (`token` `=` $token^ `:` type($token))? attr-dict"
        " `->` type($result)"
    )


@cuda_tile_op
class TestingAttributeOp(CudaTileOp):
    """An operation of the suite's own, with attributes of a later version."""

    name = "cuda_tile.testing$bytecode_test_new_attribute"

    new_flag = opt_prop_def(UnitAttr)
    new_param = opt_prop_def(IntegerAttr.constr(i32))
    assembly_format = "(`new_flag` $new_flag^)? (`new_param` `=` $new_param^)? attr-dict"


ReturnOp.PARENTS = (*ReturnOp.PARENTS, TestingFuncOp.name)


@dataclass(frozen=True)
class Outcome:
    """One expected error of a wrong chunk, or one valid chunk."""

    file: str
    line: int
    result: str
    """Of `COLUMNS`: for a wrong program the best that holds, else `valid` or `refused`; of a chunk for
    the optimiser `optimised` as its CHECK lines say, or `otherwise`."""
    wanted: str = ""
    found: str = ""


def outcomes(root: Path, only: str) -> Iterator[Outcome]:
    """Judge every chunk of every file."""
    release = _release(root)
    for path in sorted((root / "test").rglob("*.mlir")):
        name = str(path.relative_to(root / "test"))
        if only not in name or "non_tileir" in name:
            continue
        content = path.read_bytes()
        if OWN_PASS.search(content.decode()) and EXPECTED.search(content.decode()):
            continue
        is_wrong = WRONG.search(content.decode()) is not None
        run = OPTIMISER.match(content.decode())
        before = ["", ""]  # The chunks that fit, and what was printed of them.
        with reporting_hints(_hint_reports(content.decode())):
            for chunk, offset in split_chunks(content):
                has_checks = CHECK.search(chunk.decode()) is not None
                if run is not None and has_checks:
                    yield _optimised(
                        chunk,
                        name,
                        offset,
                        run[1],
                        before,
                        is_located=PRINTS_LOCATIONS in content.decode(),
                    )
                version = _version(content.decode())
                if is_wrong and has_checks:
                    yield from _judged_by_checks(chunk, name, offset, version)
                else:
                    yield from _judged(chunk, name, offset, version, release)


def _release(root: Path) -> Version:
    """The version of the tools of a checkout."""
    [found] = CURRENT_VERSION.findall((root / "lib/Bytecode/Common/Version.cpp").read_text())
    return Version(*map(int, found))


def _version(text: str) -> Version | None:
    """The version of bytecode that a file's first RUN line makes, if it makes any."""
    run = next((line for line in text.splitlines() if "RUN:" in line), "")
    found = TO_BYTECODE.search(run)
    if found is None:
        return None
    major, minor = (found[1] or str(LATEST)).split(".")
    return Version(int(major), int(minor))


def _hint_reports(text: str) -> HintReports:
    """What the flags of a file's RUN line ask for."""
    if "-Werr-hints" in text:
        return HintReports.ERROR
    return HintReports.WARNING if "-Wunsupported-hints" in text else HintReports.SILENT


def _judged(
    chunk: bytes, name: str, offset: int, version: Version | None, release: Version
) -> Iterator[Outcome]:
    text = chunk.decode()
    wanted = [e for e in read_expectations(text, name, offset)[0] if e.severity is Severity.ERROR]
    printed, reports, crash = _processed(
        chunk, name, offset, version=version, release=release if wanted else LATEST
    )
    if wanted:
        for one in wanted:
            yield Outcome(
                name, one.line or 0, _result(one, reports, crash), one.text, _first(reports)
            )
        return
    if EXPECTED.search(text):
        return
    problem = crash or _first(reports)
    if not problem and printed is not None:
        again, reports, crash = _processed(printed.encode(), name, 0)
        problem = crash or _first(reports)
        if not problem and again != printed:
            problem = "prints differently when it is read back"
    yield Outcome(name, offset + 1, "refused" if problem else "valid", "", problem)


def _optimised(
    chunk: bytes, name: str, offset: int, pass_name: str, before: list[str], *, is_located: bool
) -> Outcome:
    """A chunk that a pass of the optimiser runs on, and that FileCheck judges."""
    made = installed_universe().all_passes.get(pass_name)
    if made is None:
        return Outcome(name, offset + 1, "otherwise", "", f"there is no pass {pass_name}")
    printed, reports, crash = _processed(chunk, name, offset, made()(), is_located=is_located)
    problem = crash or _first(reports)
    if printed is None:
        return Outcome(name, offset + 1, "otherwise", "", problem)
    text, printed = chunk.decode(), _packed(printed)
    try:
        fits = _fits(text, printed, name)
    except CheckError:  # It has variables of chunks before it.
        fits = _fits(f"{before[0]}{text}", f"{before[1]}{printed}", name)
    if fits:
        before[:] = f"{before[0]}{text}\n", f"{before[1]}{printed}\n"
    result = "optimised" if fits else "otherwise"
    return Outcome(name, offset + 1, result, "", "" if fits else printed)


def _fits(checks: str, printed: str, name: str) -> bool:
    """Whether FileCheck finds the CHECK lines of a text in what is printed."""
    options = Options(match_filename=name, dump_input=DumpInputKind.NEVER)
    parsed = Parser(options, StringIO(checks), *pattern_for_opts(options))
    return Matcher(options, FInput("printed", printed), parsed).run() == 0


def _packed(text: str) -> str:
    """Name the results of an operation as MLIR does: `%0:2 =`, `%0#1`; ours have a name each."""
    for line in SEVERAL.findall(text):
        first, *others = (name.strip() for name in line.split(","))
        text = re.sub(
            rf"^( *){re.escape(line)} =", rf"\1{first}:{len(others) + 1} =", text, flags=re.M
        )
        for number, name in enumerate((first, *others)):
            text = re.sub(rf"{name}(?![\w$.:#-])", f"{first}#{number}", text)
    return text


def _judged_by_checks(
    chunk: bytes, name: str, offset: int, version: Version | None
) -> Iterator[Outcome]:
    """A wrong chunk whose diagnostics FileCheck looks for, on no line in particular."""
    wanted = [text.strip() for text in CHECK.findall(chunk.decode())]
    _, reports, crash = _processed(chunk, name, offset, version=version)
    texts = [one.text for report in reports for one in (report, *report.notes)]
    for text in wanted:
        found = "exact" if any(text in each for each in texts) else "line"
        result = "crashed" if crash else found if reports else "accepted wrongly"
        yield Outcome(name, offset + 1, result, text, crash or _first(reports))


def _processed(
    chunk: bytes,
    name: str,
    offset: int,
    optimiser: ModulePass | None = None,
    version: Version | None = None,
    *,
    release: Version = LATEST,
    is_located: bool = False,
) -> tuple[str | None, list[Diagnostic], str]:
    """The printed module, the errors, and an exception that is no diagnostic."""
    with collecting_diagnostics() as log:
        try:
            ctx = _context()
            module, aliases = parse_input(ctx, chunk, name, line_offset=offset)
            verify_module(module, after=None)
            _check_release(module, release)
            if optimiser is not None:
                optimiser.apply(ctx, module)
                verify_module(module, after=optimiser.name)
            if version is not None:
                write_bytecode(module, version)
            printed = text_with_locations if is_located else module_text
            return printed(module, aliases, ctx.loaded_dialects), [], ""
        except (LocatedParseError, DiagnosticError) as error:
            reports = [*error.diagnostics, *log.diagnostics]
            return None, [r for r in reports if r.severity is Severity.ERROR], ""
        except Exception as error:
            return None, [], f"{type(error).__name__}: {error}"


def _check_release(module: ModuleOp, release: Version) -> None:
    """Refuse what a release of Tile IR does not have, though a later one has."""
    for op in module.walk():
        try:
            check_rounding(op, release)
        except UnwritableError as error:
            raise op_error(op, str(error)) from error


def _context() -> Context:
    """Every installed dialect, operations that are of none, and a function that tests need."""
    ctx = registered_context(allow_unregistered=True)
    ctx.load_registered_dialect("cuda_tile")
    for op in (TestingFuncOp, TestingEvolutionOp, TestingAttributeOp):
        ctx.load_op(op)
    return ctx


def _first(reports: Sequence[Diagnostic]) -> str:
    if not reports:
        return ""
    place = reports[0].location
    return f"{place.line if place else '?'}: {reports[0].text}"


def _result(one: Expectation, reports: Sequence[Diagnostic], crash: str) -> str:
    if crash:
        return "crashed"
    if not reports:
        return "accepted wrongly"
    if any(
        one.fits(report) or (one.line is None and one.text in report.text) for report in reports
    ):
        return "exact"
    lines = [report.location.line for report in reports if report.location]
    return "line" if one.line in lines else "rejected"


def table(found: Sequence[Outcome]) -> str:
    """Counts by file, and in all."""
    lines = [f"{'file':58}" + "".join(f"{column:>17}" for column in COLUMNS)]
    by_file: dict[str, Counter[str]] = {}
    for one in found:
        by_file.setdefault(one.file, Counter())[one.result] += 1
    total = sum(by_file.values(), Counter[str]())
    for name, counts in (*by_file.items(), ("in all", total)):
        lines.append(f"{name:58}" + "".join(f"{counts[column] or '':>17}" for column in COLUMNS))
    return "\n".join(lines)


def main() -> None:
    """Run the suite."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--compare", type=Path, metavar="OLD", help="print what got worse or better"
    )
    parser.add_argument(
        "--details", action="store_true", help="print all that is not exact or valid"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="files with this in their names")
    given = parser.parse_args()
    if not (given.checkout / "test").is_dir():
        sys.exit(f"{given.checkout} has no folder test: give a checkout of NVIDIA/cuda-tile")
    found = list(outcomes(given.checkout, given.only))
    print(table(found))
    if given.details:
        for one in found:
            if one.result not in ("exact", "valid", "optimised"):
                print(
                    f"{one.file}:{one.line}: {one.result}\n  wanted {one.wanted}\n  found  {one.found}"
                )
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1))
    if given.compare:
        old = {
            (o["file"], o["line"], o["wanted"]): o["result"]
            for o in json.loads(given.compare.read_text())
        }
        for one in found:
            before = old.get((one.file, one.line, one.wanted))
            if before not in (None, one.result):
                print(f"{one.file}:{one.line}: {before} -> {one.result}")


if __name__ == "__main__":
    main()
