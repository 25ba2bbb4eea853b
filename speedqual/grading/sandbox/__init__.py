"""Running what a model wrote where it can do no harm. Nothing of ours is imported here but the records and the errors.

``best_backend()`` tells which sandbox holds on this machine; ``Sandbox(backend).run(job)`` uses it.
"""

from __future__ import annotations

from speedqual.grading.sandbox.jobs import Job, Limits, Result, Role
from speedqual.grading.sandbox.launch import Backend, Interpreter, interpreter, possible_backends
from speedqual.grading.sandbox.pool import Sandbox, SandboxLost
from speedqual.grading.sandbox.probe import Probe, best_backend, probe
from speedqual.grading.sandbox.service import Service

__all__ = [
    "Backend",
    "Interpreter",
    "Job",
    "Limits",
    "Probe",
    "Result",
    "Role",
    "Sandbox",
    "SandboxLost",
    "Service",
    "best_backend",
    "interpreter",
    "possible_backends",
    "probe",
]
