"""Modules of the user's own, by name."""

import importlib
import os
import sys
from types import ModuleType

from csd.errors import UserError


def load(name: str, purpose: str) -> ModuleType:
    """A module from the working directory or anything installed."""
    here = os.getcwd()
    sys.path.insert(0, here)
    importlib.invalidate_caches()  # the file may be younger than Python's list of the folder
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise UserError(f"cannot import {name!r} for {purpose}: {one_line(error)}") from error
    finally:
        sys.path.remove(here)


def one_line(error: Exception) -> str:
    """Kind and first line of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
