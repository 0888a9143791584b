"""Every stage of every kernel as text: printed, parsed back equal, and compiled on from there.

    python benchmarks/round_trips.py [--only TEXT]... [--skip N] [--count N] [--executor NAME]

A kernel is compiled twice: at a stretch, and by way of texts.  The second time the IR before the
first pass and after each one that changed it is verified, printed and parsed; what was parsed must
equal what was printed, print as the same text, and be what the next pass runs on.  The PTX in the end must be that
of the first compilation.  Lines of source (`.loc`) follow the text that was parsed and don't count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.arg_spec import ArgSpec

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.freeze import SOURCE_LINES, subjects
from benchmarks.running import end
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.compilation.levels import BUFFERS, BUFFERS_BY_TILES, LAST_PASS, remaining
from tileas_xdsl.compilation.pass_execution import make_pass, run_pass
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.snapshot import is_same, snapshot
from tileas_xdsl.diagnostics.verification.verify import verify_errors
from tileas_xdsl.dialects.target_attribute import set_target
from tileas_xdsl.executors import executor_named
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.printing import module_text

BY_TILES = [str(spec) for spec in PIPELINES[BUFFERS_BY_TILES].passes]


@dataclass(frozen=True)
class Finding:
    """What is wrong with the text of a stage."""

    stage: str
    problem: str


def difference(one: Operation, other: Operation) -> str | None:
    """The first difference between two operations and what they hold; None if they are equal.

    Attributes, types and the structure count; locations and names of values do not.
    """
    return next(_differences(one, other, {}), None)


def _differences(
    one: Operation, other: Operation, values: dict[SSAValue, SSAValue]
) -> Iterator[str]:
    if one.name != other.name:
        yield f"'{one.name}' is '{other.name}'"
        return
    for name, here, there in (
        *_attribute_pairs(one, other),
        ("number of operands", len(one.operands), len(other.operands)),
        ("result types", one.result_types, other.result_types),
        ("number of regions", len(one.regions), len(other.regions)),
    ):
        if here != there and not _is_same_text(here, there):
            yield f"'{one.name}': {name}: {here} is {there}"
            return
    values.update(zip(one.results, other.results, strict=True))
    pairs = zip(one.operands, other.operands, strict=True)
    for number, (here, there) in enumerate(pairs):
        # A value that is defined further on is compared where it is defined.
        if values.setdefault(here, there) is not there:
            yield f"'{one.name}': operand #{number} is another value"
    for here, there in zip(one.regions, other.regions, strict=True):
        if len(here.blocks) != len(there.blocks):
            yield f"'{one.name}': {len(here.blocks)} blocks are {len(there.blocks)}"
            return
        for block, other_block in zip(here.blocks, there.blocks, strict=True):
            yield from _block_differences(one.name, block, other_block, values)


def _attribute_pairs(
    one: Operation, other: Operation
) -> Iterator[tuple[str, Attribute | None, Attribute | None]]:
    for kind, here, there in (
        ("attribute", one.attributes, other.attributes),
        ("property", one.properties, other.properties),
    ):
        for name in sorted({*here, *there}):
            yield f"{kind} '{name}'", here.get(name), there.get(name)


def _is_same_text(one: object, other: object) -> bool:
    """NaN is no equal of itself, as Python compares."""
    return isinstance(one, Attribute) and isinstance(other, Attribute) and str(one) == str(other)


def _block_differences(
    name: str, one: Block, other: Block, values: dict[SSAValue, SSAValue]
) -> Iterator[str]:
    if (here := one.arg_types) != (there := other.arg_types):
        yield f"'{name}': block arguments {here} are {there}"
        return
    values.update(zip(one.args, other.args, strict=True))
    if len(one.ops) != len(other.ops):
        yield f"'{name}': {len(one.ops)} operations are {len(other.ops)}"
        return
    for op, twin in zip(one.ops, other.ops, strict=True):
        yield from _differences(op, twin, values)


class RoundTrip:
    """One kernel, compiled by way of the texts of its stages.

    Of the stages that a pass has changed one in `every` is read back, the `first` one first.
    """

    def __init__(self, kernel: CompiledKernel, every: int = 1, first: int = 0) -> None:
        self.kernel = kernel
        self._every, self._changed = every, -1 - first
        self.stages = 0
        self.findings: list[Finding] = []

    def run(self) -> None:
        """Compile; `stages` and `findings` say what came of it."""
        kernel = self.kernel
        module = kernel.source.clone() if kernel.above is None else self._above(kernel.above)
        module = self._by_text(module, "source", kernel.passes)
        module = self._passes(module, kernel.passes)
        found = SOURCE_LINES.sub("", ptx_text(module, kernel.target))
        if found != SOURCE_LINES.sub("", kernel.ptx):
            self._find("PTX", "differs from that of the straight compilation")

    def _above(self, above: ModuleOp) -> ModuleOp:
        """The kernel as tiles, which Tile IR becomes by way of texts, too."""
        module = above.clone()
        set_target(module, self.kernel.target)
        left = [*self.kernel.to_tiles, *self.kernel.passes]
        module = self._by_text(module, "tile_ir", left)
        return self._passes(module, self.kernel.passes, self.kernel.to_tiles)

    def _passes(
        self, module: ModuleOp, passes: Sequence[ArgSpec], to_tiles: Sequence[ArgSpec] | None = None
    ) -> ModuleOp:
        """Run passes, those to tiles if they are given, and go on from the text after each one."""
        specs = passes if to_tiles is None else to_tiles
        for number, spec in enumerate(specs, 1):
            before = snapshot(module)
            run_pass(make_pass(spec), self.kernel.ctx, module)
            left = specs[number:] if to_tiles is None else [*specs[number:], *passes]
            if is_same(before, snapshot(module)) or self._is_left_out():
                self.stages += 1
                self._check_remaining(module, spec.name, left)
            else:
                module = self._by_text(module, spec.name, left)
        return module

    def _is_left_out(self) -> bool:
        """Whether this stage, which differs from the one before, is not read back."""
        self._changed += 1
        return self._changed % self._every != 0

    def _by_text(self, module: ModuleOp, stage: str, left: Sequence[ArgSpec]) -> ModuleOp:
        """The module, parsed from its text; the passes are those that are to remain for it."""
        self.stages += 1
        dialects = self.kernel.ctx.loaded_dialects
        for error in verify_errors(module)[:1]:
            self._find(stage, f"does not verify: {error.message}")
        text = module_text(module, {}, dialects)
        parsed = parse_module(self.kernel.ctx, text, f"after {stage}")
        if (found := difference(module, parsed)) is not None:
            self._find(stage, found)
        elif module_text(parsed, {}, dialects) != text:
            self._find(stage, "prints otherwise once it is parsed")
        self._check_remaining(parsed, stage, left)
        return parsed

    def _check_remaining(self, parsed: ModuleOp, stage: str, expected: Sequence[ArgSpec]) -> None:
        """`tileas compile` runs what remains."""
        left = remaining(parsed, parsed.ops)
        found = [str(spec) for spec in (*left.to_tiles, *left.passes)]
        if found == BY_TILES and tuple(expected) == PIPELINES[BUFFERS].passes:
            return  # tried first; refused there, a program over buffers is compiled by this line
        if found != (wanted := [str(spec) for spec in expected]):
            mark = parsed.attributes.get(LAST_PASS)
            self._find(stage, f"{found[:1]} follow, not {wanted[:1]}; marked {mark}")

    def _find(self, stage: str, problem: str) -> None:
        self.findings.append(Finding(stage, problem))


@dataclass(frozen=True)
class Walked:
    """What came of a kernel."""

    stages: int
    """0 for one that is refused for its target."""
    findings: tuple[Finding, ...]
    seconds: float


def round_trip(name: str) -> Walked:
    """Walk one of `subjects` by way of texts."""
    start = time.perf_counter()
    try:
        kernel = subjects()[name]()
        _ = kernel.ptx
    except DiagnosticError:
        return Walked(0, (), time.perf_counter() - start)
    found = RoundTrip(kernel)
    try:
        found.run()
    except DiagnosticError as error:
        found.findings.append(Finding(f"after stage {found.stages}", str(error).splitlines()[0]))
    return Walked(found.stages, tuple(found.findings), time.perf_counter() - start)


def main(words: Sequence[str] | None = None) -> int:
    """Walk kernels and print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--skip", type=int, default=0, metavar="N")
    parser.add_argument("--count", type=int, default=None, metavar="N")
    parser.add_argument("--executor", help="what walks: processes:16, serial, dask://HOST:PORT")
    options = parser.parse_args(words)
    names = [
        name
        for name in subjects()
        if not options.only or any(text in name for text in options.only)
    ][options.skip :][: options.count]
    kernels = stages = different = refused = 0
    with executor_named(options.executor) as executor:
        walking = {executor.submit(round_trip, name): name for name in names}
        for future in as_completed(walking):
            name, walked = walking[future], future.result()
            kernels, refused = kernels + bool(walked.stages), refused + (not walked.stages)
            stages += walked.stages
            different += len({finding.stage for finding in walked.findings})
            for finding in walked.findings:
                print(f"{name}: {finding.stage}: {finding.problem[:600]}", flush=True)
            said = f"# {name}: {walked.stages} stages, {walked.seconds:.1f} s"
            print(said, file=sys.stderr, flush=True)
    print(f"{kernels} kernels ({refused} refused), {stages} stages, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    end(main)
