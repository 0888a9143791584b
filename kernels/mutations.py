"""Small edits of a kernel's text that make wrong kernels of correct ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Edit: TypeAlias = Callable[[str], str]


class EditError(ValueError):
    """An edit whose pattern is not found, because the kernel has changed."""


def replacing(old: str, new: str, *, times: int = 1) -> Edit:
    """Replace the first `times` occurrences of `old`; each must exist."""

    def edit(text: str) -> str:
        if text.count(old) < times:
            raise EditError(f"the text has {text.count(old)} times {old!r}, not {times}")
        return text.replace(old, new, times)

    return edit


def without(part: str, *, times: int = 1) -> Edit:
    """Remove the first `times` lines that contain `part`."""

    def edit(text: str) -> str:
        kept: list[str] = []
        left = times
        for line in text.splitlines(keepends=True):
            found = left > 0 and part in line
            left -= found
            kept += [] if found else [line]
        if left:
            raise EditError(f"no more line has {part!r}: {left} of {times} are missing")
        return "".join(kept)

    return edit


def swapping(first: str, second: str) -> Edit:
    """Swap the first line that contains `first` with the next that contains `second`."""

    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        i = _line(lines, first, 0)
        j = _line(lines, second, i + 1)
        lines[i], lines[j] = lines[j], lines[i]
        return "".join(lines)

    return edit


def after(part: str, *added: str) -> Edit:
    """Lines after the first that contains `part`."""

    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        k = _line(lines, part, 0) + 1
        return "".join([*lines[:k], *(f"{line}\n" for line in added), *lines[k:]])

    return edit


def before(part: str, *added: str) -> Edit:
    """Lines before the first that contains `part`."""

    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        k = _line(lines, part, 0)
        return "".join([*lines[:k], *(f"{line}\n" for line in added), *lines[k:]])

    return edit


def in_agent(number: int, change: Edit) -> Edit:
    """The edit in the body of one agent of an `agent_switch` only."""

    def edit(text: str) -> str:
        start, end = body_of_agent(text, number)
        return text[:start] + change(text[start:end]) + text[end:]

    return edit


def body_of_agent(text: str, number: int) -> tuple[int, int]:
    """Return the range of an agent's body in the text."""
    found = re.search(rf"agent {number} \{{\n", text)
    if found is None:
        raise EditError(f"there is no agent {number}")
    end = re.compile(r"^  \}", re.MULTILINE).search(text, found.end())
    if end is None:
        raise EditError(f"agent {number} has no end")
    return found.end(), end.start()


def all_of(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(text: str) -> str:
        for change in edits:
            text = change(text)
        return text

    return edit


def _line(lines: list[str], part: str, start: int) -> int:
    for k in range(start, len(lines)):
        if part in lines[k]:
            return k
    raise EditError(f"no line has {part!r}")
