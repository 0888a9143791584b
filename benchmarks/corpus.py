"""Kernels of public suites, compiled: what is refused, and what spills, beside another assembler.

    python benchmarks/corpus.py record ../TileGym corpus/ [--tests 1] [--variants 1]
    python benchmarks/corpus.py compile corpus/ [--assembler tileiras] [--json FILE] [--only TEXT]

`record` keeps the Tile IR of every kernel that a suite's tests launch (a file each); it needs
`cuda-tile`, `torch` and `pytest`, no GPU.  `compile` compiles each file for both targets, the
smallest first, and prints registers, spilled bytes and instructions that go to local memory, or why
it is refused; with an assembler of Tile IR the instructions of its code beside.  What `--json` has
from an earlier run is kept: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.conformance.suites import find_suite
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import compile, tile_ir_module
from tileas_xdsl.diagnostics.errors import DiagnosticError

TARGETS: Mapping[str, str] = {"sm_90a": "sm_90", "sm_100a": "sm_100"}
"""Ours, and what another assembler calls it."""

Facts = dict[str, Any]


def main() -> int:
    """Record or compile."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("record")
    made.add_argument("suite", type=Path, help="a checkout of cutile-python or TileGym")
    made.add_argument("folder", type=Path)
    made.add_argument("--target", choices=tuple(TARGETS), default="sm_90a")
    made.add_argument("--paths", nargs="*", help="folders of tests, by default the suite's")
    made.add_argument("--tests", type=int, default=1, help="of each test function")
    made.add_argument("--variants", type=int, default=1, help="of each kernel")
    made.add_argument("--limit", type=float, default=5, help="seconds of each test")
    read = commands.add_parser("compile")
    read.add_argument("folder", type=Path)
    read.add_argument("--assembler", help="an executable that takes Tile IR bytecode, as tileiras")
    read.add_argument("--json", type=Path, metavar="FILE")
    read.add_argument("--only", default="", metavar="TEXT", help="files with TEXT in their names")
    read.add_argument("--time-limit", type=float, default=float("inf"), metavar="SECONDS")
    options = parser.parse_args()
    return recorded(options) if options.command == "record" else compiled(options)


def recorded(options: argparse.Namespace) -> int:
    """Record the kernels of a suite."""
    from dataclasses import replace

    from benchmarks.conformance.recording import record

    suite = find_suite(options.suite)
    if options.paths:
        suite = replace(suite, tests=tuple(options.paths))
    count = record(
        suite,
        options.target,
        options.folder.resolve(),
        tests=options.tests,
        limit=options.limit,
        variants=options.variants,
    )
    print(f"{count} kernels in {options.folder}")
    return 0 if count else 1


def compiled(options: argparse.Namespace) -> int:
    """Compile the kernels of a folder; 1 if one is refused."""
    found: dict[str, dict[str, Facts]] = {}
    if options.json is not None and options.json.exists():
        found = json.loads(options.json.read_text())
    start = perf_counter()
    files = sorted(options.folder.glob("*.tileirbc"), key=lambda file: file.stat().st_size)
    for file in (file for file in files if options.only in file.name and file.stem not in found):
        if perf_counter() - start > options.time_limit:
            break
        found[file.stem] = dict(_columns(file, options.assembler))
        print(_line(file.stem, found[file.stem]), flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n")
    print(*_summary(found), sep="\n")
    return int(any("refused" in row[target] for row in found.values() for target in TARGETS))


def _columns(file: Path, assembler: str | None) -> Iterator[tuple[str, Facts]]:
    for target, gpu in TARGETS.items():
        yield target, _ours(file, target)
        if assembler is not None:
            yield f"other {target}", _of_assembler(assembler, file, gpu)


def _ours(file: Path, target: str) -> Facts:
    start = perf_counter()
    try:
        kernel = compile(tile_ir_module(file.read_bytes(), file.stem), target)
        made = kernel.assemble(strict=False)
    except DiagnosticError as error:
        return {"refused": str(error).splitlines()[0]}
    except Exception as error:  # one kernel that crashes the compiler is a row, too
        return {"refused": f"crash: {type(error).__name__}: {error}"}
    facts: Facts = {"registers": made.registers, "spilled": made.spills}
    return facts | _local(made.cubin) | {"seconds": round(perf_counter() - start, 1)}


def _of_assembler(assembler: str, file: Path, gpu: str) -> Facts:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "k.cubin"
        words = [assembler, "--gpu-name", gpu, "-o", str(cubin), str(file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"refused": (done.stderr.strip() or "failed").splitlines()[0]}
        return _local(cubin.read_bytes())


def _local(cubin: bytes) -> Facts:
    """How many instructions store to local memory, and load: spills, and what is indexed there."""
    kernels = disassemble(cubin).values()
    counts = [(word, n) for kernel in kernels for word, n in kernel.counts.items()]
    return {name: sum(n for word, n in counts if word.startswith(name)) for name in ("STL", "LDL")}


def _line(name: str, row: Mapping[str, Facts]) -> str:
    return f"{name[-70:]:70} " + "   ".join(f"{key}: {_said(facts)}" for key, facts in row.items())


def _said(facts: Facts) -> str:
    if "refused" in facts:
        return f"refused: {facts['refused'][-90:]}"
    local = f"{facts['STL']} STL, {facts['LDL']} LDL"
    if "spilled" not in facts:
        return local
    return f"{facts['registers']} registers, {facts['spilled']} bytes spilled, {local}"


def _summary(found: Mapping[str, Mapping[str, Facts]]) -> Iterator[str]:
    yield f"{len(found)} kernels"
    for key in dict.fromkeys(key for row in found.values() for key in row):
        every = [row[key] for row in found.values() if key in row]
        done = [facts for facts in every if "refused" not in facts]
        spilled = sum(bool(facts.get("spilled", facts["STL"])) for facts in done)
        yield f"  {key:15} {len(every) - len(done):4} refused, {spilled:4} of {len(done)} spill"
    if any(key.startswith("other") for row in found.values() for key in row):
        for target in TARGETS:
            worse = [name for name, row in found.items() if _is_worse(row, target)]
            yield f"  spill for {target} and not there: {len(worse)}: {', '.join(worse)}"


def _is_worse(row: Mapping[str, Facts], target: str) -> bool:
    ours, other = row[target], row.get(f"other {target}", {})
    return bool(ours.get("spilled")) and "refused" not in other and not other.get("STL")


if __name__ == "__main__":
    sys.exit(main())
