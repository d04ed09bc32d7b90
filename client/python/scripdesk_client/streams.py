"""Streams that outlive their connection.

open    with the last id that was seen; a stream that cannot be opened is tried again as any read
read    events as they come; heartbeats and comments only show that the stream is alive
cut     an end, a broken connection or a long silence: after a pause it is opened again

The service sends what came after an id, so nothing is missed and nothing comes twice.
"""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Dict, Iterator, List

from .errors import ScripdeskError
from .options import Call, Operation, StreamEvent
from .transport import Opened, Transport

IDLE_TIMEOUT_MS = 45_000
RECONNECT_MS = 2_000
#: An opened stream is worth more patience than a call.
REOPENING = {"max_retries": 30, "timeout_ms": 600_000}
#: More than any line has.
LINE_BYTES_MAX = 16_777_216


def follow_stream(transport: Transport, operation: Operation, call: Call) -> Iterator[StreamEvent]:
    options: Dict[str, Any] = {**REOPENING, **call.options}
    idle_s = options.get("idle_timeout_ms", IDLE_TIMEOUT_MS) / 1_000
    last_id = options.get("last_event_id")
    reconnect_ms = options.get("reconnect_ms", RECONNECT_MS)
    while True:
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        opened = transport.open(operation, call._replace(options=options), headers)
        try:
            for fields in _read_blocks(opened, idle_s):
                last_id = fields.get("id") or last_id
                if fields.get("retry", "").isdigit() and "reconnect_ms" not in options:
                    reconnect_ms = int(fields["retry"])
                event = fields.get("event", "message")
                if fields.get("data", "") != "" and event != "heartbeat":
                    yield StreamEvent(last_id or "", event, json.loads(fields["data"]))
        finally:
            opened.close()
        time.sleep(reconnect_ms / 1_000)


def read_lines(transport: Transport, operation: Operation, call: Call) -> Iterator[str]:
    """The lines of an answer as they come; one that is cut raises."""
    opened = transport.open(operation, call, {})
    try:
        while True:
            try:
                line = opened.response.readline(LINE_BYTES_MAX)
            except (OSError, http.client.HTTPException) as error:
                raise ScripdeskError("connection_broken", "the answer broke off") from error
            if not line:
                return
            yield line.decode().rstrip("\n")
    finally:
        opened.close()


def _read_blocks(opened: Opened, idle_s: float) -> Iterator[Dict[str, str]]:
    """The blocks of one connection, until it is cut; a block that is cut is none."""
    if opened.connection.sock is not None:
        opened.connection.sock.settimeout(idle_s)
    lines: List[str] = []
    while True:
        try:
            line = opened.response.readline(LINE_BYTES_MAX)
        except (OSError, http.client.HTTPException):
            return
        if not line.endswith(b"\n"):
            return
        text = line.decode().rstrip("\r\n")
        if text != "":
            lines.append(text)
            continue
        if lines:
            yield _parse_block(lines)
        lines = []


def _parse_block(lines: List[str]) -> Dict[str, str]:
    fields: Dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data" and "data" in fields:
            fields["data"] += "\n" + value
        elif name != "":
            fields[name] = value
    return fields
