"""What a call is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, TypedDict

if TYPE_CHECKING:
    from .schemas import Event


class Operation(NamedTuple):
    """An operation as its method sends it."""

    id: str
    method: str
    #: With ``{name}`` for what the method is given first.
    path: str
    #: What it answers with: json, list, events, lines, text or bytes.
    kind: str
    #: The field of a page that holds its rows.
    items: Optional[str] = None
    #: Whether it is sent under an idempotency key.
    takes_key: bool = False
    #: Whether it is for everybody: the API key is not sent.
    is_keyless: bool = False


class Answer(NamedTuple):
    """An answer's head, for logs and meters."""

    operation: str
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    #: 1 for the first time it was sent.
    attempt: int


class StreamEvent(NamedTuple):
    #: Where to go on after this event, by ``last_event_id``.
    id: str
    event: str
    data: Any


class DeskEvent(NamedTuple):
    #: Where to go on after this event, by ``last_event_id``.
    id: str
    event: str
    #: Its ``event`` tells what its ``data`` is.
    data: "Event"


class CallOptions(TypedDict, total=False):
    #: How long a call may take with its attempts and the pauses between them. Default 180,000.
    timeout_ms: float
    #: How long one attempt may take. Default 30,000.
    attempt_timeout_ms: float
    #: How often a call is sent again at most. Default 4; 0 for never.
    max_retries: int
    #: Your own correlation id, up to 200 visible ASCII characters; echoed.
    request_id: str
    #: Called with every answer, also with those that are followed by another attempt.
    on_answer: Callable[[Answer], None]


class WriteOptions(CallOptions, total=False):
    #: Checks and computes as a real call would, and writes nothing.
    dry_run: bool


class CreateOptions(WriteOptions, total=False):
    #: Yours, where the intent outlives this process; otherwise one is made for the call.
    idempotency_key: str


class StreamOptions(CallOptions, total=False):
    #: The last id you have seen; what came after it is sent first.
    last_event_id: str
    #: The pause before a stream that ended is opened again; as the service says unless given.
    reconnect_ms: float
    #: A stream that says nothing for so long is taken for cut. Default 45,000.
    idle_timeout_ms: float


class Call(NamedTuple):
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    options: Mapping[str, Any]


def check_options(operation: Operation, options: Mapping[str, Any]) -> None:
    """An option that is misspelt, or that the operation does not take, would be ignored in silence."""
    if operation.kind == "events":
        allowed = StreamOptions.__annotations__
    elif operation.takes_key:
        allowed = CreateOptions.__annotations__
    else:
        allowed = (CallOptions if operation.method == "GET" else WriteOptions).__annotations__
    for name in options:
        if name not in allowed:
            raise TypeError(f"{operation.id} takes no option {name}")
