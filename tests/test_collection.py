"""The cycle collector runs rarely inside of compilations, and as before behind the last one."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tileas_xdsl import collection
from tileas_xdsl.collection import (
    RARE_THRESHOLD,
    _is_frozen,
    collected_rarely,
    collected_rarely_to_the_end,
)


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_inside_it_is_rare_and_behind_the_outermost_as_before() -> None:
    with collected_rarely():
        with collected_rarely():
            assert gc.get_threshold() == (RARE_THRESHOLD, 10, 10)
        assert gc.get_threshold() == (RARE_THRESHOLD, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_process_of_ours_is_not_walked_as_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[object] = []
    monkeypatch.setattr("atexit.register", at_exit.append)
    with collected_rarely_to_the_end():
        assert gc.get_threshold()[0] == RARE_THRESHOLD
    assert at_exit == [gc.freeze]
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_ends_it_too() -> None:
    with pytest.raises(ValueError, match="broken"), collected_rarely():
        raise ValueError("broken")
    assert gc.get_threshold() == (700, 10, 10)


def test_contexts_that_overlap_end_with_the_last_one() -> None:
    """As those of two threads do."""
    first, second = collected_rarely(), collected_rarely()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == RARE_THRESHOLD
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """As in a program: `conftest.py` freezes what tests share."""
    gc.unfreeze()
    _is_frozen.cache_clear()
    yield
    gc.freeze()
    _is_frozen.cache_clear()


class Cycle:
    """Something that nothing but a walk frees."""

    def __init__(self) -> None:
        self.me = self


def _is_young(objects: list[Cycle]) -> bool:
    young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
    return bool(young & set(map(id, objects)))


@pytest.mark.usefixtures("nothing_frozen")
def test_what_a_compilation_leaves_is_not_walked() -> None:
    for _ in range(2):
        with collected_rarely(as_old=True):
            left = [Cycle() for _ in range(2000)]
        assert not _is_young(left)
    with collected_rarely():
        others = [Cycle() for _ in range(2000)]
    assert others
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("nothing_frozen")
def test_it_is_freed_once_there_is_much_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "_left", [0])
    found = weakref.WeakSet[Cycle]()
    for _ in range(3):
        with collected_rarely(as_old=True):
            found.update(Cycle() for _ in range(1000))
    assert len(found) == 3000
    monkeypatch.setattr(collection, "_left", [RARE_THRESHOLD])
    with collected_rarely(as_old=True):
        pass
    assert not found


def test_what_a_program_froze_stays_so() -> None:
    assert gc.get_freeze_count() > 0
    with collected_rarely(as_old=True):
        pass
    assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("threshold", [0, 10 * RARE_THRESHOLD])
def test_what_collects_less_stays(threshold: int) -> None:
    gc.set_threshold(threshold, 5, 5)
    with collected_rarely():
        assert gc.get_threshold() == (threshold, 5, 5)
    assert gc.get_threshold() == (threshold, 5, 5)
