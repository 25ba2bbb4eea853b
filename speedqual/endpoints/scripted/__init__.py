"""The scripted endpoint: plays a schedule with known truth and logs when it really sent what.

``ScriptedServer`` runs in the caller's event loop, ``serve_in_process`` in a process of its own, ``speedqual
serve-script`` from the shell. Scripts, tests, docs and other people's tools are calibrated against it.
"""

from speedqual.endpoints.scripted.process import Served, serve_in_process
from speedqual.endpoints.scripted.script import Asked, Rule, Script, Stall, script_from_words
from speedqual.endpoints.scripted.server import ScriptedServer, Scripts

__all__ = [
    "Asked",
    "Rule",
    "Script",
    "ScriptedServer",
    "Scripts",
    "Served",
    "Stall",
    "script_from_words",
    "serve_in_process",
]
