"""The whole error tree. Every message says what is wrong, where, and how to mend it.

::

    SpeedqualError                  exit code
    ├── UsageError                  2   an argument or option that makes no sense
    ├── ConfigError                 2   the settings TOML, a candidate, a price file
    ├── MissingKeyError             2   no API key where one is needed
    ├── MissingDependencyError      2   an optional package or program is absent
    ├── EvalSetError                2   a card, a row, a grader name
    ├── RunFolderError              2   a run folder that cannot be read or does not fit
    ├── RefusedError                2   a comparison or action that would mislead
    ├── EndpointError               3   the other side
    │   ├── UnreachableError        3   name, connection or TLS failed
    │   ├── AuthError               3   401 or 403
    │   ├── NotAStreamError         3   HTML or something else under status 200
    │   ├── RedirectError           3   the URL moved
    │   └── UnknownModelError       3   the endpoint has no such model
    ├── StorageError                4   the disk is full or not writable; what was written is kept
    └── GraderError                 4   a grader broke (a fault of ours or of a custom grader, never a wrong answer)
"""

from __future__ import annotations

__all__ = [
    "AuthError",
    "ConfigError",
    "EndpointError",
    "EvalSetError",
    "GraderError",
    "MissingDependencyError",
    "MissingKeyError",
    "NotAStreamError",
    "RedirectError",
    "RefusedError",
    "RunFolderError",
    "SpeedqualError",
    "StorageError",
    "UnknownModelError",
    "UnreachableError",
    "UsageError",
]


class SpeedqualError(Exception):
    """Base of all errors raised on purpose.

    ``where`` names a file, line, field or URL without its query; ``fix`` is one sentence in the imperative.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {self.fix}" if self.fix else head

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def _rebuild(kind: type[SpeedqualError], what: str, where: str, fix: str) -> SpeedqualError:
    return kind(what, where=where, fix=fix)


class UsageError(SpeedqualError):
    """An argument or option that makes no sense."""


class ConfigError(SpeedqualError):
    """Something in the settings TOML, a candidate or a price file is wrong."""


class MissingKeyError(SpeedqualError):
    """An endpoint needs an API key and the named environment variable is empty."""


class MissingDependencyError(SpeedqualError):
    """An optional package or program is absent."""


class EvalSetError(SpeedqualError):
    """A card, a row or a grader name of an eval set is wrong."""


class RunFolderError(SpeedqualError):
    """A run folder cannot be read, or does not fit what was asked."""


class RefusedError(SpeedqualError):
    """Doing what was asked would mislead."""


class EndpointError(SpeedqualError):
    """The endpoint cannot be used."""

    exit_code = 3


class UnreachableError(EndpointError):
    """Name look-up, connection or TLS failed."""


class AuthError(EndpointError):
    """The endpoint refused the key (401 or 403)."""


class NotAStreamError(EndpointError):
    """Status 200 with a body that is no stream of the protocol."""


class RedirectError(EndpointError):
    """The endpoint redirects; redirects are refused."""


class UnknownModelError(EndpointError):
    """The endpoint knows no model of this name."""


class StorageError(SpeedqualError):
    """The run folder cannot be written; what was written before is kept."""

    exit_code = 4


class GraderError(SpeedqualError):
    """A grader broke. Counted apart from wrong answers."""

    exit_code = 4
