"""The shapes of the benchmark: what overflows a context, each in the format of the tool that it comes from."""

from bench.overflow import (
    shapes_issues,
    shapes_lists,
    shapes_logs,
    shapes_manual,
    shapes_maps,
    shapes_pods,
    shapes_rows,
    shapes_spans,
)
from bench.overflow.question import KINDS, SHAPES, Question, Shape, shapes

__all__ = [
    "KINDS",
    "SHAPES",
    "Question",
    "Shape",
    "shapes",
    "shapes_issues",
    "shapes_lists",
    "shapes_logs",
    "shapes_manual",
    "shapes_maps",
    "shapes_pods",
    "shapes_rows",
    "shapes_spans",
]
