"""Implementation of `tileas-chunk-tiles`: the plan, the rewrite, and what is loaded again."""
