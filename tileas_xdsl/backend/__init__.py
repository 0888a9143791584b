"""From thread-block code to what a GPU runs."""
