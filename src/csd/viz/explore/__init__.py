"""`csd explore`: a web page on which to pick a skill and watch it."""
