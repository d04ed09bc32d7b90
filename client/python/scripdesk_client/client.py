"""The service as an object: a method for each operation, named as in its document."""

from __future__ import annotations

import json
import ssl
from typing import Any, Callable, Optional

from .errors import ScripdeskError
from .operations import Operations
from .options import Answer, Call, Operation, check_options
from .paging import PagedList
from .streams import follow_stream, read_lines
from .transport import Received, Transport

PAGE_SIZE = 100


class Scripdesk(Operations):
    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        timeout_ms: Optional[float] = None,
        attempt_timeout_ms: Optional[float] = None,
        max_retries: Optional[int] = None,
        retry_delay_ms: Optional[float] = None,
        on_answer: Optional[Callable[[Answer], None]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        given = {
            "timeout_ms": timeout_ms,
            "attempt_timeout_ms": attempt_timeout_ms,
            "max_retries": max_retries,
            "retry_delay_ms": retry_delay_ms,
            "on_answer": on_answer,
            "ssl_context": ssl_context,
        }
        options = {name: value for name, value in given.items() if value is not None}
        self._transport = Transport(base_url, api_key, options)

    def _run(self, operation: Operation, call: Call) -> Any:
        check_options(operation, call.options)
        if operation.kind == "events":
            return follow_stream(self._transport, operation, call)
        if operation.kind == "lines":
            return read_lines(self._transport, operation, call)
        if operation.kind == "list" and not _asks_for_format(call):
            return self._list(operation, call)
        return self._read(operation, call)

    def _read(self, operation: Operation, call: Call) -> Any:
        return _decode(operation, call, self._transport.receive(operation, call))

    def _list(self, operation: Operation, call: Call) -> PagedList[Any, Any]:
        """Asks for paging even where the caller did not: a whole list may be longer than an answer."""

        def read(cursor: Optional[str]) -> Any:
            more = {} if cursor is None else {"cursor": cursor}
            query = {"limit": PAGE_SIZE, **call.query, **more}
            return self._read(operation, call._replace(query=query))

        return PagedList(operation.items or "", read)


def _asks_for_format(call: Call) -> bool:
    return call.query.get("format", "json") != "json"


def _decode(operation: Operation, call: Call, received: Received) -> Any:
    kind = received.headers.get("content-type", "")
    if kind.startswith("application/json"):
        try:
            return json.loads(received.content)
        except ValueError as error:
            raise _unexpected(operation, received) from error
    if operation.kind in ("json", "list") and not _asks_for_format(call):
        raise _unexpected(operation, received)
    return received.content.decode() if kind.startswith("text/") else received.content


def _unexpected(operation: Operation, received: Received) -> ScripdeskError:
    error = ScripdeskError(
        "unexpected_answer",
        "the answer is not the JSON that the service would send",
        status=received.status,
        request_id=received.headers.get("x-request-id"),
    )
    error.operation = operation.id
    return error
