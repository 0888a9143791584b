"""Installs the drop-in in Python processes that tests start; its folder is on their path."""

import os

if device := os.environ.get("TILEAS_CONFORMANCE_DEVICE"):
    from benchmarks.conformance.environment import prepare

    prepare(device)
