"""Connections that are kept between calls, so that a call does not pay for a handshake.

A server ends what is idle for too long, and a call that meets the end is broken. So a connection is
used again only while the server has promised to keep it, and while nothing has come on it.
"""

from __future__ import annotations

import collections
import http.client
import re
import selectors
import time
from typing import Deque, Mapping, NamedTuple, Optional

#: What a server that says nothing is trusted with.
IDLE_S = 4.0
IDLE_S_MAX = 60.0
KEPT_MAX = 16


class _Kept(NamedTuple):
    connection: http.client.HTTPConnection
    #: On the monotonic clock.
    until: float


class Connections:
    """Those that are idle; several threads may take and give."""

    def __init__(self) -> None:
        self._kept: Deque[_Kept] = collections.deque()

    def take(self) -> Optional[http.client.HTTPConnection]:
        while self._kept:
            try:
                connection, until = self._kept.pop()
            except IndexError:
                return None
            if time.monotonic() < until and _is_quiet(connection):
                return connection
            connection.close()
        return None

    def give(self, connection: http.client.HTTPConnection, headers: Mapping[str, str]) -> None:
        promised = re.search(r"timeout=(\d+)", headers.get("keep-alive", ""))
        idle_s = min(float(promised.group(1)) - 1, IDLE_S_MAX) if promised else IDLE_S
        if len(self._kept) >= KEPT_MAX:
            connection.close()
        else:
            self._kept.append(_Kept(connection, time.monotonic() + idle_s))

    def close(self) -> None:
        while self._kept:
            self._kept.pop().connection.close()


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """Whether nothing has come; on an idle connection that would be its end."""
    if connection.sock is None:
        return False
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return not selector.select(0)
