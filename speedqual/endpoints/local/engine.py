"""The child process: load one model into llama.cpp's own server, say where it listens, end when stdin closes."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main(argument: str) -> None:
    """Run until the parent is gone. Prints one JSON line: ``{"address": …}`` or ``{"error": …}``."""
    try:
        import xllamacpp
    except ImportError:
        _say({"error": "no engine"})
        return
    try:
        server = xllamacpp.Server(_params(xllamacpp, json.loads(argument)))
    except Exception as fault:  # the engine raises plain RuntimeErrors; the parent words the message
        _say({"error": type(fault).__name__})
        os._exit(1)
    _say({"address": server.listening_address})
    sys.stdin.read()
    os._exit(0)  # the engine's own tear-down can wait for open streams


def _params(xllamacpp: Any, settings: dict[str, Any]) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}  # else the file's path is the model's name in every reply
    params.n_ctx = settings["n_ctx"]
    params.n_parallel = settings["slots"]
    params.kv_unified = False  # each slot its own share of the context
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = settings["port"]
    params.ui = False
    params.cache_ram_mib = 0  # a prefix hit comes from a live slot or not at all
    params.fit_params = False
    params.n_gpu_layers = 0
    params.verbosity = 0
    return params


def _say(message: dict[str, str]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
