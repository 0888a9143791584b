"""Check one launch of a PTX kernel under several orders of asynchronous completion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from tileas_xdsl.check.suppressions import Suppression, parse_suppression, split
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.ptx import PtxModule, Report, load, run
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Finding
from tileas_xdsl.interpreters.ptx.execution.state import order_of_run
from tileas_xdsl.interpreters.ptx.launch import Progress, pick_kernel
from tileas_xdsl.interpreters.ptx.launch_sizes import Shape

INSTRUCTION_BUDGET = 20_000_000
"""Instructions of a cluster after which a run is ended as one that does not end by itself."""


@dataclass(frozen=True)
class CheckReport:
    """What one launch of a kernel does wrong, merged over the orders of completion."""

    kernel: str
    findings: Sequence[Finding]
    """Without those that are accepted; one for each kind and instruction."""
    accepted: Sequence[Finding]
    """Findings that a suppression covers."""
    arrays: Sequence[Any]
    """The array arguments after the first run, None for scalars."""
    instructions: int
    """Executed in all runs; what a warpgroup executes together counts once."""
    printed: str = ""

    @property
    def failures(self) -> Sequence[Finding]:
        """The findings that are more than notes."""
        return [finding for finding in self.findings if finding.severity.fails]

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or f"{self.kernel}: no findings"


class CheckError(AssertionError):
    """A launch has findings; the text has all of them."""

    def __init__(self, reports: Sequence[CheckReport]) -> None:
        super().__init__("\n".join(f"{report.kernel}:\n{report}" for report in reports))
        self.reports = reports


class NothingCheckedError(CheckError):
    """There was no launch to check."""

    def __init__(self) -> None:
        super().__init__([])

    def __str__(self) -> str:
        return "no kernel was launched, so nothing was checked"


def ptx(
    text: str | PtxModule,
    grid: Shape,
    args: Sequence[Any],
    block: Shape | None = None,
    cluster: Shape | None = None,
    *,
    kernel: str | None = None,
    shared: int = 0,
    target: str | None = None,
    allow: Iterable[str] = (),
    schedules: int = 3,
    seed: int = 0,
    limit: float = INSTRUCTION_BUDGET,
    jobs: Workers = 1,
    name: str = "<ptx>",
    progress: Progress | None = None,
) -> CheckReport:
    """Run a kernel (the only one, if `kernel` is None) and return everything that is wrong with it.

    `grid` and `cluster` are blocks, `block` is threads, `shared` bytes of dynamic shared memory.
    `args` are arrays for pointers, numbers, bytes, and `TensorMapArg` for tensor maps; they are not
    modified.  The run is repeated under `schedules` orders: asynchronous operations complete at
    once, as late as possible, then at random, with warps that fall behind in every other run.
    `allow` has kinds of findings to accept, `KIND` or `KIND:LINE`.  Raises `PtxError` for text that
    is no PTX or uses what the emulator lacks, `LaunchError` for arguments and sizes that do not
    fit.
    """
    module = load(text, name) if isinstance(text, str) else text
    entry = pick_kernel(module, kernel)
    suppressions = [parse_suppression(item) for item in allow]
    runs = [
        run(
            module,
            entry.name,
            args,
            grid,
            block,
            cluster,
            target=target,
            dynamic_shared=shared,
            order=order_of_run(n),
            seed=seed + n,
            limit=limit,
            jobs=jobs,
            progress=progress,
        )
        for n in range(schedules)
    ]
    return merged(entry.name, runs, suppressions)


def merged(kernel: str, runs: Sequence[Report], suppressions: Sequence[Suppression]) -> CheckReport:
    """Return the report of several runs of one launch."""
    left, accepted = split(distinct(f for one in runs for f in one.findings), suppressions)
    return CheckReport(
        kernel, left, accepted, runs[0].arrays, sum(one.instructions for one in runs),
        runs[0].printed,
    )  # fmt: skip


def distinct(findings: Iterable[Finding]) -> Sequence[Finding]:
    """Return one finding of each kind and place, the first one."""
    found: dict[tuple[str, str, int, int], Finding] = {}
    for finding in findings:
        found.setdefault((finding.kind, finding.path, finding.line, finding.column), finding)
    return list(found.values())


def assert_no_findings(reports: CheckReport | Iterable[CheckReport]) -> None:
    """Raise `CheckError`, an `AssertionError`, if a launch has findings that are more than notes.

    No launch at all is an error too: a check that saw nothing proves nothing.  Raises `TypeError`
    for anything but reports.
    """
    every = [reports] if isinstance(reports, CheckReport) else _reports(reports)
    if not every:
        raise NothingCheckedError
    failed = [report for report in every if report.failures]
    if failed:
        raise CheckError(failed)


def _reports(given: object) -> Sequence[CheckReport]:
    """Return a user's reports as a list; raises `TypeError` for anything else."""
    found: list[CheckReport] = []
    for one in cast("Iterable[object]", given) if isinstance(given, Iterable) else [given]:
        if not isinstance(one, CheckReport):
            kind = type(one).__name__
            raise TypeError(f"reports are what functions of tileas_xdsl.check give, not of {kind}")
        found.append(one)
    return found
