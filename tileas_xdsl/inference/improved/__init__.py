"""The default mode of layout inference: complete, by tables, with conversions."""

from tileas_xdsl.inference.improved.infer import infer

__all__ = ["infer"]
