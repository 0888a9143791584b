"""Vector clocks, mbarriers, named barriers, pipeline stages and asynchronous tokens."""
