"""Layouts as people see them: text, pictures, summaries."""
