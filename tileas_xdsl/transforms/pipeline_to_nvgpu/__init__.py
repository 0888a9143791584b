"""How operations of `cutlass` become barriers, waits and arithmetic."""
