"""Pictures of skills and of runs."""
