"""TileLang's own examples and tests through the importer: `python -m benchmarks.tilelang_suite CHECKOUT`.

Every program of the checkout runs in a process of its own (`benchmarks.tilelang_trace`) with tensors
that have shapes and no data; the kernels that it would compile are traced, imported and compiled for
a target.  The table has a row a file: how many of its kernels compiled, were refused (with the
construct) or failed.  Needs the extra `tilelang`, torch, and what programs import.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import tileas_xdsl as tileas
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.frontend.tilelang.importer import module_of

FOREIGN = (
    "triton",
    "amd",
    "aws",
    "bitnet",
    "regression",
    "conftest",
    "metal",
    "rocm",
    "cpu",
    "npu",
)
"""Parts of names of programs for other machines, other languages, or measurements alone."""


@dataclass(frozen=True)
class Row:
    """What became of one kernel."""

    file: str
    kernel: str
    outcome: str
    """`compiled`, `refused` or `failed`; `not traced` for a program without kernels."""
    message: str = ""


def programs(checkout: Path, folder: str) -> Iterator[Path]:
    """The files that use TileLang, in order."""
    for path in sorted((checkout / folder).rglob("*.py")):
        name = str(path.relative_to(checkout)).lower()
        if any(part in name for part in FOREIGN):
            continue
        if re.search(r"^\s*(import|from)\s+tilelang", path.read_text("utf-8"), re.MULTILINE):
            yield path


def rows_of(path: Path, name: str, target: str, seconds: int, most: int) -> Iterator[Row]:
    """Trace a program, compile up to `most` of its kernels; equal names are one kernel."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.tilelang_trace", str(path), folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
            ended = (done.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired:
            ended = f"more than {seconds} s"
        kernels = {p.stem.split(".", 1)[1]: p for p in sorted(Path(folder).glob("*.json"))}
        if not kernels:
            yield Row(name, "", "not traced", ended)
        for kernel, file in list(kernels.items())[:most]:
            yield Row(name, kernel, *_compiled(file.read_text(), target))


def _compiled(text: str, target: str) -> tuple[str, str]:
    try:
        _ = tileas.compile(module_of(text), target=target).ptx
    except DiagnosticError as error:
        message = str(error).splitlines()[0]
        return ("failed" if "internal error" in message else "refused"), message
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "compiled", ""


def printed(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come."""
    found: list[Row] = []
    for row in rows:
        found.append(row)
        print(f"{row.outcome:10} {row.file} {row.kernel} {row.message}", flush=True)
    return found


def construct(message: str) -> str:
    """What a message names, without its place, names and numbers."""
    text = message.split("error: ", 1)[-1]
    text = re.sub(r"'(?!t[li])[^']*'", "'...'", text)
    return re.sub(r"\d+", "N", text)[:110]


def summary(rows: Iterable[Row]) -> str:
    """Kernels and files by outcome, and the ranking of reasons."""
    known = list(rows)
    files = {row.file for row in known}
    whole = {f for f in files if all(r.outcome == "compiled" for r in known if r.file == f)}
    reasons = Counter(construct(r.message) for r in known if r.outcome != "compiled")
    kernels = Counter(row.outcome for row in known)
    lines = [
        f"kernels: {dict(kernels)}",
        f"files of which every kernel compiles: {len(whole)} of {len(files)}",
    ]
    lines += [f"{count:5} {reason}" for reason, count in reasons.most_common(25)]
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--folder", default="examples", help="examples, or testing/python")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--seconds", type=int, default=120, help="for one program")
    parser.add_argument("--kernels", type=int, default=8, help="of one program, at most")
    given = parser.parse_args()
    rows: list[Row] = []
    for path in programs(given.checkout, given.folder):
        name = str(path.relative_to(given.checkout))
        if given.only in name:
            rows += printed(rows_of(path, name, given.target, given.seconds, given.kernels))
    print(summary(rows))


if __name__ == "__main__":
    main()
