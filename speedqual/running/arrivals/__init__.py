"""When the requests of a load test start."""

from speedqual.running.arrivals.base import Arrival, ClosedArrivals, OpenLoop
from speedqual.running.arrivals.changing import Ramp, Steps
from speedqual.running.arrivals.closed import ClosedLoop, Conversations, Swarm
from speedqual.running.arrivals.mixed import Mixed, Traffic
from speedqual.running.arrivals.parse import EXAMPLES, Arrivals, arrivals
from speedqual.running.arrivals.steady import Constant, GammaBursts, Poisson
from speedqual.running.arrivals.trace import Trace, read_trace

__all__ = [
    "EXAMPLES",
    "Arrival",
    "Arrivals",
    "ClosedArrivals",
    "ClosedLoop",
    "Constant",
    "Conversations",
    "GammaBursts",
    "Mixed",
    "OpenLoop",
    "Poisson",
    "Ramp",
    "Steps",
    "Swarm",
    "Trace",
    "Traffic",
    "arrivals",
    "read_trace",
]
