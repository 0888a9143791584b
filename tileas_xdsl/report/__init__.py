"""A kernel as one page: its source, every level of IR, layouts, schedules, runs and findings.

`recording` watches a compilation, `building` puts a report together from it, `page` writes it as
one self-contained HTML file; the page's own code is in `resources/`.
"""
