"""A chat prompt as one string, for protocols that complete text."""

from __future__ import annotations

from speedqual.records import Message, Prompt

__all__ = ["images_of", "prompt_text", "text_of"]

_NAMES = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant"}


def text_of(message: Message) -> str:
    """The text parts of a message, joined by line ends."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(str(part.get("text", "")) for part in message.content if part.get("type") == "text")


def images_of(prompt: Prompt) -> list[str]:
    """The base64 data of all images, in order."""
    parts = (part for m in prompt.messages if isinstance(m.content, list) for part in m.content)
    return [str(part.get("data", "")) for part in parts if part.get("type") == "image"]


def prompt_text(prompt: Prompt) -> str:
    """One user message alone: its text as it is. More: ``System: …``, ``User: …`` paragraphs and ``Assistant:``.

    No chat template of a model is applied: only its server knows it.
    """
    if len(prompt.messages) == 1 and prompt.messages[0].role == "user":
        return text_of(prompt.messages[0])
    turns = [f"{_NAMES.get(m.role, m.role.capitalize())}: {text_of(m)}" for m in prompt.messages]
    return "\n\n".join([*turns, "Assistant:"])
