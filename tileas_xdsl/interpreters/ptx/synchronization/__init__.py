"""mbarriers, named barriers of a CTA, and the barrier of a cluster."""
