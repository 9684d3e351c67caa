"""Which web addresses a bot may have, checked when it is entered and again when a connection is opened."""

import ipaddress
import os
import re
import socket
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from bots.errors import ConfigError

SWITCH = "BADCOLLECT_ALLOW_INTERNAL_BOTS"
"""Environment variable: `1` lets bots be on this machine or in its own network."""

REFUSED = f"This address is on this machine or in its own network. To allow that, start with {SWITCH}=1."

_INTERNAL_NAMES = ("localhost", "local", "internal", "localdomain")
_SECRET_PARAMETERS = re.compile(r"key|token|secret|passw|sig$|signature|auth", re.IGNORECASE)
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_CLOUD_ONLY = (ipaddress.IPv4Network("168.63.129.16/32"), ipaddress.IPv4Network("192.0.0.0/24"))

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


class RefusedAddressError(OSError):
    """A connection to an internal address was not opened. Always the same text, so that the refusals of
    several addresses of one name stay one error.
    """

    def __init__(self) -> None:
        super().__init__(REFUSED)


def internal_allowed() -> bool:
    """Whether the operator allows internal addresses; read at each call."""
    return os.environ.get(SWITCH) == "1"


def is_internal(address: str) -> bool:
    """Whether an IP address, as text, is one that only this machine or its network reaches.

    Everything counts that IANA's registries do not call global unicast (loopback, private, link-local with
    the metadata services, carrier-grade NAT, multicast, reserved), also inside an IPv6 address that stands
    for an IPv4 one (mapped, 6to4, Teredo, NAT64), and two ranges that are global by the registry but belong
    to cloud machines' metadata services (Azure, Oracle). Raises ValueError for text that is no IP address.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is None:
            return ip not in _GLOBAL_V6 or not ip.is_global
        ip = inner
    return not ip.is_global or ip.is_multicast or any(ip in network for network in _CLOUD_ONLY)


def open_socket(info: AddressInfo) -> socket.socket:
    """The socket for one resolved address. Raises RefusedAddressError for an internal one, unless allowed.

    This is the check that counts: it sees the address that is connected to, so neither a name that
    resolves to something else a second later nor an odd spelling of an address gets around it.
    """
    family, kind, protocol, _, where = info
    if not internal_allowed() and is_internal(str(where[0])):
        raise RefusedAddressError
    return socket.socket(family, kind, protocol)


def check_url(value: object) -> str:
    """A bot's address as entered, when it can be used; no name is looked up. Raises ConfigError."""
    url = value.strip() if isinstance(value, str) else ""
    example = "Enter the full address, for example http://localhost:8000/v1/chat/completions."
    if not url or len(url) > 2000 or "\\" in url or not all("!" <= c <= "~" for c in url):
        raise ConfigError(f"url: {example}")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"url: this is not an address. {example}") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(f"url: it has to begin with http:// or https:// and a machine's name. {example}")
    if "@" in parts.netloc:
        raise ConfigError("url: leave out the name and password before the @; use key_env for a key.")
    if any(_SECRET_PARAMETERS.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise ConfigError("url: leave out the key or token after the question mark; use key_env for a key.")
    if not internal_allowed() and _names_internal(host):
        raise ConfigError(f"url: {REFUSED}")
    return url


def _names_internal(host: str) -> bool:
    """Whether it shows without a look-up that a host is internal."""
    name = host.rstrip(".").lower()
    if name.rpartition(".")[2] in _INTERNAL_NAMES:
        return True
    try:
        return is_internal(name)
    except ValueError:
        pass
    try:  # 127.1 and 2130706433 are spellings of 127.0.0.1
        return is_internal(socket.inet_ntoa(socket.inet_aton(name)))
    except OSError:
        return False
