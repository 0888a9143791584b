"""Implementation of `tileas-chunk-tiles`: which dimensions go together, the plan, the rewrite."""
