"""Controllers: they choose among frozen skills, one every few steps, to solve a task."""
