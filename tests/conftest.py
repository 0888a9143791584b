"""Settings of the whole suite."""

import gc
import os
import sys
from collections import defaultdict
from functools import cache
from itertools import count
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

from tileas_xdsl.collection import RARE_THRESHOLD

# How long an example takes says nothing on a machine that others use too.
settings.register_profile("shared", deadline=None, max_examples=30)
settings.register_profile("sweep", deadline=None, max_examples=500)
settings.load_profile("shared")

# Every pass leaves valid IR: whatever a test compiles is verified after every 16th pass, others
# for other kernels, and after the last; in `make sweep` after each.
os.environ.setdefault("TILEAS_VERIFY_EACH", "16")

# Tests let passes crash; those of reproducers name a folder.
os.environ.setdefault("TILEAS_REPRODUCER_DIR", "")

# What one run compiles is not taken from another; tests of the disk cache name a folder.
os.environ.setdefault("TILEAS_CACHE_DIR", "")

# Where bytecode is not to be beside sources, processes of tests compile what they import once, not
# 1.6 s each, and a later run reads what pytest has rewritten: 20 s of each worker.
if sys.dont_write_bytecode:
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # may be the option -B

# Launches stay in Python; tests of the C launcher build it themselves.
os.environ.setdefault("TILEAS_NATIVE", "0")

# Each call of a command line would build the parsers of all commands: 27 ms, some 700 times.
typer.testing._get_command = cache(typer.testing._get_command)

# Kernels that are kept for several tests are large and have no garbage: looking through all of them
# for cycles took a sixth of the time. What a compilation leaves is looked through when most of it
# is garbage, not right behind it: 19 collections in 38 tests, 1.04 s, became one of 0.24 s.
gc.set_threshold(RARE_THRESHOLD, 20, 100)

# Compilations count what they leave as old where nothing is frozen; here all is, once it is
# collected (below), and some are compiled before.
gc.freeze()


def pytest_collection_finish() -> None:
    """Leave what is imported out of garbage collection."""
    gc.collect()
    gc.freeze()


FREEZE_AFTER = 500
"""Tests behind which garbage collection leaves out what caches hold, too, up to 1.4 GB."""

_DONE = count(1)


def pytest_runtest_logfinish() -> None:
    """Freeze what is alive now and then, between two tests."""
    if next(_DONE) % FREEZE_AFTER == 0:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with the marker `sample(n)`, n cases are run, evenly spread; the rest are slow.

    `make sweep` runs the rest.  A case that is named on the command line is run.
    """
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if (marker := item.get_closest_marker("sample")) is not None:
            cases[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    for (_, number), found in cases.items():
        chosen = {index * len(found) // number for index in range(number)}
        for index, item in enumerate(found):
            if len(found) > number and index not in chosen:
                item.add_marker(pytest.mark.slow)
