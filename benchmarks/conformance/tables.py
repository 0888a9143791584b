"""Results of a suite as tables: by file, reasons ranked, and what changed since an older run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.conformance.outcomes import Outcome, Result, Run
from benchmarks.conformance.reasons import Ranked, normalised, ranked
from tileas_xdsl.tools.console import table_text

JUDGED = (Outcome.LAUNCHED, Outcome.FAILED, Outcome.REFUSED)
"""What the share of passed tests is of: tests that say something about the compiler."""


def share(counts: Mapping[Outcome, int]) -> str:
    """Return which part of the judged tests passed.

    >>> share({Outcome.LAUNCHED: 3, Outcome.REFUSED: 1, Outcome.SKIPPED: 9})
    '75.0 %'
    """
    judged = sum(counts.get(outcome, 0) for outcome in JUDGED)
    return f"{100 * counts.get(Outcome.LAUNCHED, 0) / judged:.1f} %" if judged else ""


def by_file(results: Sequence[Result]) -> str:
    """Return a table with a row for each file, and the sums last."""
    files: dict[str, Counter[Outcome]] = {}
    for result in results:
        files.setdefault(result.file, Counter())[result.outcome] += 1
    total = Counter(result.outcome for result in results)
    rows = [_counts(file, counts) for file, counts in sorted(files.items())]
    return table_text(("file", *Outcome, "of judged"), [*rows, _counts("all", total)])


def _counts(name: str, counts: Mapping[Outcome, int]) -> Sequence[str]:
    return name, *(str(counts.get(outcome) or "") for outcome in Outcome), share(counts)


def reasons(results: Sequence[Result], limit: int) -> str:
    """Return a table of the reasons for each outcome that has some."""
    found = ranked(results)
    parts = [
        _reasons([one for one in found if one.outcome == outcome], limit) for outcome in Outcome
    ]
    return "\n\n".join(part for part in parts if part)


def _reasons(found: Sequence[Ranked], limit: int) -> str:
    if not found:
        return ""
    total = sum(one.count for one in found)
    header = (f"{found[0].outcome}: {total}", "files", "kind", "reason", "for example")
    rows = [
        (str(one.count), str(one.files), one.kind, one.reason, one.example) for one in found[:limit]
    ]
    more = len(found) - limit
    tail = f"\n... and {more} more reasons" if more > 0 else ""
    return table_text(header, rows) + tail


def summary(results: Iterable[Result]) -> str:
    """Return one line of counts.

    >>> summary([Result("a.py::b", Outcome.LAUNCHED), Result("a.py::c", Outcome.FAILED)])
    '2 tests: 1 passed, 1 failed; 50.0 % of judged'
    """
    counts = Counter(result.outcome for result in results)
    parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome])
    said = f"; {share(counts)} of judged" if share(counts) else ""
    return f"{sum(counts.values())} tests: {parts or 'none'}{said}"


def comparison(old: Run, new: Run, limit: int) -> str:
    """Return what changed: newly passing and newly not passing tests by reason, and other facts.

    Only tests of both runs are compared; a sample can be compared with a whole run.
    """
    before = {result.id: result for result in old.results}
    pairs = [(before[now.id], now) for now in new.results if now.id in before]
    better = [then for then, now in pairs if now.passed and not then.passed]
    worse = [now for then, now in pairs if then.passed and not now.passed]
    moved = [
        (then, now)
        for then, now in pairs
        if not then.passed and not now.passed and _said(then) != _said(now)
    ]
    lines = [
        *(
            f"{name}: {old.facts.get(name, 'none')} before, {new.facts.get(name, 'none')} now"
            for name in dict.fromkeys((*old.facts, *new.facts))
            if old.facts.get(name) != new.facts.get(name)
        ),
        f"{len(pairs)} tests of both runs: {len(better)} pass now, {len(worse)} no more, "
        f"{len(moved)} have another reason",
    ]
    parts = [("pass now; the reason before", better), ("pass no more; the reason now", worse)]
    lines += [f"\n{title}\n{reasons(found, limit)}" for title, found in parts if found]
    if moved:
        lines.append(f"\n{_moves(moved, limit)}")
    return "\n".join(lines)


def _said(result: Result) -> tuple[Outcome, str, str]:
    return result.outcome, result.kind, normalised(result.reason)


def _moves(moved: Sequence[tuple[Result, Result]], limit: int) -> str:
    """Return a table of how the reasons of tests that still do not pass changed."""
    counts = Counter((_said(then), _said(now)) for then, now in moved)
    header = ("tests", "before", "reason", "now", "reason")
    rows = [
        (str(count), then[0], then[2], now[0], now[2])
        for (then, now), count in counts.most_common(limit)
    ]
    return table_text(header, rows)
