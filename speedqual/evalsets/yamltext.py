"""YAML as people like to edit it: text of several lines as a block, keys in the order given."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["dump"]


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block; no anchors, which our own reader refuses."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _Dumper.represent_str)


def dump(value: Any) -> str:
    """``value`` as YAML text that ends with a line break."""
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)
