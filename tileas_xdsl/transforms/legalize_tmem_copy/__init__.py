"""Copies to and from tensor memory, each as the instructions that there are."""
