"""Implementation of `tileas-materialize-schedule`: stage rings, agents, loop rotation."""
