"""The plug-in of pytest: the fixture `assert_no_findings`.

    def test_add(assert_no_findings):
        with check.triton() as reports:
            add[(4,)](x, y, out, 1000, BLOCK=256)
        assert_no_findings(reports)

pytest loads it by the entry point `pytest11`; it imports nothing until a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_no_findings() -> Callable[[Any], None]:
    """Return `tileas_xdsl.check.assert_no_findings`, whose error has all findings."""
    from tileas_xdsl.check import assert_no_findings

    return assert_no_findings
