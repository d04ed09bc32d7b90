"""The service as an object: a method for each operation, named as in its document."""

from __future__ import annotations

import json
import ssl
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional

from .errors import ScripdeskError
from .head import HeadedAnswer
from .operations import Operations
from .options import Answer, Call, Operation, check_options
from .paging import PagedList
from .streams import follow_stream, read_lines
from .transport import Received, Transport

if TYPE_CHECKING:
    from . import schemas

PAGE_SIZE = 100
POLL_MS = 1_000
POLL_MS_MAX = 30_000
#: The states in which a settlement has ended.
ENDED = frozenset(["settled", "failed", "reversed"])


class SettledOrder(NamedTuple):
    order: "schemas.Order"
    #: All of its deals, in the order they were made; none where nothing was dealt.
    settlements: "List[schemas.Settlement]"


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
        given: Dict[str, Any] = {
            "timeout_ms": timeout_ms,
            "attempt_timeout_ms": attempt_timeout_ms,
            "max_retries": max_retries,
            "retry_delay_ms": retry_delay_ms,
            "on_answer": on_answer,
            "ssl_context": ssl_context,
        }
        options = {name: value for name, value in given.items() if value is not None}
        self._transport = Transport(base_url, api_key, options)

    def close(self) -> None:
        """Closes the connections that are kept for the next call."""
        self._transport.close()

    def __enter__(self) -> Scripdesk:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def until_settled(
        self, order_id: str, *, within_ms: float = float("inf"), poll_ms: float = POLL_MS
    ) -> SettledOrder:
        """Waits until the order rests no more and each of its deals is settled, failed or reversed.

        It looks at first every ``poll_ms`` and later every thirty seconds. After ``within_ms`` it
        raises ``timed_out``; without it, it waits for as long as it takes.
        """
        began = time.monotonic()
        pause_ms = poll_ms
        while True:
            order = self.read_order(order_id)
            if order["status"] != "open":
                settlements = [self.read_settlement(one) for one in order["settlement_ids"]]
                if all(one["status"] in ENDED for one in settlements):
                    return SettledOrder(order, settlements)
            if (time.monotonic() - began) * 1_000 + pause_ms > within_ms:
                told = f"order {order_id} is {order['status']} and not settled yet"
                raise ScripdeskError("timed_out", told)
            time.sleep(pause_ms / 1_000)
            pause_ms = min(pause_ms * 2, POLL_MS_MAX)

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
        received = self._transport.receive(operation, call)
        answer = _decode(operation, call, received)
        if not isinstance(answer, dict):
            return answer
        headed = HeadedAnswer(answer)
        headed.status = received.status
        headed.headers = received.headers
        return headed

    def _list(self, operation: Operation, call: Call) -> PagedList[Any, Any]:
        """Asks for paging even where the caller did not: a whole list may be longer than an answer."""

        def read(cursor: Optional[str]) -> Any:
            more: Dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            query = {"limit": PAGE_SIZE, **call.query, **more}
            return self._read(operation, call._replace(query=query))

        return PagedList(operation.items or "", read)


def _asks_for_format(call: Call) -> bool:
    return bool(call.query.get("format", "json") != "json")


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
