"""Settings of the whole suite."""

import gc
import os

from hypothesis import settings

# How long an example takes says nothing on a machine that others use too.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

# Every pass leaves valid IR: whatever a test compiles is verified after each of its passes.
os.environ.setdefault("TILEAS_VERIFY_EACH", "1")

# What one run compiles is not taken from another; tests of the disk cache name a folder.
os.environ.setdefault("TILEAS_CACHE_DIR", "")

# Kernels that are kept for several tests are large and have no garbage: looking through all of them
# for cycles took a sixth of the time.
gc.set_threshold(50_000, 20, 100)


def pytest_collection_finish() -> None:
    """Leave what is imported out of garbage collection."""
    gc.collect()
    gc.freeze()
