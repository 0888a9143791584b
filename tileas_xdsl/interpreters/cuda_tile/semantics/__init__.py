"""What each operation does, by family."""
