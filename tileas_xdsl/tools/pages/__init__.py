"""Explanations and HTML reports of kernels, and the server of a page."""
