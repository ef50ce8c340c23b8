"""Where it is interesting: the structure of the graph, without a store, a clock or a model."""

from topology.model import Limits, Scouted, Seed
from topology.scout import scout, shape_names

__all__ = ["Limits", "Scouted", "Seed", "scout", "shape_names"]
