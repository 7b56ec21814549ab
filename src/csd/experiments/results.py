"""What the finished runs of a figure say: numbers, interquartile means, intervals, curves."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from csd import rundir
from csd.evaluation.statistics import improvement_interval, interval, iqm, mean
from csd.experiments.figures import Figure, Measure, Variant, World
from csd.experiments.job import read_result
from csd.experiments.plan import Cell
from csd.metrics import nested, series

ALL = "all"


class Measured(NamedTuple):
    """A cell whose run is finished, with what was measured of it."""

    cell: Cell
    result: dict[str, Any]
    rows: list[dict[str, Any]]


def read(cells: Sequence[Cell]) -> list[Measured]:
    """The finished ones."""
    found = ((cell, read_result(cell.job)) for cell in cells)
    return [
        Measured(cell, result, rundir.read_metrics(cell.job.run))
        for cell, result in found
        if result is not None
    ]


def number(measured: Measured, measure: Measure) -> float | None:
    """What a run scores by a measure."""
    if measure.final:
        value = nested(measured.result["evaluation"], measure.final)
    else:
        _, curve = series(measured.rows, measure.curve)
        value = curve[-1] if curve else None
    if value is None:
        return None
    return float(value > 0) if measure.any else float(value)


def panels(figure: Figure) -> Iterator[tuple[World, Measure]]:
    """What a figure shows: every measure of every world."""
    for world in figure.worlds:
        for measure in world.measures:
            yield world, measure


def values(
    found: Sequence[Measured], world: World, variant: Variant, measure: Measure
) -> dict[int, float]:
    """Seed -> number."""
    own = [m for m in found if m.cell.job.world == world and m.cell.job.variant == variant]
    numbers = {m.cell.job.config.seed: number(m, measure) for m in own}
    return {seed: value for seed, value in numbers.items() if value is not None}


def table(figure: Figure, found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The centre of every panel and variant, with its interval and its values.

    Interquartile means; where a run either does a thing or not, the share of runs that do.
    """
    rows = []
    for world, measure in panels(figure):
        for variant in figure.variants:
            own = values(found, world, variant, measure)
            if own:
                strata = [np.array(list(own.values()))]
                rows.append(_row(world.name, measure, variant, strata) | {"values": own})
    if figure.one_scale and len(figure.worlds) > 1:
        for variant in figure.variants:
            strata = _strata(figure, found, variant)
            if all(len(stratum) for stratum in strata):
                rows.append(_row(ALL, figure.worlds[0].measures[0], variant, strata))
    return rows


def _row(
    world: str, measure: Measure, variant: Variant, strata: list[np.ndarray]
) -> dict[str, Any]:
    centre, *bounds = (float(value) for value in interval(strata, mean if measure.any else iqm))
    row = {"world": world, "measure": measure.label, "variant": variant.name}
    row |= {"statistic": "mean" if measure.any else "IQM", "value": centre}
    return row | _bounds(bounds, strata) | {"runs": sum(len(stratum) for stratum in strata)}


def _bounds(bounds: Sequence[float], strata: Sequence[np.ndarray]) -> dict[str, float | None]:
    """An interval, unless there is but one seed: that says nothing about others."""
    low, high = bounds if max(len(stratum) for stratum in strata) > 1 else (None, None)
    return {"low": low, "high": high}


def _strata(figure: Figure, found: Sequence[Measured], variant: Variant) -> list[np.ndarray]:
    """A variant's numbers by the first measure of each world."""
    return [
        np.array(list(values(found, world, variant, world.measures[0]).values()))
        for world in figure.worlds
    ]


def improvements(figure: Figure, found: Sequence[Measured]) -> list[dict[str, Any]]:
    """How likely the first variant beats each other one, where both have runs."""
    first, *others = figure.variants
    rows = []
    for other in others:
        pairs = zip(_strata(figure, found, first), _strata(figure, found, other), strict=True)
        pairs = [(x, y) for x, y in pairs if len(x) and len(y)]
        if pairs:
            own, rival = zip(*pairs, strict=True)
            share, *bounds = improvement_interval(own, rival)
            row = {"variant": first.name, "over": other.name, "probability": share}
            rows.append(row | _bounds(bounds, [*own, *rival]) | {"worlds": len(pairs)})
    return rows


def curves(figure: Figure, found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The interquartile mean over episodes, with its interval, of measures that have a curve."""
    lines = []
    for world, measure in panels(figure):
        for variant in figure.variants:
            own = [m for m in found if (m.cell.job.world, m.cell.job.variant) == (world, variant)]
            drawn = [series(m.rows, measure.curve) for m in own if measure.curve]
            drawn = [(x, y) for x, y in drawn if x]
            if drawn:
                points = min(len(x) for x, _ in drawn)
                heights = np.array([y[:points] for _, y in drawn], float)
                centre, low, high = (part.tolist() for part in interval([heights]))
                line = {"world": world.name, "measure": measure.label, "variant": variant.name}
                line |= {"episodes": drawn[0][0][:points], "runs": len(drawn)}
                lines.append(line | {"value": centre, "low": low, "high": high})
    return lines
