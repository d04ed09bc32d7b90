"""What an answer says beside its body, by the answer itself."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional


class RateLimit(NamedTuple):
    """What the key may still call."""

    plan: Optional[str]
    #: Calls allowed in 60 seconds.
    limit: Optional[int]
    #: Calls left of them.
    remaining: Optional[int]
    #: Seconds until all of them are free again.
    reset_s: Optional[int]
    #: Calls allowed in the month, and made in it.
    quota: Optional[int]
    quota_used: Optional[int]


class AnswerHead(NamedTuple):
    status: int
    #: What to quote when you ask for help.
    request_id: Optional[str]
    rate_limit: RateLimit
    #: Whether an earlier call with this idempotency key made it.
    replayed: bool
    #: Whether a list has more rows than it shows.
    truncated: bool
    #: Until when the price of a quote binds, on both sides.
    quote_valid_until: Optional[str]
    #: All of them; names in lower case.
    headers: Mapping[str, str]


class HeadedAnswer(Dict[str, Any]):
    """An answer as on the wire, which knows its head."""

    status: int
    headers: Mapping[str, str]


def read_head(answer: Mapping[str, Any]) -> AnswerHead:
    """The head of an answer that a method has returned, of a page too; a file has none."""
    if not isinstance(answer, HeadedAnswer):
        raise TypeError("this is no answer of a method")
    headers = answer.headers

    def count(name: str) -> Optional[int]:
        return int(headers[name]) if name in headers else None

    return AnswerHead(
        status=answer.status,
        request_id=headers.get("x-request-id"),
        rate_limit=RateLimit(
            plan=headers.get("x-ratelimit-plan"),
            limit=count("x-ratelimit-limit"),
            remaining=count("x-ratelimit-remaining"),
            reset_s=count("x-ratelimit-reset"),
            quota=count("x-ratelimit-quota"),
            quota_used=count("x-ratelimit-quota-used"),
        ),
        replayed=headers.get("idempotent-replayed") == "true",
        truncated=headers.get("x-truncated") == "true",
        quote_valid_until=headers.get("x-quote-valid-until"),
        headers=headers,
    )
