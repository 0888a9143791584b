"""The dialects, a folder each."""
