"""The builder of an agent's code: constants, scalar operations, shuffles, control flow, ABI."""
