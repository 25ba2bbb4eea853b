"""What must never reach a run folder: the keys that this run's candidates use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from speedqual.endpoints.registry import endpoint
from speedqual.records import Candidate

__all__ = ["secrets_of"]

_SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie")


def secrets_of(candidates: Iterable[Candidate], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the key variables, and of headers that carry a credential, longest first."""
    found: set[str] = set()
    for candidate in candidates:
        variables = (candidate.api_key_env, *endpoint(candidate.endpoint).key_envs)
        found |= {environ.get(variable, "").strip() for variable in variables if variable}
        for name, value in candidate.headers.items():
            if any(word in name.lower() for word in _SECRET_HEADERS):
                found |= {value.strip(), value.rpartition(" ")[2]}
    return tuple(sorted(filter(None, found), key=len, reverse=True))
