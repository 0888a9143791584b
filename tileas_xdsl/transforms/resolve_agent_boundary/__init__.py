"""Values that cross from agent to agent: which may, how the others are handed over."""
