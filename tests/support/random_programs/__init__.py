"""Random kernels of tiles, to run passes on."""

from tests.support.random_programs.program import Program, programs

__all__ = ["Program", "programs"]
