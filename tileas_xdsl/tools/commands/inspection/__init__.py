"""Commands that show why a kernel is as it is: text, pictures, a page that follows its file.

They print facts of `explanation/`, schedules of `scheduling/`, layouts of `layout/`, pages of
`report/`; `serve` makes the page of `report` anew whenever the file is saved.
"""
