"""Passes that overlap copies and products: schedules, stages, agents, execution units.

Their parts: `pipeline_loads`, `materialize_schedule`, `resolve_agent_boundary`; the schedule itself
is computed in `tileas_xdsl/scheduling`.
"""
