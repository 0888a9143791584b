"""Global memory of a launch beside its arguments: of each CTA, of CTAs that share, a counter."""
