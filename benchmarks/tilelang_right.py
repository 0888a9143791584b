"""Whether TileLang's own examples are right: `python -m benchmarks.tilelang_right CHECKOUT`.

Every example of the checkout runs in a process of its own (`benchmarks.tilelang_emulate`) at the sizes
of `tilelang_sizes.toml`: tensors of torch on the CPU, kernels of sm_90a on the emulator, compared by
the example with its own reference.  The table has a row a file:

* `RIGHT`: every comparison of the program held, after so many kernels;
* `RAN`: its kernels ran without a finding, but it compares nothing;
* `REFUSED`: a construct that has no counterpart, with file and line; `WRONG`: a comparison failed or
  the emulator found something; `FAILED`: anything else, as a package that is not here; `SLOW`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks.tilelang_suite import construct, programs

SIZES = Path(__file__).with_name("tilelang_sizes.toml")

TESTS = "[test() for name, test in list(globals().items()) if name.startswith('test_')]"
"""What a file of tests does."""


def sizes() -> Mapping[str, Mapping[str, Any]]:
    """How files are run, by path below `examples/`."""
    return tomllib.loads(SIZES.read_text("utf-8"))


COMPARISONS = re.compile(
    r"^( *)(def (?:assert_(?:close|similar|tensors_similar)|calc_(?:diff|sim)"
    r"|calculate_tensor_similarity|validate_tensor_match|compare_tensors|get_err_ratio)\()",
    re.MULTILINE,
)
"""Functions of programs that compare tensors."""

MEASUREMENTS = re.compile(r"^( *)(def do_bench\(.*\):)$", re.MULTILINE)
"""Functions of programs that run a kernel for its time."""


def copy_programs(examples: Path, folder: Path) -> None:
    """Copy all programs, with the texts replaced and their own comparisons counted."""
    shutil.copytree(examples, folder, dirs_exist_ok=True)
    rows = sizes()
    for path in folder.rglob("*.py"):
        text = made = path.read_text("utf-8")
        for pattern, row in rows.items():
            if fnmatch(str(path.relative_to(folder)), pattern):
                for old, new in row.get("replace", ()):
                    made = made.replace(old, new)
        made = COMPARISONS.sub(r"\1@counted_comparison\n\1\2", made)
        made = MEASUREMENTS.sub(r"\1\2\n\1    return 1.0", made)
        if made != text:
            path.write_text(made, "utf-8")


def outcome(folder: Path, name: str, seconds: int) -> str:
    """What became of a program of the copy: one line, which begins with the outcome."""
    row: dict[str, Any] = {}
    for pattern, found in sizes().items():
        row |= found if fnmatch(name, pattern) else {}
    is_test = Path(name).name.startswith("test_")
    statements = row.get("run") or (TESTS if is_test else "")
    command = [sys.executable, "-m", "benchmarks.tilelang_emulate", str(folder / name), statements]
    command += row.get("argv", "").split()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"SLOW more than {seconds} s"
    last = (done.stdout.strip().splitlines() or [""])[-1]
    said = last if last.split(" ")[0].isupper() else f"FAILED {done.stderr.strip()[-200:]}"
    return " ".join(said.replace(f"{folder}/", "").split())


def summary(rows: Sequence[tuple[str, str]]) -> str:
    """Files by outcome, and the reasons of what is not right."""
    outcomes = Counter(line.split(" ")[0] for _, line in rows)
    reasons = Counter(
        construct(line) for _, line in rows if line.split(" ")[0] not in ("RIGHT", "RAN")
    )
    lines = [f"{len(rows)} files: {dict(outcomes)}"]
    return "\n".join(lines + [f"{count:5} {reason}" for reason, count in reasons.most_common(40)])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--seconds", type=int, default=180, help="for one program")
    parser.add_argument("--log", type=Path, help="rows of files that it names are kept, not run")
    given = parser.parse_args()
    examples = given.checkout / "examples"
    known: dict[str, str] = {}
    if given.log and given.log.exists():
        known = dict(line.split("\t", 1) for line in given.log.read_text("utf-8").splitlines())
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        copy_programs(examples, Path(folder))
        for path in programs(given.checkout, "examples"):
            name = str(path.relative_to(examples))
            if given.only not in name:
                continue
            line = known.get(name) or outcome(Path(folder), name, given.seconds)
            rows.append((name, line))
            print(f"{name:64} {line}", flush=True)
            if given.log and name not in known:
                with given.log.open("a", encoding="utf-8") as file:
                    file.write(f"{name}\t{line}\n")
    print(summary(rows))


if __name__ == "__main__":
    main()
