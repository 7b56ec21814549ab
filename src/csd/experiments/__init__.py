"""Each figure of the paper as data, and what trains, measures and draws it."""
