"""Delete and alter every message that the dialects emit: each time some test must fail.

`make mutate` runs it.  Each mutant is a fresh process whose catalogue has one text changed before
any dialect is loaded.  First the filecheck files that expect the text are run as their RUN line
says.  Mutants that live meet the unit tests that quote it, all other files, and unit tests that
quote a part of it.  Verdicts are appended to a log; an interrupted run goes on behind them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import multiprocessing
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tileas_xdsl.diagnostics import catalogue

TESTS = Path(__file__).parent
FILECHECK = TESTS / "filecheck"
FLAGS = "--verify-diagnostics"
BROKEN: set[Path] = set()
"""Files that fail without a mutant."""

WITHOUT_MESSAGES = ("numpy", "xdsl.dialects.builtin", "xdsl.parser")
"""What each mutant needs and can be loaded before processes fork."""


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
    checking = [path for path in files if FLAGS in path.read_text(encoding="utf-8")]
    return [path for path in checking if path not in BROKEN]


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


def first_verdict(mutant: Mutant) -> Verdict:
    """Run the filecheck files that expect the message: most mutants go no further."""
    fixed = apply(mutant)
    return verdict(mutant, [p for p in test_files() if fixed in p.read_text(encoding="utf-8")])


def last_verdict(mutant: Mutant) -> Verdict:
    """Run all else that could notice: tests that quote the message, all files, tests of parts."""
    fixed = apply(mutant)
    words = fixed.split()
    parts = [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]
    return verdict(mutant, [*unit_tests([fixed]), *test_files(), *unit_tests(parts)])


def apply(mutant: Mutant) -> str:
    """Put a mutant into the catalogue of this process; return the longest fixed part of before."""
    entries = catalogue.by_id()
    fixed = max(entries[mutant.id].fragments, key=len).strip()
    entries[mutant.id] = entries[mutant.id]._replace(text=mutant.text)
    return fixed


def verdict(mutant: Mutant, paths: list[Path]) -> Verdict:
    """Run files until one fails."""
    for path in dict.fromkeys(paths):
        if not (passes(path) if path.suffix == ".mlir" else unit_test_passes(path)):
            return Verdict(mutant, str(path.relative_to(TESTS)))
    return Verdict(mutant, None)


def unit_tests(quotes: list[str]) -> list[Path]:
    """The test modules that quote one of these parts of the text."""
    files = sorted(TESTS.rglob("test_*.py"))
    sources = [(path, path.read_text(encoding="utf-8")) for path in files]
    return [path for path, source in sources if any(quote in source for quote in quotes)]


def unit_test_passes(path: Path) -> bool:
    """Run one test module in this process."""
    with contextlib.redirect_stdout(io.StringIO()):
        return pytest.main(["-x", "-q", "-p", "no:cacheprovider", str(path)]) == 0


def known_verdicts(log: Path) -> dict[tuple[str, str], tuple[int, str | None]]:
    """Return the last step and killer that an earlier run wrote, by message and kind of mutant."""
    if not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {(line["id"], line["what"]): (line["step"], line["killer"]) for line in lines}


def files_that_fail_already(jobs: int) -> list[Path]:
    """Return the filecheck files that fail without any mutant; they say nothing about one."""
    files = test_files()
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        return [p for p, ok in zip(files, pool.map(passes, files, 1), strict=True) if not ok]


def main() -> int:
    """Judge each mutant in a process of its own; write each verdict to the log as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, default=Path("mutate_messages.jsonl"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for module in WITHOUT_MESSAGES:
        importlib.import_module(module)
    known = known_verdicts(options.log)
    if broken := files_that_fail_already(options.jobs):
        print("these files fail already, and are left out:", *broken, sep="\n  ")
    BROKEN.update(broken)
    all_mutants = mutants()
    for step, judge in enumerate((first_verdict, last_verdict)):
        left = [m for m in all_mutants if is_open(known.get((m.id, m.what)), step)]
        print(f"step {step}: {len(left)} mutants", flush=True)
        pool = multiprocessing.get_context("fork").Pool(options.jobs, maxtasksperchild=1)
        with pool, options.log.open("a", encoding="utf-8") as log:
            for mutant, killer in pool.imap_unordered(judge, left, 1):
                known[mutant.id, mutant.what] = step, killer
                line = {"id": mutant.id, "what": mutant.what, "step": step, "killer": killer}
                print(json.dumps(line), file=log, flush=True)
    alive = [m for m in all_mutants if known[m.id, m.what][1] is None]
    for mutant in alive:
        print(f"lived: {mutant.id} ({mutant.what})")
    killed = len(all_mutants) - len(alive)
    print(f"{len(catalogue.emitted_ids())} messages, {len(all_mutants)} mutants, {killed} killed")
    return 1 if alive else 0


def is_open(known: tuple[int, str | None] | None, step: int) -> bool:
    """Return whether a mutant is to be judged in a step: it lived in all before, if it had any."""
    return known is None or (known[1] is None and known[0] < step)


if __name__ == "__main__":
    sys.exit(main())
