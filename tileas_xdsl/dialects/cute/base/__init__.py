"""What every operation of `cute` builds on: inference, symbolic values, checks of operands."""
