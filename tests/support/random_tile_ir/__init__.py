"""Random programs of Tile IR: made, judged against what they mean, and shrunk."""

from tests.support.random_tile_ir.generate import random_program
from tests.support.random_tile_ir.judge import Verdict, judge
from tests.support.random_tile_ir.shrink import shrunk

__all__ = ["Verdict", "judge", "random_program", "shrunk"]
