"""Arguments to dataclasses, by tyro, with mistakes reduced to one line."""

import contextlib
import io
import itertools
import re
from collections.abc import Callable
from typing import TypeVar

import tyro

from csd.errors import UserError

T = TypeVar("T")


def parse(cls: Callable[..., T], args: list[str], prog: str) -> T:
    """tyro's parser with mistakes reduced to one line."""
    captured = io.StringIO()
    config = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    try:
        with contextlib.redirect_stderr(captured):
            return tyro.cli(cls, args=args, prog=prog, config=config)
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise UserError(one_line(captured.getvalue(), prog)) from None


def one_line(text: str, prog: str) -> str:
    """The message inside tyro's box, with its suggestion."""
    if "Missing from" in text:
        missing = re.findall(
            r"^│ {5}(\S.*?)\s*│$", text.split("For full helptext")[0], re.MULTILINE
        )
        return f"name what it is for: `{' '.join([prog, *missing])}` (see `{prog} --help`)"
    lines = [re.sub(r"^[│╭╰─\s]+|[│╮╯─\s]+$", "", line) for line in text.splitlines()]
    behind_title = itertools.dropwhile(_is_rule, lines[1:])
    body = itertools.takewhile(lambda line: not _is_rule(line), behind_title)
    message = " ".join(body) or "bad arguments"
    hint = ""
    if any(line.startswith("Perhaps you meant") for line in lines):
        index = next(i for i, line in enumerate(lines) if line.startswith("Perhaps you meant"))
        flag = re.search(r"--[\w-]+", " ".join(lines[index + 1 : index + 3]))
        hint = f"; did you mean {flag[0]}?" if flag else ""
    return f"{message.rstrip('.')}{hint} (see `{prog} --help`)"


def _is_rule(line: str) -> bool:
    return not line.strip("-")


def option(args: list[str], name: str, default: str) -> str:
    """The value of `--name` before the full parse; of several the last counts."""
    value = default
    for index, arg in enumerate(args):
        if arg == f"--{name}" and index + 1 < len(args):
            value = args[index + 1]
        elif arg.startswith(f"--{name}="):
            value = arg.split("=", 1)[1]
    return value
