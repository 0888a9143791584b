"""Element types as numpy types; integer and float arithmetic as the hardware rounds it."""
