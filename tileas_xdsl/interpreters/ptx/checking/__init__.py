"""The race checker: vector clocks, shadow memory, findings and their diagnosis."""
