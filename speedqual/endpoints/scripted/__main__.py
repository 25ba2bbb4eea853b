"""The child of ``serve_in_process``: settings come as one line of JSON on stdin, the port goes to stdout."""

from __future__ import annotations

import asyncio
import gc
import json
import sys

from speedqual.endpoints.scripted.process import scripts_from_dict
from speedqual.endpoints.scripted.server import ScriptedServer


async def serve(settings: dict[str, object]) -> None:
    """Serve until stdin ends."""
    scripts = scripts_from_dict(settings.pop("scripts"))  # type: ignore[arg-type]
    async with ScriptedServer(scripts, **settings) as server:  # type: ignore[arg-type]
        sys.stdout.write(json.dumps({"port": int(server.root_url.rpartition(":")[2])}) + "\n")
        sys.stdout.flush()
        gc.collect()
        gc.freeze()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Read the settings and serve."""
    asyncio.run(serve(json.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
