"""Real models on this machine: a small model file, variants of it, and the llama.cpp server inside a child process.

``models.py`` fetches and lists files, ``variants.py`` makes weaker ones, ``server.py`` runs the engine,
``starter.py`` names the candidates of the quickstart.
"""

from __future__ import annotations

from speedqual.endpoints.local.models import LocalModel, fetch_model, list_models, model_folder
from speedqual.endpoints.local.server import LocalServer
from speedqual.endpoints.local.starter import quickstart_candidates
from speedqual.endpoints.local.variants import drop_layers

__all__ = [
    "LocalModel",
    "LocalServer",
    "drop_layers",
    "fetch_model",
    "list_models",
    "model_folder",
    "quickstart_candidates",
]
