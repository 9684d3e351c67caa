"""Lists that a researcher types as lines of text: personas and support links."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from bots.text import one_line

NONE = "none"
"""The line that stands for a persona of no lines."""
PERSONA_LINES, PERSONA_LONGEST = 3, 300
SUPPORT_LINKS, SUPPORT_LONGEST = 20, 300
SCHEMES = ("https", "http", "tel", "mailto")


def read_personas(text: str) -> list[list[str]]:
    """The personas in `text`, parted by blank lines, of 1 to 3 lines each; "none" alone is one without lines.

    Raises ValueError with what to change. No text: no personas.
    """
    personas: list[list[str]] = [[]]
    for line in (one_line(raw) for raw in text.splitlines()):
        if line:
            personas[-1].append(line)
        elif personas[-1]:
            personas.append([])
    found = [persona for persona in personas if persona]
    for number, persona in enumerate(found, 1):
        if len(persona) > PERSONA_LINES:
            raise ValueError(
                f"Persona {number} has {len(persona)} lines. Shorten it to {PERSONA_LINES}, "
                "or part it by a blank line."
            )
        if max(map(len, persona)) > PERSONA_LONGEST:
            raise ValueError(f"Persona {number} has a line of over {PERSONA_LONGEST} characters. Shorten it.")
    return [[] if [line.lower() for line in persona] == [NONE] else persona for persona in found]


def show_personas(personas: Sequence[Sequence[str]]) -> str:
    """Personas as `read_personas` reads them."""
    return "\n\n".join("\n".join(persona) or NONE for persona in personas)


def read_support(text: str) -> list[list[str]]:
    """The links in `text`, one a line as in "Words | https://...". Raises ValueError with what to change.

    Addresses are of the web, a telephone or a mailbox: another scheme could run a script in a worker's page.
    """
    links = []
    for number, line in enumerate(filter(None, map(one_line, text.splitlines())), 1):
        words, _, address = (part.strip() for part in line.rpartition("|"))
        if not words or not address:
            raise ValueError(f"Line {number} is not of the form: words | address.")
        if len(line) > SUPPORT_LONGEST:
            raise ValueError(f"Line {number} is over {SUPPORT_LONGEST} characters long. Shorten it.")
        if not _is_address(address):
            raise ValueError(
                f"The address in line {number} cannot be used. It begins with https://, tel: or mailto:."
            )
        links.append([words, address])
    if len(links) > SUPPORT_LINKS:
        raise ValueError(f"There are {len(links)} links. Keep at most {SUPPORT_LINKS}.")
    return links


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if parts.scheme not in SCHEMES or any(c.isspace() for c in address):
        return False
    return bool(host) if parts.scheme.startswith("http") else bool(parts.path)


def show_support(links: Sequence[Sequence[str]]) -> str:
    """Links as `read_support` reads them."""
    return "\n".join(f"{words} | {address}" for words, address in links)
