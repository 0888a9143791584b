"""Implementation of `tileas-chunk-tiles`: the plan, the rewrite."""
