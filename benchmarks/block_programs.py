"""Random block programs in numbers: `python benchmarks/block_programs.py [COUNT]`.

How many have a layout, why others have none, how long inference takes; and by kind of access how
many small programs are accepted and how much PTX they become.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.tl_programs import KINDS, one_access, programs
from tests.support.tl_programs.outcomes import Outcome, Verdict, outcome
from tileas_xdsl.executors import executor_named

EACH = 6
"""Programs for a kind of access."""


def reason(found: Outcome) -> str:
    """What is wrong, without the numbers and names of one program."""
    text = found.detail.splitlines()[0].split(": ", 1)[-1] if found.detail else ""
    return re.sub(r"%?[A-Za-z_]*\d+", "_", re.sub(r" \(.*?\)", "", text))[:90]


def summary(found: Sequence[Outcome]) -> Iterable[str]:
    """Verdicts, reasons of refusals, times of inference."""
    verdicts = Counter(each.verdict for each in found)
    yield f"{len(found)} random programs"
    for verdict in Verdict:
        yield f"  {verdict:14} {verdicts[verdict]:5}"
    reasons = Counter(reason(each) for each in found if each.verdict is not Verdict.RIGHT)
    yield from (f"    {count:5}  {text}" for text, count in reasons.most_common())
    times = np.array([each.seconds for each in found]) * 1000
    middle, late = np.percentile(times, [50, 95])
    yield f"  inference: median {middle:.0f} ms, 95 of 100 within {late:.0f} ms, most {times.max():.0f} ms"


def by_kind() -> Iterable[str]:
    """A row for each kind of access: accepted, instructions of PTX."""
    yield "| a fragment read | accepted | PTX instructions |"
    yield "|---|---|---|"
    for kind in KINDS:
        found = [outcome(one_access(kind, seed)) for seed in range(EACH)]
        sizes = [each.instructions for each in found if each.verdict is Verdict.RIGHT]
        size = f"{min(sizes)} to {max(sizes)}" if sizes else "-"
        yield f"| {kind} | {len(sizes)} of {EACH} | {size} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--executor", default="serial", help="processes:4, dask://HOST:PORT")
    asked = parser.parse_args()
    with executor_named(asked.executor) as executor:
        print(*summary([*executor.map(outcome, programs(asked.count))]), sep="\n")
    for row in by_kind():
        print(row, flush=True)


if __name__ == "__main__":
    main()
