"""Rows of figures as text: aligned for a terminal, or Markdown."""

from typing import Any

Rows = list[dict[str, Any]]


def aligned(rows: Rows) -> str:
    """Columns under their names, for a terminal."""
    lines = _lines(rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    padded = ("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def markdown(rows: Rows) -> str:
    """The same for a page."""
    head, *body = _lines(rows)
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _lines(rows: Rows) -> list[list[str]]:
    columns = list(rows[0])
    return [columns, *([_cell(row[column]) for column in columns] for row in rows)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
