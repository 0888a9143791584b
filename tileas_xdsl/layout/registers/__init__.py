"""Register layouts: which thread holds what, and how its registers access memory."""
