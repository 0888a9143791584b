"""What became of a test, and the file of results: JSON lines, so that a run cut short loses none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO


class Outcome(StrEnum):
    """What a test counts as; the order of the columns of a table."""

    LAUNCHED = "passed"
    """It passed, and kernels that we compiled ran in it."""
    UNLAUNCHED = "passed without launch"
    FAILED = "failed"
    REFUSED = "refused"
    """It failed because our compiler said that it does not support something."""
    SKIPPED = "skipped"
    PRIVATE = "private"
    """It did not pass, and replaces or reads private functions of the original."""


PASSED = frozenset((Outcome.LAUNCHED, Outcome.UNLAUNCHED))


@dataclass(frozen=True)
class Result:
    """The result of one test."""

    id: str
    """`folder/file.py::name[parameters]`, relative to the suite."""
    outcome: Outcome
    kind: str = ""
    """What sort of reason it is, such as "wrong result" or "time limit"; empty if it passed."""
    reason: str = ""
    """The message, shortened."""
    seconds: float = 0.0
    launches: int = 0
    detail: str = ""
    """The end of the traceback, of what failed or was refused."""

    @property
    def file(self) -> str:
        """The file of the test."""
        return self.id.partition("::")[0]

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.outcome in PASSED


@dataclass(frozen=True)
class Run:
    """The results of a run, and what they hold for: suite, device, machine and versions."""

    facts: Mapping[str, str]
    results: Sequence[Result]

    @staticmethod
    def read(path: Path) -> Run:
        """Return what a `Writer` wrote, less a last line cut short; may raise `ValueError`."""
        try:
            lines = list(_objects(path.read_text(encoding="utf-8")))
            return Run(lines[0]["facts"], [_result(line) for line in lines[1:]])
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} holds no results of a suite: {error!r}") from error


def _result(line: dict[str, Any]) -> Result:
    fields: dict[str, Any] = {**line, "outcome": Outcome(line["outcome"])}
    return Result(**fields)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON object of each line; a line without its end was not written completely."""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


@dataclass
class Writer:
    """Writes each result as soon as it is there."""

    file: TextIO | None
    results: list[Result] = field(default_factory=list[Result])

    def begin(self, facts: Mapping[str, str]) -> None:
        """Write the first line, the facts about the run."""
        self._line({"facts": dict(facts)})

    def add(self, result: Result) -> None:
        """Keep a result, and write it."""
        self.results.append(result)
        self._line(asdict(result))

    def _line(self, value: object) -> None:
        if self.file is not None:
            self.file.write(json.dumps(value) + "\n")
            self.file.flush()
