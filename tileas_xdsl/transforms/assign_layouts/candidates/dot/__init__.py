"""Candidates of products: which instruction, by one CTA or two, and where accumulators are."""
