"""Benchmarks, each a script with a `--json` of its own; `make bench` runs those of the processor."""
