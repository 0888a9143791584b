"""Settings of the whole suite."""

from hypothesis import settings

# How long an example takes says nothing on a machine that others use too.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
