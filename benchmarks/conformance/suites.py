"""The public suites that are known: where their tests are, and what they need to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class SuiteError(Exception):
    """A path without a known suite, or a suite that cannot be collected."""


@dataclass(frozen=True)
class Suite:
    """A checkout of a suite."""

    name: str
    root: Path
    tests: Sequence[str]
    """Folders and files for pytest, relative to the root."""
    scripts: Sequence[str] = ()
    """Programs that are tests: they pass if they end without an exception."""
    script_arguments: Sequence[str] = ()
    ignored: Sequence[str] = ()
    """Parts of ids of what is no test."""
    import_paths: Sequence[str] = ()
    """Folders for `sys.path`."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables."""


def find_suite(path: Path) -> Suite:
    """Return the suite of a checkout; raises `SuiteError`."""
    root = path.resolve()
    if (root / "src" / "tilegym").is_dir():
        return Suite(
            "TileGym",
            root,
            _present(root, "tests/ops", "tests/suites"),
            ignored=("::test_perf",),  # measures times, of other back ends too
            import_paths=("src",),
            variables=_TILEGYM,
        )
    tests, scripts = _present(root, "test"), _scripts(root / "samples", root)
    if tests or scripts:
        return Suite("cuTile", root, tests, scripts, ("--correctness-check",), variables=_CUTILE)
    raise SuiteError(
        f"{path} is no checkout of a suite: neither NVIDIA/cutile-python (with test/ or samples/) "
        "nor NVIDIA/TileGym (with src/tilegym/ and tests/)"
    )


_CUTILE = {"CUDA_TILE_COMPILER_TIMEOUT_SEC": "60", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
"""As the suite's pytest.ini has it, for a plug-in of pytest that need not be installed here."""

_TILEGYM = {"CUTILE_MAX_LAUNCH_TIMEOUT_SEC": "60"}
"""The suite's own knob for machines with many processes on one GPU."""


def _present(root: Path, *names: str) -> Sequence[str]:
    return tuple(name for name in names if (root / name).is_dir())


def _scripts(folder: Path, root: Path) -> Sequence[str]:
    """Return the programs among the samples; templates of samples are none."""
    found = [*folder.glob("*.py"), *folder.glob("quickstart/*.py")]
    names = [path for path in found if not path.name.startswith(("test_", "__"))]
    return sorted(str(path.relative_to(root)) for path in names)
