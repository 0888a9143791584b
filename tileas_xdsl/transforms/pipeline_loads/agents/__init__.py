"""Division of loops into a producer and a consumer agent, and the rings of stages between them."""
