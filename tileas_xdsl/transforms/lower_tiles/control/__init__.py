"""Handlers of agents, pipelines, structured control flow and messages."""
