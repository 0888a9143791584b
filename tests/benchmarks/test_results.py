"""Rows of benchmarks: ratios, tables, JSON and how they changed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.results import Results, Row, comparison, number, tables
from benchmarks.running import machine, median_seconds, run_benchmark

ROWS = (
    Row(
        "products", "8192^3", 700.0, "TFLOP/s", {"cuBLAS": 720.0}, facts={"ms": 1.57, "tiles": "a"}
    ),
    Row("products", "small", 12345.6, "TFLOP/s", {"Triton": 600.0}, bar=20000.0),
    Row("compiling", "gemm", 100.0, "ms", {"Triton": 240.0}, bar=150.0),
)


def test_more_or_less_is_better_by_the_unit() -> None:
    assert ROWS[0].ratio(720.0) == pytest.approx(700 / 720)
    assert ROWS[2].ratio(240.0) == pytest.approx(2.4)
    assert ROWS[0].ratio(0.0) == float("inf")
    assert Row("a", "b", 0.0, "ms").ratio(0.0) == 1.0


def test_tables_have_a_column_for_each_of_the_others() -> None:
    assert tables(ROWS).splitlines() == [
        "products  ours            bar              cuBLAS        Triton         ms    tiles",
        "8192^3    700 TFLOP/s                      720 (0.97 x)                 1.57  a",
        "small     12,346 TFLOP/s  20,000 (0.62 x)                600 (20.58 x)",
        "",
        "compiling  ours    bar           Triton",
        "gemm       100 ms  150 (1.50 x)  240 (2.40 x)",
    ]
    assert number(0.012345) == "0.01235"


def test_json_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    results = Results({"GPU": "H200"}, list(ROWS))
    results.write(path)
    assert Results.read(path) == results
    for wrong in ("[]", "{}", "no JSON", json.dumps({"machine": {}, "rows": [{"speed": 1}]})):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"found\.json holds no results of a benchmark"):
            Results.read(path)


def test_what_changed() -> None:
    old = Results({"GPU": "H100", "python": "3.11"}, [*ROWS[:2], Row("gone", "row", 1.0, "s")])
    faster = Row("products", "8192^3", 1400.0, "TFLOP/s")
    about = Row("products", "small", 12300.0, "TFLOP/s")
    new = Results({"GPU": "H200", "python": "3.11"}, [faster, about, ROWS[2]])
    assert comparison(old, new).splitlines() == [
        "GPU: H100 before, H200 now",
        "measurement       before          now             change",
        "products: 8192^3  700 TFLOP/s     1,400 TFLOP/s   2.00 x",
        "products: small   12,346 TFLOP/s  12,300 TFLOP/s  equal",
        "compiling: gemm                   100 ms          new",
        "gone: row         1 s                             no more",
    ]


def measure(options: argparse.Namespace) -> Iterator[Row]:
    yield Row("counting", "words", float(options.words), "words")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--words", type=int, default=1)


def test_a_run_writes_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.json"
    assert run_benchmark("Counts.", measure, add_options, ["--json", str(path)]) == 0
    assert Results.read(path).machine == machine()
    capsys.readouterr()
    words = ["--compare", str(path), "--words", "3"]
    assert run_benchmark("Counts.", measure, add_options, words, lambda: {"GPU": "none"}) == 0
    out = capsys.readouterr().out
    assert "GPU: none\n" in out
    assert out.endswith("counting: words  1 words  3 words  3.00 x\n")
    assert run_benchmark("Counts.", measure, add_options, ["--compare", "nowhere.json"]) == 1
    assert "nowhere.json" in capsys.readouterr().err


def test_a_median_runs_once_more() -> None:
    runs: list[int] = []
    assert median_seconds(3, lambda: runs.append(0)) >= 0
    assert len(runs) == 4
