"""The client of Scripdesk, a trading service for duty credit scrips."""

from .client import Scripdesk, SettledOrder
from .errors import ScripdeskError
from .head import AnswerHead, RateLimit, read_head
from .operations import OPERATIONS
from .options import Answer, DeskEvent, StreamEvent
from .paging import PagedList
from .webhooks import SignedWebhook, VerifiedWebhook, sign_webhook, verify_webhook

__all__ = [
    "OPERATIONS",
    "Answer",
    "AnswerHead",
    "DeskEvent",
    "PagedList",
    "RateLimit",
    "Scripdesk",
    "ScripdeskError",
    "SettledOrder",
    "SignedWebhook",
    "StreamEvent",
    "VerifiedWebhook",
    "read_head",
    "sign_webhook",
    "verify_webhook",
]
