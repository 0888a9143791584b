"""Random tile kernels as inputs for passes."""

from tests.support.random_programs.program import Program, programs

__all__ = ["Program", "programs"]
