"""Tests that no drop-in can pass: they look at the inside of the original, not at what it does.

Each entry was read; a test of the table that passes all the same counts as passed.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.conformance.outcomes import Outcome, Result

_IPC = (
    "replaces cuda.tile.tune._tune_utils._benchmark, and expects that its extension exports the "
    "launch to another process"
)
_TUNER = "replaces cuda.tile.tune._tune._benchmark, which takes other arguments in cuda-tile 1.7"
_DEBUG = "makes a private DebugAttrTable, which takes other arguments in cuda-tile 1.7"
_OF_1_6 = "expects what cuda-tile 1.6 says; 1.7 "

PRIVATE_TESTS: dict[str, dict[str, str]] = {
    "cuTile": {
        "test/test_compiler_options.py::test_num_worker_warps_rejects_invalid": (
            _OF_1_6 + "takes every power of two"
        ),
        "test/test_concurrent_launch.py::test_concurrent_launch[_cext._benchmark]": (
            "calls _cext._benchmark, the extension's function behind the tuner"
        ),
        "test/test_debug.py": (
            "replaces cuda.tile._compile.compile_cubin, and reads the archive that the original "
            "writes when its assembler fails"
        ),
        "test/test_function_debuginfo.py::"
        "test_compile_emits_unique_linkages_with_correct_call_site_chain": _DEBUG,
        "test/test_function_debuginfo.py::test_get_subprogram_enforces_id_invariant": _DEBUG,
        "test/test_function_debuginfo.py::test_unknown_loc_maps_to_missing_debug_attr": _DEBUG,
        "test/test_helper_function.py::test_early_return_inside_for_loop": (
            _OF_1_6 + "returns from inside of loops, and refuses this one for its types"
        ),
        "test/test_helper_function.py::test_error_message_stack_trace": (
            _OF_1_6 + "indents lines of source less"
        ),
        "test/test_launch.py::test_launch_on_different_devices": (
            "replaces kernel._compile, the method by which the extension compiles"
        ),
        "test/test_mma.py::test_ampere_fp8_error": (
            "replaces kernel._compile, to have a kernel compiled for sm_80"
        ),
        "test/test_static_iter.py::test_static_iter_return_not_allowed": (
            _OF_1_6 + "names static_iter() in the message"
        ),
        "test/test_tune.py::test_exhaustive_search_returns_best": _TUNER,
        "test/test_tune.py::test_exhaustive_search_skips_slow_configs": _TUNER,
        "test/test_tune.py::test_ipc_export_none_falls_back": _TUNER,
        "test/test_tune.py::test_ipc_skip_cache_and_recompile_kernel": _IPC,
        "test/test_tune.py::test_skips_failed_configs": _TUNER,
        "test/test_tune.py::test_tune_list_of_arrays_ipc": _IPC,
        "test/test_tune.py::test_tune_scalar_only_ipc": _IPC,
    },
    "TileGym": {},
}
"""By suite, then `file`, `file::test` or `file::test[parameters]`; with the reason."""


def reason_of(suite: str, name: str) -> str | None:
    """Return why a test is private, or None."""
    known = PRIVATE_TESTS.get(suite, {})
    test = name.partition("[")[0]
    keys = (name, test, test.partition("::")[0])
    return next((known[key] for key in keys if key in known), None)


def as_private(suite: str, result: Result) -> Result:
    """Return the result, as private if the table has the test and it did not pass."""
    reason = reason_of(suite, result.id)
    if reason is None or result.outcome not in (Outcome.FAILED, Outcome.REFUSED):
        return result
    return replace(result, outcome=Outcome.PRIVATE, kind="private functions", reason=reason)
