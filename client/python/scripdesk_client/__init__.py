"""The client of Scripdesk, a trading service for duty credit scrips."""

from .client import Scripdesk
from .errors import ScripdeskError
from .operations import OPERATIONS
from .options import Answer, StreamEvent
from .paging import PagedList
from .webhooks import VerifiedWebhook, verify_webhook

__all__ = [
    "OPERATIONS",
    "Answer",
    "PagedList",
    "Scripdesk",
    "ScripdeskError",
    "StreamEvent",
    "VerifiedWebhook",
    "verify_webhook",
]
