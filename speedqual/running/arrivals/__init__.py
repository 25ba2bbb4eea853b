"""When the requests of a load test start."""

from speedqual.running.arrivals.base import Arrival, ClosedArrivals, OpenLoop
from speedqual.running.arrivals.closed import ClosedLoop, Conversations, Swarm

__all__ = ["Arrival", "ClosedArrivals", "ClosedLoop", "Conversations", "OpenLoop", "Swarm"]
