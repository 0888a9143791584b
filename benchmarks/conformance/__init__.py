"""Runs public test suites of cuTile through our drop-in, and says what passes and why not."""
