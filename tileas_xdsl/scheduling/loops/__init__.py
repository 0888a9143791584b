"""From a loop to its scheduling problem, and from its schedule to the attribute."""
