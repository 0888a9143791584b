"""Plain xDSL tools see this package, and start quickly because nothing is imported early."""

import json
import subprocess
import sys

import pytest

from tileas_xdsl.universe import TILEAS_UNIVERSE

USE_BEFORE_DEFINITION = """\
func.func @f(%a: i32) {
  %0 = arith.addi %1, %a : i32
  %1 = arith.addi %a, %a : i32
  func.return
}
"""


def xdsl_opt(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xdsl.tools.xdsl_opt", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", ["all_dialects", "all_passes", "all_targets"])
def test_keys_are_sorted_and_equal_the_names(kind):
    factories = getattr(TILEAS_UNIVERSE, kind)
    assert list(factories) == sorted(factories)
    for name, factory in factories.items():
        assert factory().name == name


def test_plain_xdsl_opt_runs_our_pass():
    result = xdsl_opt("-p", "verify-dominance", "--verify-diagnostics", text=USE_BEFORE_DEFINITION)
    assert result.returncode == 0, result.stderr
    assert "operand #0 does not dominate this use" in result.stdout


def test_plain_xdsl_opt_without_it_does_not_notice():
    result = xdsl_opt("--verify-diagnostics", text=USE_BEFORE_DEFINITION)
    assert "dominate" not in result.stdout


def test_plain_xdsl_opt_lists_everything():
    result = xdsl_opt("--help")
    assert result.returncode == 0
    listed = "".join(result.stdout.split())
    assert all(name in listed for name in TILEAS_UNIVERSE.all_passes)
    assert all(name in listed for name in TILEAS_UNIVERSE.all_targets)


def test_the_universe_imports_nothing_of_ours():
    code = (
        "import json, sys, tileas_xdsl.universe;"
        "print(json.dumps([m for m in sys.modules if m.startswith('tileas_xdsl.')]))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert set(json.loads(output.stdout)) == {"tileas_xdsl.data_classes", "tileas_xdsl.universe"}
