"""Implementation of `tileas-resolve-agent-boundary`: crossing values and their transfers."""
