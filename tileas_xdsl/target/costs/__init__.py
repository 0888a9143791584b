"""What instructions cost: latencies, issue slots, counts, units."""
