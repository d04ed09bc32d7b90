"""Whether a delivery is the service's own.

It carries two signatures. X-Service-Signature is of the body alone. ``webhook-signature`` is of the
delivery's id, the time it was sent and the body: without it anybody who once saw a delivery could send
it again, or under another id. Both have to hold.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Optional, Union

from .errors import ScripdeskError

if TYPE_CHECKING:
    from .schemas import Event

TOLERANCE_S = 300
SECRET_PREFIX = "whsec_"


class VerifiedWebhook(NamedTuple):
    #: The same on every attempt and replay: do the work once for each.
    delivery_id: str
    event: "Event"


def verify_webhook(
    raw_body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Iterable[str]],
    *,
    tolerance_s: float = TOLERANCE_S,
    now_s: Optional[float] = None,
) -> VerifiedWebhook:
    """The event of a genuine delivery; raises ``forged_webhook`` for any other.

    ``raw_body`` is the bytes as they came. ``secret`` is the webhook's, or while it changes the new one
    and the old one.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(one.startswith(SECRET_PREFIX) for one in secrets):
        raise ValueError(f"the secret must begin with {SECRET_PREFIX}")
    given = {name.lower(): value for name, value in headers.items()}
    signatures = [
        given.get("x-service-signature", ""),
        given.get("x-service-signature-previous", ""),
    ]
    if not any(_is_one_of(signatures, _sign_body(one, raw_body)) for one in secrets):
        raise _forged("the signature is not of this body and secret")

    delivery_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    signed = f"{delivery_id}.{timestamp}.".encode() + raw_body
    stamped = given.get("webhook-signature", "").split(" ")
    if not any(_is_one_of(stamped, _sign_stamped(one, signed)) for one in secrets):
        raise _forged("the signature is not of this id and time")
    if given.get("x-service-delivery") != delivery_id:
        raise _forged("the delivery has two ids")
    now = time.time() if now_s is None else now_s
    if not timestamp.isdigit() or abs(now - int(timestamp)) > tolerance_s:
        raise _forged("it was sent too long ago, or a clock is wrong")
    return VerifiedWebhook(delivery_id, json.loads(raw_body))


class SignedWebhook(NamedTuple):
    body: bytes
    headers: Mapping[str, str]


def sign_webhook(
    event: Mapping[str, Any],
    secret: str,
    *,
    delivery_id: Optional[str] = None,
    now_s: Optional[float] = None,
) -> SignedWebhook:
    """A delivery as the service would sign it, to test a receiver with.

    The id and the time are made unless given.
    """
    body = json.dumps(event, ensure_ascii=False).encode()
    given = delivery_id or f"dlv_{uuid.uuid4().hex}"
    timestamp = str(int(time.time() if now_s is None else now_s))
    headers = {
        "Content-Type": "application/json",
        "X-Service-Event": str(event["event"]),
        "X-Service-Delivery": given,
        "X-Service-Signature": _sign_body(secret, body),
        "webhook-id": given,
        "webhook-timestamp": timestamp,
        "webhook-signature": _sign_stamped(secret, f"{given}.{timestamp}.".encode() + body),
    }
    return SignedWebhook(body, headers)


def _sign_body(secret: str, raw_body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()


def _sign_stamped(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret[len(SECRET_PREFIX) :])
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _is_one_of(given: Iterable[str], expected: str) -> bool:
    """In a time that does not depend on how much of a text is right."""
    wanted = expected.encode()
    return any(hmac.compare_digest(text.encode(), wanted) for text in given)


def _forged(message: str) -> ScripdeskError:
    return ScripdeskError("forged_webhook", message)
