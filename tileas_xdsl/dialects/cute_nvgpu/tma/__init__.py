"""Copies through tensor maps (TMA): copies, partitions, tensor maps made, addressed, updated."""
