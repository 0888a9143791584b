"""Delete and alter every message that the dialects emit: each time some test must fail.

`make mutate` runs it.  Each mutant is a fresh process whose catalogue has one text changed before
any dialect is loaded; the filecheck files that expect the text are run as their RUN line says, and
if all pass, the unit tests that quote it.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tileas_xdsl.diagnostics import catalogue

FILECHECK = Path(__file__).parent / "filecheck"
FLAGS = "--verify-diagnostics"


class Mutant(NamedTuple):
    id: str
    what: str
    text: str
    """What the message becomes."""


class Verdict(NamedTuple):
    mutant: Mutant
    killer: str | None
    """The test file that failed; None if the mutant lived."""


def test_files() -> list[Path]:
    """Every filecheck file of a dialect or a pass that checks diagnostics."""
    folders = (FILECHECK / "dialects", FILECHECK / "transforms")
    files = sorted(path for folder in folders for path in folder.rglob("*.mlir"))
    return [path for path in files if FLAGS in path.read_text(encoding="utf-8")]


def options_of(path: Path) -> list[str]:
    """The options of the RUN line that checks diagnostics."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if "RUN: tileas-opt" in line and FLAGS in line:
            words = line.split("tileas-opt", 1)[1].split("|")[0].split()
            return [word.strip("'\"") for word in words if word != "%s"]
    return [FLAGS, "--split-input-file"]


def passes(path: Path) -> bool:
    """Run one file by its RUN line."""
    from tileas_xdsl.tools.tileas_opt import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main([str(path), *options_of(path)]) == 0


def altered(entry: catalogue.CatalogueEntry) -> str:
    """The text with the middle of its longest fixed part exchanged."""
    fixed = max(entry.fragments, key=len)
    middle = entry.text.index(fixed) + len(fixed) // 2
    return f"{entry.text[:middle]}\u00a4{entry.text[middle + 1 :]}"


def mutants() -> list[Mutant]:
    """Two for each message that something emits: a character exchanged, and nothing at all."""
    found: list[Mutant] = []
    for entry in catalogue.catalogue():
        if entry.id in catalogue.emitted_ids():
            found.append(Mutant(entry.id, "altered", altered(entry)))
            found.append(Mutant(entry.id, "deleted", ""))
    return found


def judge(mutant: Mutant) -> Verdict:
    """Run the files that expect the message, then, if it still lives, all others."""
    entries = catalogue.by_id()
    fixed = max(entries[mutant.id].fragments, key=len).strip()
    entries[mutant.id] = entries[mutant.id]._replace(text=mutant.text)
    files = test_files()
    likely = [p for p in files if fixed in p.read_text(encoding="utf-8")]
    for path in (*likely, *(p for p in files if p not in likely)):
        if not passes(path):
            return Verdict(mutant, str(path.relative_to(FILECHECK)))
    for path in unit_tests(fixed):
        with contextlib.redirect_stdout(io.StringIO()):
            if pytest.main(["-x", "-q", "-p", "no:cacheprovider", str(path)]) != 0:
                return Verdict(mutant, path.name)
    return Verdict(mutant, None)


def unit_tests(text: str) -> list[Path]:
    """The test modules that quote a part of the text, two words or more."""
    words = text.split()
    quotes = [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    sources = [(path, path.read_text(encoding="utf-8")) for path in files]
    return [path for path, source in sources if any(quote in source for quote in quotes)]


def main() -> int:
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        files = test_files()
        broken = [p for p, ok in zip(files, pool.map(passes, files, 1), strict=True) if not ok]
    if broken:
        print("these files fail already:", *broken, sep="\n  ")
        return 1
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        verdicts = pool.map(judge, mutants(), 1)
    alive = [v for v in verdicts if v.killer is None]
    for verdict in alive:
        print(f"lived: {verdict.mutant.id} ({verdict.mutant.what})")
    messages = len(catalogue.emitted_ids())
    print(f"{messages} messages, {len(verdicts)} mutants, {len(verdicts) - len(alive)} killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
