"""The report of a run as Markdown or JSON: a table of families and every difference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hardware.comparing import Check


def table(checks: Sequence[Check]) -> str:
    """Return a Markdown table of families with their numbers of checks and differences."""
    total = Counter(check.family for check in checks)
    wrong = Counter(check.family for check in checks if check.difference)
    first = {check.family: check for check in reversed(checks) if check.difference}
    lines = ["| family | checks | equal | different | the first |", "|---|--:|--:|--:|---|"]
    for family, count in total.items():
        said = f"{first[family].name}: {first[family].difference}" if family in first else ""
        shown = said.replace("|", "\\|")
        bad = wrong[family]
        lines.append(f"| {family} | {count} | {count - bad} | {bad} | {shown} |")
    count, bad = len(checks), sum(wrong.values())
    return "\n".join([*lines, f"| all | {count} | {count - bad} | {bad} | |"])


def write(path: Path, facts: Mapping[str, str], checks: Sequence[Check]) -> None:
    """Write the report as JSON if the file name ends in `.json`, else as Markdown."""
    if path.suffix == ".json":
        different = [vars(check) for check in checks if check.difference]
        total = Counter(check.family for check in checks)
        found = {"facts": dict(facts), "checks": dict(total), "different": different}
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    lines = [f"{name}: {value}  " for name, value in facts.items()]
    lines += ["", table(checks), ""]
    lines += [f"* {c.family}: {c.name}: {c.difference}" for c in checks if c.difference]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
