"""The dialects, a folder each."""

from tileas_xdsl.dialects.xdsl_core import accelerate

accelerate()
