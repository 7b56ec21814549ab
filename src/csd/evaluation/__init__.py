"""Did it learn? Measures of skills and of runs."""
