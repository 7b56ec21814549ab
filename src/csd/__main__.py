"""`python -m csd`."""

from csd.cli import main

main()
