"""What the client raises."""

from __future__ import annotations

import json
import math
from typing import Any, Mapping, Optional


class ScripdeskError(Exception):
    """Everything that this client raises. Switch on ``slug``; the set is open.

    The client's own slugs are ``connection_broken`` and ``timed_out`` (nobody knows whether the call
    was carried out), ``unexpected_answer`` (not the service's, such as a gateway's page) and
    ``forged_webhook``.
    """

    def __init__(
        self,
        slug: str,
        message: str,
        *,
        status: Optional[int] = None,
        code: Optional[str] = None,
        detail: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after_s: Optional[float] = None,
    ) -> None:
        super().__init__(f"{slug}: {message}")
        #: The answer's ``code`` if it has one, otherwise its ``error``.
        self.slug = slug
        self.message = message
        #: None when there was no answer.
        self.status = status
        self.code = code
        self.detail = detail
        #: What to quote when you ask for help.
        self.request_id = request_id
        #: How long the service wants to be left alone.
        self.retry_after_s = retry_after_s
        #: The operation that was called.
        self.operation: Optional[str] = None
        #: How often it was sent.
        self.attempts = 0
        #: What it was sent under: call again with it, and nothing is done twice.
        self.idempotency_key: Optional[str] = None


def read_error(status: int, headers: Mapping[str, str], content: bytes) -> ScripdeskError:
    """What an answer that is no success says."""
    body = _read_body(headers, content)
    code = _read_text(body.get("code"))
    detail = body.get("detail") if isinstance(body.get("detail"), dict) else None
    asked = headers.get("retry-after") or (detail or {}).get("retry_after_s")
    return ScripdeskError(
        code or _read_text(body.get("error")) or "unexpected_answer",
        _read_text(body.get("message")) or f"the answer was {status}",
        status=status,
        code=code,
        detail=detail,
        request_id=_read_text(body.get("request_id")) or headers.get("x-request-id"),
        retry_after_s=_read_seconds(asked),
    )


def _read_body(headers: Mapping[str, str], content: bytes) -> Mapping[str, Any]:
    if not headers.get("content-type", "").startswith("application/json"):
        return {}
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _read_text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value != "" else None


def _read_seconds(value: Any) -> Optional[float]:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 and math.isfinite(seconds) else None
