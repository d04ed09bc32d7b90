"""Sends a call, and sends it again where the contract allows it.

====================  ===============================================================
429                   after the answer's Retry-After
500                   after a pause that doubles
502, 503, 504, or     the same; these come from gateways and broken connections, and
no whole answer       leave open whether the call was carried out
====================  ===============================================================

Only what can be repeated is sent again: a read, a dry run, or a write under an idempotency key, which
is the same for all attempts of a call, as is its body. Attempts end by count and by time.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import socket
import ssl
import time
import uuid
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .connections import Connections
from .errors import ScripdeskError, read_error
from .operations import API_VERSION
from .options import Answer, Call, Operation

ATTEMPT_TIMEOUT_MS = 30_000
TIMEOUT_MS = 180_000
MAX_RETRIES = 4
RETRY_DELAY_MS = 500
RETRY_DELAY_MS_MAX = 8_000
#: Callers that were refused together do not all come back together.
SPREAD = 0.1
PART_BYTES = 65_536

#: Statuses that are worth another attempt.
PASSING = frozenset([429, 500, 502, 503, 504])
#: Without an answer.
UNANSWERED = frozenset(["connection_broken", "timed_out"])

Taken = TypeVar("Taken")


class Received(NamedTuple):
    """A good answer with its whole body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Opened(NamedTuple):
    """A good answer whose body is still to come."""

    response: http.client.HTTPResponse
    connection: http.client.HTTPConnection

    def close(self) -> None:
        self.response.close()
        self.connection.close()


class _Request(NamedTuple):
    """What is sent, the same for every attempt."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    idempotency_key: Optional[str]
    is_repeatable: bool


class _Started(NamedTuple):
    response: http.client.HTTPResponse
    connection: http.client.HTTPConnection
    headers: Mapping[str, str]
    #: On the monotonic clock.
    ends_at: float


class Transport:
    def __init__(self, base_url: str, api_key: Optional[str], options: Mapping[str, Any]) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an https:// or http:// address")
        self._parts = parts
        self._api_key = api_key
        self._options = options
        self._connections = Connections()

    def close(self) -> None:
        self._connections.close()

    def receive(self, operation: Operation, call: Call) -> Received:
        def take(started: _Started) -> Received:
            content = _read_whole(started)
            self._keep(started)
            return Received(started.response.status, started.headers, content)

        return self._send(operation, call, self._build(operation, call, {}), take)

    def open(self, operation: Operation, call: Call, headers: Mapping[str, str]) -> Opened:
        """Only the beginning is tried again; whoever reads knows where to go on."""

        def take(started: _Started) -> Opened:
            return Opened(started.response, started.connection)

        return self._send(operation, call, self._build(operation, call, headers), take)

    def _build(self, operation: Operation, call: Call, more: Mapping[str, str]) -> _Request:
        options = call.options
        dry_run = bool(options.get("dry_run", False))
        target = self._parts.path.rstrip("/") + _fill_path(operation.path, call.path)
        query = {name: _to_text(value) for name, value in call.query.items() if value is not None}
        if query:
            target += "?" + urlencode(query)
        key: Optional[str] = None
        if operation.takes_key:
            key = options.get("idempotency_key")
            if key is None and not dry_run:
                key = str(uuid.uuid4())
        headers: Dict[str, str] = {
            "User-Agent": f"scripdesk-client-python/{API_VERSION}",
            "Accept-Encoding": "identity",
        }
        if self._api_key is not None and not operation.is_keyless:
            headers["X-Service-Key"] = self._api_key
        if options.get("request_id") is not None:
            headers["X-Request-ID"] = options["request_id"]
        if dry_run:
            headers["X-Dry-Run"] = "1"
        if key is not None:
            headers["Idempotency-Key"] = key
        body: Optional[bytes] = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode()
        return _Request(
            method=operation.method,
            target=target,
            headers={**headers, **more},
            body=body,
            idempotency_key=key,
            is_repeatable=operation.method == "GET" or dry_run or key is not None,
        )

    def _send(
        self,
        operation: Operation,
        call: Call,
        request: _Request,
        take: Callable[[_Started], Taken],
    ) -> Taken:
        limits = {**self._options, **{k: v for k, v in call.options.items() if v is not None}}
        timeout_s = limits.get("timeout_ms", TIMEOUT_MS) / 1_000
        attempt_s = limits.get("attempt_timeout_ms", ATTEMPT_TIMEOUT_MS) / 1_000
        retries_max = limits.get("max_retries", MAX_RETRIES)
        on_answer = limits.get("on_answer")
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            ends_at = min(time.monotonic() + attempt_s, began + timeout_s)

            def tell(status: int, headers: Mapping[str, str]) -> None:
                if on_answer is not None:
                    on_answer(Answer(operation.id, status, headers, attempt))

            try:
                return self._attempt(request, take, ends_at, tell)
            except ScripdeskError as error:
                error.operation = operation.id
                error.attempts = attempt
                error.idempotency_key = request.idempotency_key
                if not request.is_repeatable or not _is_passing(error) or attempt > retries_max:
                    raise
                pause_s = self._pause_after(error, attempt)
                # To wait for an attempt that there is no time for would only tell the caller later.
                if time.monotonic() - began + pause_s >= timeout_s:
                    raise
            time.sleep(pause_s)

    def _attempt(
        self,
        request: _Request,
        take: Callable[[_Started], Taken],
        ends_at: float,
        tell: Callable[[int, Mapping[str, str]], None],
    ) -> Taken:
        connection = self._connections.take() or self._connect(ends_at)
        try:
            _set_timeout(connection, ends_at)
            with _explaining():
                connection.request(
                    request.method, request.target, request.body, dict(request.headers)
                )
                _set_timeout(connection, ends_at)
                response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            tell(response.status, headers)
            started = _Started(response, connection, headers, ends_at)
            with _explaining():
                if 200 <= response.status < 300:
                    return take(started)
                content = _read_whole(started)
                self._keep(started)
        except BaseException:
            connection.close()
            raise
        # A redirect is an error too: it would carry the key to an address that nobody gave it to.
        raise read_error(response.status, headers, content)

    def _keep(self, started: _Started) -> None:
        """For the next call, when this one's answer was read to its end."""
        if started.response.will_close or not started.response.isclosed():
            started.connection.close()
        else:
            self._connections.give(started.connection, started.headers)

    def _connect(self, ends_at: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        timeout = _left(ends_at)
        if self._parts.scheme == "https":
            context = self._options.get("ssl_context") or ssl.create_default_context()
            return http.client.HTTPSConnection(
                host, self._parts.port, timeout=timeout, context=context
            )
        return http.client.HTTPConnection(host, self._parts.port, timeout=timeout)

    def _pause_after(self, error: ScripdeskError, attempt: int) -> float:
        first = self._options.get("retry_delay_ms", RETRY_DELAY_MS)
        backoff = min(first * 2 ** (attempt - 1), RETRY_DELAY_MS_MAX) / 1_000
        asked = error.retry_after_s
        if error.status == 429 and asked is not None:
            pause = asked
        else:
            pause = max(backoff, asked or 0)
        return pause * (1 + random.random() * SPREAD)


class _explaining:
    """Whatever breaks a connection is an error of this client."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: Any, _traceback: Any) -> None:
        if isinstance(error, (TimeoutError, socket.timeout)):
            raise ScripdeskError("timed_out", "no answer came in time") from error
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise ScripdeskError("connection_broken", "no whole answer came") from error


def _read_whole(started: _Started) -> bytes:
    """The body by its end; one that is cut short is none."""
    response = started.response
    parts = []
    while True:
        _set_timeout(started.connection, started.ends_at)
        part = response.read1(PART_BYTES)
        if not part:
            break
        parts.append(part)
    # What a length still promises was never sent.
    if response.length:
        raise http.client.IncompleteRead(b"".join(parts), response.length)
    return b"".join(parts)


def _set_timeout(connection: http.client.HTTPConnection, ends_at: float) -> None:
    if connection.sock is not None:
        connection.sock.settimeout(_left(ends_at))


def _left(ends_at: float) -> float:
    # A timeout of 0 would mean not to wait, and none to wait forever.
    return max(ends_at - time.monotonic(), 0.001)


def _is_passing(error: ScripdeskError) -> bool:
    if error.status is None:
        return error.slug in UNANSWERED
    return error.status in PASSING


def _fill_path(path: str, given: Mapping[str, str]) -> str:
    def fill(match: "re.Match[str]") -> str:
        value = given[match.group(1)]
        # Of these an address makes another path.
        if not isinstance(value, str) or value in ("", ".", ".."):
            raise ValueError(f"{match.group(1)} must name something")
        return quote(value, safe="")

    return re.sub(r"\{(\w+)\}", fill, path)


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
