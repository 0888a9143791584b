"""Run the tests of one pass: the files of `tests` that name it.

    python tests/check_pass.py tileas-slicing     (or: make check PASS=tileas-slicing)

A unit test belongs to a pass if it names it as on the command line, or imports its module; a
filecheck file, if a RUN line names it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.universe import PASSES

ROOT = Path(__file__).parents[1]


def files_naming(name: str, suffix: str, folder: Path) -> Iterator[Path]:
    """Yield the test files with this suffix that name the pass, sorted by path."""
    module = name.replace("-", "_")
    in_run_line = rf"// RUN:.*(?<![\w-]){name}(?![\w-])"
    in_code = rf"(?<![\w-]){name}(?![\w-])|\btileas_xdsl\.[\w.]*\.{module}\b"
    pattern = re.compile(in_code if suffix == ".py" else in_run_line)
    for path in sorted(folder.rglob(f"*{suffix}")):
        if pattern.search(path.read_text(encoding="utf-8")):
            yield path


def main(names: list[str]) -> int:
    """Run the unit tests and the filecheck tests; 1 if one fails, 2 for a name that is none."""
    if len(names) != 1 or names[0] not in PASSES:
        hint = did_you_mean(names[0], PASSES) if names else "for example tileas-slicing"
        print(f"name one pass; {hint or '`tileas passes` lists them'}", file=sys.stderr)
        return 2
    tests = ROOT / "tests"
    units = [str(path) for path in files_naming(names[0], ".py", tests) if path.name[:5] == "test_"]
    checks = [str(path) for path in files_naming(names[0], ".mlir", tests / "filecheck")]
    print(f"{names[0]}: {len(units)} unit test files, {len(checks)} filecheck files", flush=True)
    code = 0
    if units:
        command = [sys.executable, "-m", "pytest", "-W", "error", "-q", "-n", "2", *units]
        code |= subprocess.run(command, check=False, cwd=ROOT).returncode
    if checks:
        code |= subprocess.run(
            [sys.executable, "-m", "lit.main", "-j2", "-q", *checks], check=False, cwd=ROOT
        ).returncode
    return min(code, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
