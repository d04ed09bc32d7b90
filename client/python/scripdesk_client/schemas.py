# Written by `npm run golden` from docs/openapi.json. Do not edit.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union, final

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class TradingError(TypedDict):
    """A business rule refused: error is request_error, the slug is in code."""
    #: The stable name of the error.
    error: str
    #: For people; its wording may change.
    message: str
    #: Stable slug; prefer it to error when present. Open set.
    code: str
    #: Facts about the error, by reason.
    detail: NotRequired[Dict[str, Any]]


class EdgeError(TypedDict):
    """The key or the meter refused: the slug is in both error and code."""
    #: The stable name of the error.
    error: str
    #: For people; its wording may change.
    message: str
    #: Stable slug; prefer it to error when present. Open set.
    code: str
    #: Facts about the error, by reason.
    detail: NotRequired[Dict[str, Any]]


class TransportError(TypedDict):
    """HTTP itself refused or the service failed: the slug is in error, no code."""
    #: The stable name of the error.
    error: str
    #: For people; its wording may change.
    message: str
    #: As the X-Request-ID header.
    request_id: str
    #: Facts about the error, by reason.
    detail: NotRequired[Dict[str, Any]]


StateTablesLifecyclesItemMovesItem = TypedDict(
    "StateTablesLifecyclesItemMovesItem",
    {
        # The action, as allowed_actions names it.
        "action": "str",
        # The states that it can start from.
        "from": "List[str]",
        # The state that it leads to.
        "to": "str",
        # Who makes the move, such as the caller, the operator, the bank or the clock.
        "by": "str",
    },
)


class StateTablesLifecyclesItem(TypedDict):
    #: The kind of thing that has these states.
    noun: str
    #: The states that it can begin in.
    initial: List[str]
    #: Every state that it can be in.
    states: List[str]
    #: What can happen to it, and who does it.
    moves: List[StateTablesLifecyclesItemMovesItem]


class StateTables(TypedDict):
    """Every state and every move of every resource, as data."""
    #: One table per lifecycle; the service decides by the same tables.
    lifecycles: List[StateTablesLifecyclesItem]


class WhoAmI(TypedDict):
    """Who the service takes the caller for."""
    #: The key's id.
    key_id: str
    #: What kind of key this is.
    kind: Union[Literal["root", "sub_account", "app"], str]
    #: Chosen by the key's prefix.
    environment: Union[Literal["live", "sandbox"], str]
    #: The firm the key is bound to.
    firm_id: str
    #: The firm whose desk this is.
    desk_id: str
    #: The id of the parent key; null for a root key.
    parent_key_id: Optional[str]
    #: What the key may do now: its own scopes within its parent's.
    scopes: List[Union[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"], str]]
    #: Whether the key may take buy quotes.
    buy_side: bool


class MintKey1Limits(TypedDict):
    """Limits of this key, within those of its parent."""
    #: Calls per 60 seconds.
    per_minute: NotRequired[int]
    #: Calls per IST month.
    monthly_quota: NotRequired[int]
    #: Largest single deal: an order or a cross by face, a withdrawal by amount.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day, counted alike.
    daily_notional_paise: NotRequired[int]
    #: false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true.
    withdrawals: NotRequired[bool]


class MintKey1(TypedDict):
    #: What the key is for.
    name: str
    #: A subset of the parent's scopes.
    scopes: List[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"]]
    #: The key stops matching at this instant. ISO 8601 with an offset.
    expires_at: NotRequired[str]
    #: Addresses or networks the key may be used from; anywhere when empty.
    ip_allowlist: NotRequired[List[str]]
    #: Limits of this key, within those of its parent.
    limits: NotRequired[MintKey1Limits]
    #: Whether the key may take buy quotes. Default false.
    buy_side: NotRequired[bool]
    #: A sub_account key acts for one client firm; an app key for the whole desk.
    kind: Literal["app"]


class MintKey2Limits(TypedDict):
    """Limits of this key, within those of its parent."""
    #: Calls per 60 seconds.
    per_minute: NotRequired[int]
    #: Calls per IST month.
    monthly_quota: NotRequired[int]
    #: Largest single deal: an order or a cross by face, a withdrawal by amount.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day, counted alike.
    daily_notional_paise: NotRequired[int]
    #: false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true.
    withdrawals: NotRequired[bool]


class MintKey2(TypedDict):
    #: What the key is for.
    name: str
    #: A subset of the parent's scopes.
    scopes: List[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"]]
    #: The key stops matching at this instant. ISO 8601 with an offset.
    expires_at: NotRequired[str]
    #: Addresses or networks the key may be used from; anywhere when empty.
    ip_allowlist: NotRequired[List[str]]
    #: Limits of this key, within those of its parent.
    limits: NotRequired[MintKey2Limits]
    #: Whether the key may take buy quotes. Default false.
    buy_side: NotRequired[bool]
    #: A sub_account key acts for one client firm; an app key for the whole desk.
    kind: Literal["sub_account"]
    #: The client firm of a sub_account key.
    firm_id: str


MintKey = Union["MintKey1", "MintKey2"]


class KeyLimits(TypedDict):
    """Limits of its own; absent ones are the plan's."""
    #: The calls allowed in 60 seconds.
    per_minute: NotRequired[int]
    #: The calls allowed in an IST month.
    monthly_quota: NotRequired[int]
    #: The largest single deal in paise.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day.
    daily_notional_paise: NotRequired[int]
    #: false where the key may not move money out.
    withdrawals: NotRequired[bool]


@final
class Key(TypedDict):
    """An API key, without its secret."""
    #: The key's id.
    key_id: str
    #: What the key is for, in your words.
    name: str
    #: A root key is the firm's own; others are minted from it.
    kind: Union[Literal["root", "sub_account", "app"], str]
    #: Chosen by the key's prefix.
    environment: Union[Literal["live", "sandbox"], str]
    #: The firm the key is bound to.
    firm_id: str
    #: The key it was minted from; null for a root key.
    parent_key_id: Optional[str]
    #: The scopes that the key was granted.
    scopes: List[Union[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"], str]]
    #: Whether the key may take buy quotes.
    buy_side: bool
    #: The plan of a root key; null for a child, which shares its root's.
    plan: Optional[str]
    #: Limits of its own; absent ones are the plan's.
    limits: KeyLimits
    #: Where it may be used from; anywhere when empty.
    ip_allowlist: List[str]
    #: The key with its secret left out.
    masked_key: str
    #: Only an active key matches.
    status: Union[Literal["active", "expired", "revoked"], str]
    #: When it stops matching; null for never.
    expires_at: Optional[str]
    #: When it was revoked; null while it counts.
    revoked_at: Optional[str]
    #: When it was issued. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use.
    last_used_at: Optional[str]
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class MintedKeyLimits(TypedDict):
    """Limits of its own; absent ones are the plan's."""
    #: The calls allowed in 60 seconds.
    per_minute: NotRequired[int]
    #: The calls allowed in an IST month.
    monthly_quota: NotRequired[int]
    #: The largest single deal in paise.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day.
    daily_notional_paise: NotRequired[int]
    #: false where the key may not move money out.
    withdrawals: NotRequired[bool]


@final
class MintedKey(TypedDict):
    """An API key at the one moment it is shown."""
    #: The key's id.
    key_id: str
    #: What the key is for, in your words.
    name: str
    #: A root key is the firm's own; others are minted from it.
    kind: Union[Literal["root", "sub_account", "app"], str]
    #: Chosen by the key's prefix.
    environment: Union[Literal["live", "sandbox"], str]
    #: The firm the key is bound to.
    firm_id: str
    #: The key it was minted from; null for a root key.
    parent_key_id: Optional[str]
    #: The scopes that the key was granted.
    scopes: List[Union[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"], str]]
    #: Whether the key may take buy quotes.
    buy_side: bool
    #: The plan of a root key; null for a child, which shares its root's.
    plan: Optional[str]
    #: Limits of its own; absent ones are the plan's.
    limits: MintedKeyLimits
    #: Where it may be used from; anywhere when empty.
    ip_allowlist: List[str]
    #: The key with its secret left out.
    masked_key: str
    #: Only an active key matches.
    status: Union[Literal["active", "expired", "revoked"], str]
    #: When it stops matching; null for never.
    expires_at: Optional[str]
    #: When it was revoked; null while it counts.
    revoked_at: Optional[str]
    #: When it was issued. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use.
    last_used_at: Optional[str]
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: The key itself. Shown here and never again.
    api_key: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class UpdateKeyLimits(TypedDict):
    """Limits of this key, within those of its parent."""
    #: Calls per 60 seconds.
    per_minute: NotRequired[int]
    #: Calls per IST month.
    monthly_quota: NotRequired[int]
    #: Largest single deal: an order or a cross by face, a withdrawal by amount.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day, counted alike.
    daily_notional_paise: NotRequired[int]
    #: false: the key may not withdraw money, change a firm's bank account, or have a firm drained and paid. Default true.
    withdrawals: NotRequired[bool]


class UpdateKey(TypedDict):
    """What is given is narrowed; an absent field, or limit, stays as it is."""
    #: What the key is for.
    name: NotRequired[str]
    #: Some of the scopes it holds; the others are taken away.
    scopes: NotRequired[List[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"]]]
    #: false takes buy quotes away.
    buy_side: NotRequired[bool]
    #: An end, or an earlier one. ISO 8601 with an offset.
    expires_at: NotRequired[str]
    #: Where it may be used from, within where it may be used from now.
    ip_allowlist: NotRequired[List[str]]
    #: Limits of this key, within those of its parent.
    limits: NotRequired[UpdateKeyLimits]


class ReissuedKeyLimits(TypedDict):
    """Limits of its own; absent ones are the plan's."""
    #: The calls allowed in 60 seconds.
    per_minute: NotRequired[int]
    #: The calls allowed in an IST month.
    monthly_quota: NotRequired[int]
    #: The largest single deal in paise.
    max_order_paise: NotRequired[int]
    #: Largest sum of what the key commits per IST day.
    daily_notional_paise: NotRequired[int]
    #: false where the key may not move money out.
    withdrawals: NotRequired[bool]


class ReissuedKey(TypedDict):
    """An API key with its new secret; without it when this was a dry run."""
    #: The key's id.
    key_id: str
    #: What the key is for, in your words.
    name: str
    #: A root key is the firm's own; others are minted from it.
    kind: Union[Literal["root", "sub_account", "app"], str]
    #: Chosen by the key's prefix.
    environment: Union[Literal["live", "sandbox"], str]
    #: The firm the key is bound to.
    firm_id: str
    #: The key it was minted from; null for a root key.
    parent_key_id: Optional[str]
    #: The scopes that the key was granted.
    scopes: List[Union[Literal["firms", "quote", "orders:write", "orders:read", "market:read", "webhooks:write", "*"], str]]
    #: Whether the key may take buy quotes.
    buy_side: bool
    #: The plan of a root key; null for a child, which shares its root's.
    plan: Optional[str]
    #: Limits of its own; absent ones are the plan's.
    limits: ReissuedKeyLimits
    #: Where it may be used from; anywhere when empty.
    ip_allowlist: List[str]
    #: The key with its secret left out.
    masked_key: str
    #: Only an active key matches.
    status: Union[Literal["active", "expired", "revoked"], str]
    #: When it stops matching; null for never.
    expires_at: Optional[str]
    #: When it was revoked; null while it counts.
    revoked_at: Optional[str]
    #: When it was issued. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The last call with it that was counted; null before the first. Of a key unused since this is noted, the start of its last day of use.
    last_used_at: Optional[str]
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: The key itself. Shown here and never again.
    api_key: NotRequired[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class UsageByDayItem(TypedDict):
    #: The day in IST.
    day: str
    #: Calls that were let in.
    calls: int


class UsageByRouteItem(TypedDict):
    #: Method and path.
    route: str
    #: Calls that were let in.
    calls: int


class UsageByKeyItem(TypedDict):
    #: The key's id.
    key_id: str
    #: Calls that were let in.
    calls: int


class Usage(TypedDict):
    """The numbers of the response's own headers, and the month behind them."""
    #: The key's plan.
    plan: str
    #: The calls allowed in the window.
    limit: int
    #: The calls left in the window.
    remaining: int
    #: Seconds until the window has room again.
    reset: int
    #: As X-RateLimit-Quota; absent when unmetered.
    quota: NotRequired[int]
    #: The calls of this month.
    quota_used: int
    #: Length of the sliding window.
    window_s: int
    #: When the month ends and the quota starts again. ISO 8601, IST.
    quota_resets_at: str
    #: A child key sees its own calls, a root key those of its whole family.
    by_day: List[UsageByDayItem]
    #: The month's calls by operation.
    by_route: List[UsageByRouteItem]
    #: The month's calls by key.
    by_key: List[UsageByKeyItem]


class AnsweredRequest(TypedDict):
    """A call that was answered, without what was in it."""
    #: As in the X-Request-ID of the answer.
    request_id: str
    #: When it came. ISO 8601, IST.
    at: str
    #: The HTTP method.
    method: str
    #: The path, with the names of its parts; null for none of ours.
    route: Optional[str]
    #: The answer's HTTP status.
    status: int
    #: Why it was refused: the slug of its error body; null for a success.
    code: Optional[str]
    #: The `detail.reason` of its error body; null without one.
    reason: Optional[str]
    #: How long it took us, in milliseconds; of a stream, how long it was open.
    duration_ms: float
    #: The key that it came with.
    key_id: str
    #: The request's Idempotency-Key; null without one.
    idempotency_key: Optional[str]
    #: What it made, or had made already under its Idempotency-Key; null for what made nothing, and for a set.
    made: Optional[str]


class AnsweredRequestList(TypedDict):
    #: Newest first.
    requests: List[AnsweredRequest]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class RegisterFirmBank(TypedDict):
    """The bank account that its money goes to."""
    #: 9 to 18 digits. Never shown again.
    account_no: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class RegisterFirm(TypedDict):
    #: As registered with customs.
    legal_name: str
    #: Importer-exporter code: the PAN, or ten digits for an old one.
    iec: str
    #: Permanent account number (PAN).
    pan: str
    #: The number of the GST registration; it holds the PAN, and its last character is a check.
    gstin: NotRequired[str]
    #: Corporate identity number (CIN), of companies only.
    cin: NotRequired[str]
    #: Where people of the firm are reached.
    email: str
    #: Ten Indian digits, or with + and a country code.
    phone: NotRequired[str]
    #: The bank account that its money goes to.
    bank: NotRequired[RegisterFirmBank]
    #: What the firm does: exporter, importer or both.
    role: Literal["exporter", "importer", "both"]
    #: The group of your desk that it belongs to.
    group_id: NotRequired[str]
    #: Your own name for the firm, unique on your desk.
    external_id: NotRequired[str]


class FirmBank(TypedDict):
    """Where its money goes; null before it is given."""
    #: The account number, of which the last four digits are shown.
    account_no_masked: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class FirmChecksItem(TypedDict):
    #: What was asked.
    check: Union[Literal["IEC_ACTIVE", "PAN_MATCH", "GSTIN_MATCH", "BANK_NAME_MATCH", "FLAGGED_IEC"], str]
    #: What was found.
    outcome: Union[Literal["pass", "fail", "pending"], str]
    #: What to do about a failure; null for a check that has not failed.
    cure: Optional[str]
    #: When it was found; null while pending.
    as_of: Optional[str]


class FirmHoldsItem(TypedDict):
    #: What is held back.
    on: Union[Literal["payouts"], str]
    #: Why it is held back.
    reason: Union[Literal["firm_suspended", "firm_rejected", "firm_flagged", "firm_offboarded", "beneficiary_change", "bank_not_verified"], str]
    #: When it ends by itself; null when the bank or a person decides first.
    until: Optional[str]


class FirmMandate(TypedDict):
    """The firm's permission to trade for it; null before it is given."""
    #: Who signed it for the firm.
    signatory_name: str
    #: The mandate's reference.
    reference: str
    #: When it ends. ISO 8601, IST.
    valid_until: str
    #: Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default.
    transfers: Union[Literal["house", "firm"], str]


class FirmSuspension(TypedDict):
    """Who suspended the firm, and why; null while it is not suspended."""
    #: Who suspended it; the operator's only they can lift.
    by: Union[Literal["desk", "operator"], str]
    #: The reason in words.
    reason: str


class Firm(TypedDict):
    """A company that your desk trades for."""
    #: The firm's id.
    firm_id: str
    #: Chosen by the key's prefix.
    environment: Union[Literal["live", "sandbox"], str]
    #: The name it is registered under with customs.
    legal_name: str
    #: The importer-exporter code (IEC); null while none is given.
    iec: Optional[str]
    #: Permanent account number (PAN); null while none is given.
    pan: Optional[str]
    #: The number of the GST registration (GSTIN); null without one.
    gstin: Optional[str]
    #: Corporate identity number (CIN); null without one.
    cin: Optional[str]
    #: Masked after offboarding; null while none is given.
    email: Optional[str]
    #: Masked after offboarding; null while none is given.
    phone: Optional[str]
    #: What the firm does: exporter, importer or both.
    role: Union[Literal["exporter", "importer", "both"], str]
    #: Where its money goes; null before it is given.
    bank: Optional[FirmBank]
    #: The group it belongs to; null for a firm of none.
    group_id: Optional[str]
    #: Your own name for the firm; null when it has none.
    external_id: Optional[str]
    #: How far the connection has come.
    connection_state: Union[Literal["registered", "verifying", "action_required", "verified", "authorized", "suspended", "rejected", "offboarding", "offboarded"], str]
    #: What the registry and the bank said about the firm.
    checks: List[FirmChecksItem]
    #: What is held back for now, and until when.
    holds: List[FirmHoldsItem]
    #: The firm's permission to trade for it; null before it is given.
    mandate: Optional[FirmMandate]
    #: Who suspended the firm, and why; null while it is not suspended.
    suspension: Optional[FirmSuspension]
    #: When it was registered. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class FirmList(TypedDict):
    #: Newest first; your desk's own firm is one of them.
    firms: List[Firm]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class UpdateFirmBank(TypedDict):
    """Where its money goes; null takes it away."""
    #: 9 to 18 digits. Never shown again.
    account_no: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class UpdateFirm(TypedDict):
    #: As registered with customs.
    legal_name: NotRequired[str]
    #: Importer-exporter code: the PAN, or ten digits for an old one.
    iec: NotRequired[str]
    #: Permanent account number (PAN).
    pan: NotRequired[str]
    #: The number of the GST registration; it holds the PAN, and its last character is a check. null takes it away.
    gstin: NotRequired[Optional[str]]
    #: Corporate identity number (CIN), of companies only. null takes it away.
    cin: NotRequired[Optional[str]]
    #: Where people of the firm are reached.
    email: NotRequired[str]
    #: Ten Indian digits, or with + and a country code. null takes it away.
    phone: NotRequired[Optional[str]]
    #: Where its money goes; null takes it away.
    bank: NotRequired[Optional[UpdateFirmBank]]
    #: What the firm does: exporter, importer or both.
    role: NotRequired[Literal["exporter", "importer", "both"]]
    #: The group of your desk that it belongs to. null takes it away.
    group_id: NotRequired[Optional[str]]
    #: Your own name for the firm, unique on your desk. null takes it away.
    external_id: NotRequired[Optional[str]]


class ConnectionChecksItem(TypedDict):
    #: What was asked.
    check: Union[Literal["IEC_ACTIVE", "PAN_MATCH", "GSTIN_MATCH", "BANK_NAME_MATCH", "FLAGGED_IEC"], str]
    #: What was found.
    outcome: Union[Literal["pass", "fail", "pending"], str]
    #: What to do about a failure; null for a check that has not failed.
    cure: Optional[str]
    #: When it was found; null while pending.
    as_of: Optional[str]


class ConnectionHoldsItem(TypedDict):
    #: What is held back.
    on: Union[Literal["payouts"], str]
    #: Why it is held back.
    reason: Union[Literal["firm_suspended", "firm_rejected", "firm_flagged", "firm_offboarded", "beneficiary_change", "bank_not_verified"], str]
    #: When it ends by itself; null when the bank or a person decides first.
    until: Optional[str]


class ConnectionMandate(TypedDict):
    """The firm's permission to trade for it; null before it is given."""
    #: Who signed it for the firm.
    signatory_name: str
    #: The mandate's reference.
    reference: str
    #: When it ends. ISO 8601, IST.
    valid_until: str
    #: Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default.
    transfers: Union[Literal["house", "firm"], str]


class ConnectionSuspension(TypedDict):
    """Who suspended the firm, and why; null while it is not suspended."""
    #: Who suspended it; the operator's only they can lift.
    by: Union[Literal["desk", "operator"], str]
    #: The reason in words.
    reason: str


class ConnectionPortsItem(TypedDict):
    #: Who answers outside.
    port: Union[Literal["registry", "bank"], str]
    #: During an outage questions wait.
    state: Union[Literal["up", "outage"], str]
    #: When the outage began; null without one.
    since: Optional[str]


class Connection(TypedDict):
    """How far a firm's connection has come, and what it waits for."""
    #: The firm's id.
    firm_id: str
    #: How far the connection has come.
    connection_state: Union[Literal["registered", "verifying", "action_required", "verified", "authorized", "suspended", "rejected", "offboarding", "offboarded"], str]
    #: What the registry and the bank said about the firm.
    checks: List[ConnectionChecksItem]
    #: What is held back for now, and until when.
    holds: List[ConnectionHoldsItem]
    #: The firm's permission to trade for it; null before it is given.
    mandate: Optional[ConnectionMandate]
    #: Who suspended the firm, and why; null while it is not suspended.
    suspension: Optional[ConnectionSuspension]
    #: Whether the world outside answers.
    ports: List[ConnectionPortsItem]
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: When this was read. ISO 8601, IST.
    as_of: str


VerifyFirm = Dict[str, Any]


class AuthorizeFirmMandate(TypedDict):
    """The firm's permission to trade for it."""
    #: Who signed for the firm.
    signatory_name: str
    #: Where the signed mandate is found.
    reference: str
    #: ISO 8601 with an offset, or a day: then to the end of it, IST.
    valid_until: str
    #: Who initiates the firm's transfers on the customs portal: the house for it, or the firm. A firm that initiates, or accepts, after its deadline pays the other side `default_bps` of face, where that is proved; what the house does late is nobody's default. The house where it is left out.
    transfers: NotRequired[Literal["house", "firm"]]


class AuthorizeFirm(TypedDict):
    #: The firm's permission to trade for it.
    mandate: AuthorizeFirmMandate


class SuspendFirm(TypedDict):
    #: Why, for whoever looks later.
    reason: str


ResumeFirm = Dict[str, Any]


class OffboardFirm(TypedDict):
    #: Take no new business, and leave by itself when the open business is done.
    mode: NotRequired[Literal["drain"]]


class CreateGroup(TypedDict):
    #: What the group is called; one group of that name on a desk.
    name: str


class Group(TypedDict):
    """Firms of your desk under common ownership."""
    #: The group's id.
    group_id: str
    #: What the group is called.
    name: str
    #: At most 500.
    member_count: int
    #: When it was created. ISO 8601, IST.
    created_at: str
    #: When it or its membership last changed. ISO 8601, IST.
    updated_at: str
    #: Raised by every change, membership included.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class GroupList(TypedDict):
    #: Newest first.
    groups: List[Group]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class UpdateGroup(TypedDict):
    #: What the group is called; one group of that name on a desk.
    name: str


class GroupMember(TypedDict):
    """A firm that is in the group."""
    #: A firm of your desk.
    firm_id: str
    #: The firm's legal name.
    legal_name: str
    #: How far the firm's connection has come.
    connection_state: str


class GroupMemberList(TypedDict):
    #: Newest firm first.
    members: List[GroupMember]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class GroupPositionsSchemesItemBucketsItem(TypedDict):
    #: Days until the credits lapse.
    bucket: Union[Literal["0-30", "31-60", "61-90", "91-180", "181-365", "over-365"], str]
    #: The bucket's last day; null for the one without end.
    days_max: Optional[int]
    #: How many credits are held.
    credit_count: int
    #: Face of the credits that are listed, reserved or in settlement.
    face_paise: int
    #: The part of it that is listed, and so free to be moved or sold.
    available_paise: int


class GroupPositionsSchemesItem(TypedDict):
    #: Always one line for each scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: How many credits are held.
    credit_count: int
    #: Face of the credits that are listed, reserved or in settlement.
    face_paise: int
    #: The part of it that is listed, and so free to be moved or sold.
    available_paise: int
    #: How many are still to come.
    requirement_count: int
    #: Declared basic customs duty that is due today or later.
    requirement_paise: int
    #: Face less requirements; below zero, duty is uncovered.
    net_paise: int
    #: Always every bucket, soonest first.
    buckets: List[GroupPositionsSchemesItemBucketsItem]


class GroupPositionsAnyScheme(TypedDict):
    """Requirements that name no scheme: credits of either can cover them."""
    #: How many are still to come.
    requirement_count: int
    #: Declared basic customs duty that is due today or later.
    requirement_paise: int


class GroupPositionsMembersItemSchemesItemBucketsItem(TypedDict):
    #: Days until the credits lapse.
    bucket: Union[Literal["0-30", "31-60", "61-90", "91-180", "181-365", "over-365"], str]
    #: The bucket's last day; null for the one without end.
    days_max: Optional[int]
    #: How many credits are held.
    credit_count: int
    #: Face of the credits that are listed, reserved or in settlement.
    face_paise: int
    #: The part of it that is listed, and so free to be moved or sold.
    available_paise: int


class GroupPositionsMembersItemSchemesItem(TypedDict):
    #: Always one line for each scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: How many credits are held.
    credit_count: int
    #: Face of the credits that are listed, reserved or in settlement.
    face_paise: int
    #: The part of it that is listed, and so free to be moved or sold.
    available_paise: int
    #: How many are still to come.
    requirement_count: int
    #: Declared basic customs duty that is due today or later.
    requirement_paise: int
    #: Face less requirements; below zero, duty is uncovered.
    net_paise: int
    #: Always every bucket, soonest first.
    buckets: List[GroupPositionsMembersItemSchemesItemBucketsItem]


class GroupPositionsMembersItemAnyScheme(TypedDict):
    """Requirements that name no scheme: credits of either can cover them."""
    #: How many are still to come.
    requirement_count: int
    #: Declared basic customs duty that is due today or later.
    requirement_paise: int


class GroupPositionsMembersItem(TypedDict):
    #: A firm of your desk.
    firm_id: str
    #: The firm's legal name.
    legal_name: str
    #: Credits and requirements of each scheme.
    schemes: List[GroupPositionsMembersItemSchemesItem]
    #: Requirements that name no scheme: credits of either can cover them.
    any_scheme: GroupPositionsMembersItemAnyScheme


class GroupPositions(TypedDict):
    """What the group's firms hold against the basic customs duty they will owe."""
    #: The group's id.
    group_id: str
    #: The one moment that every figure is of. ISO 8601, IST.
    as_of: str
    #: Credits and requirements of each scheme.
    schemes: List[GroupPositionsSchemesItem]
    #: Requirements that name no scheme: credits of either can cover them.
    any_scheme: GroupPositionsAnyScheme
    #: The same per member; the members add up to the group.
    members: List[GroupPositionsMembersItem]


class DeclareRequirement(TypedDict):
    #: Which credits are to cover it; absent: either scheme.
    scheme: NotRequired[Literal["RODTEP", "ROSCTL"]]
    #: The basic customs duty that will have to be paid: credits pay no other.
    amount_paise: int
    #: When it is due; today or later. A day in IST.
    due_on: str
    #: Your own name for it, such as a bill of entry; one per firm.
    reference: str


class Requirement(TypedDict):
    """Basic customs duty that a firm will have to pay."""
    #: The requirement's id.
    requirement_id: str
    #: A firm of your desk.
    firm_id: str
    #: Which credits are to cover it; null: either.
    scheme: Optional[str]
    #: The basic customs duty to be paid.
    amount_paise: int
    #: What its orders have bought for it: matched, and not failed.
    covered_paise: int
    #: amount_paise less covered_paise; 0 where more was bought than is needed now.
    uncovered_paise: int
    #: What an order for it still rests with; a part of what is uncovered.
    resting_paise: int
    #: The orders that were placed to cover it, oldest first; at most 100.
    order_ids: List[str]
    #: When it is due, in IST.
    due_on: str
    #: Your own name for it, such as the bill of entry.
    reference: str
    #: When it was declared. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[Union[Literal["update", "delete"], str]]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class RequirementList(TypedDict):
    #: Newest first.
    requirements: List[Requirement]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class UpdateRequirement(TypedDict):
    #: Which credits are to cover it; null: either scheme.
    scheme: NotRequired[Optional[Literal["RODTEP", "ROSCTL"]]]
    #: The basic customs duty that will have to be paid: credits pay no other.
    amount_paise: NotRequired[int]
    #: When it is due; today or later. A day in IST.
    due_on: NotRequired[str]
    #: Your own name for it, such as a bill of entry; one per firm.
    reference: NotRequired[str]


class NettingSchemesItem(TypedDict):
    #: Always one line for each scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Face of the credits that are listed or on their way to a member, and have not lapsed.
    gross_credit_paise: int
    #: Basic customs duty that is due today or later. What either scheme may pay counts where it is paid, and what is left of it where cover costs least.
    gross_requirement_paise: int
    #: What of it the group's own credits pay, moved or not.
    internal_match_paise: int
    #: Face that is left to sell: gross credit less the match.
    net_sell_paise: int
    #: Duty that is left to buy cover for or pay: gross requirement less the match.
    net_buy_paise: int
    #: What the moves keep from the market: buying them at today's ask less selling them at its bid.
    spread_saved_paise: int


class NettingEntitiesItem(TypedDict):
    #: A member of the group.
    firm_id: str
    #: Face of the credits that it gives to other members.
    give_paise: int
    #: Face of the credits that it takes from other members.
    take_paise: int
    #: What it is paid less what it pays for the moves; sums to zero over the members.
    net_cash_paise: int
    #: Duty of its own that no credit of the group pays.
    uncovered_paise: int


class NettingProposalsItem(TypedDict):
    #: The id of the firm that gives the credit.
    from_firm_id: str
    #: Who takes it, to pay its own duty with.
    to_firm_id: str
    #: Which scheme the credits are of.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: A credit's number.
    scrip_no: str
    #: The credit's face value in paise.
    face_paise: int
    #: The card's mid, in basis points of face.
    price_bps: int


class Netting(TypedDict):
    """How a group covers its basic customs duty with its own credits, and what is left over."""
    #: A group of your desk.
    group_id: str
    #: The one moment that every figure is of. ISO 8601, IST.
    as_of: str
    #: Names these proposals until their time is over.
    netting_ref: str
    #: Whether it is proven that no other moves leave less duty uncovered.
    proven_optimal: bool
    #: One line per scheme.
    schemes: List[NettingSchemesItem]
    #: Every member, newest firm first.
    entities: List[NettingEntitiesItem]
    #: Whole credits that change hands, by giver, taker and scheme.
    proposals: List[NettingProposalsItem]


class CrossNetting(TypedDict):
    #: Names these proposals until their time is over.
    netting_ref: str


class NettingCrossesCrossesItem(TypedDict):
    #: The cross; its buyer funds it and its seller releases it.
    cross_id: str
    #: The id of the firm that sells.
    from_firm_id: str
    #: The id of the firm that buys.
    to_firm_id: str
    #: Which scheme the credits are of.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: All credits that the one gives the other.
    scrip_nos: List[str]
    #: The sum of their faces.
    face_paise: int
    #: The card's mid, in basis points of face.
    price_bps: int
    #: What the buyer pays and the seller is paid.
    all_in_paise: int
    #: How far the cross has come.
    status: Union[Literal["proposed", "agreed", "funded", "released", "settled", "declined", "cancelled", "expired", "refunded", "failed"], str]
    #: Raised by every change of the cross.
    version: int


class NettingCrosses(TypedDict):
    """The crosses that a netting was turned into."""
    #: A group of your desk.
    group_id: str
    #: Names these proposals until their time is over.
    netting_ref: str
    #: One for each giver, taker and scheme, agreed by both sides.
    crosses: List[NettingCrossesCrossesItem]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class CreditUse(TypedDict):
    """A part of a credit that paid basic customs duty."""
    #: The bill of entry; null where the credit was only marked as used.
    bill_of_entry: Optional[str]
    #: The day it paid; null without a bill.
    used_on: Optional[str]
    #: The customs port of the bill; null without a bill.
    port: Optional[str]
    #: The part of the credit that paid, in paise.
    amount_paise: int
    #: What was left on the credit after it, in paise.
    balance_paise: int


class Credit(TypedDict):
    """One firm's holding of one scrip."""
    #: This firm's holding of the scrip, as events name it.
    credit_id: str
    #: The credit's number: opaque, taken trimmed and in capitals.
    scrip_no: str
    #: The scheme it was issued under.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The firm that holds it.
    firm_id: str
    #: What it was issued with.
    issued_paise: int
    #: The balance that can be transferred: what is priced and sold. 0 once it is used.
    face_paise: int
    #: The code of its customs port; null while it is unknown.
    port_code: Optional[str]
    #: The day it was issued. YYYY-MM-DD.
    issued_on: str
    #: The last day it can be used, IST. YYYY-MM-DD.
    expires_on: str
    #: Days from today, IST, to expires_on; 0 on the last day and after it.
    days_left: int
    #: Declared until the registry confirms it, then listed.
    status: Union[Literal["declared", "listed", "reserved", "in_settlement", "transferred", "suspended", "cancelled", "expired", "used", "withdrawn", "rejected"], str]
    #: Whether it can be sold now.
    sellable: bool
    #: Null when sellable. Its status when that is not listed; firm_not_authorized when its firm may not trade; too_short with fewer than 30 days left. Open set.
    not_sellable_reason: Optional[Union[Literal["declared", "reserved", "in_settlement", "transferred", "suspended", "cancelled", "expired", "used", "withdrawn", "rejected", "firm_not_authorized", "too_short"], str]]
    #: The parts that its firm has told, in that order.
    uses: List[CreditUse]
    #: What was used and is not told in uses: before it was declared, or seen in a report of customs. issued_paise is face_paise, uses and this.
    used_elsewhere_paise: int
    #: The day on which customs showed this balance, by confirming the holding or its transfer; null for one that only its firm has told, as after a part was used.
    balance_shown_on: Optional[str]
    #: When the registry, or the firm before it, last spoke about it. ISO 8601, IST.
    as_of: str
    #: The number of the version, raised by every change.
    version: int
    #: What its state allows you now; see GET /v1/meta/states.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class CreditList(TypedDict):
    #: Newest first.
    credits: List[Credit]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class CreditDeclaration(TypedDict):
    """What a firm says about a credit it holds."""
    #: The credit's number: opaque, taken trimmed and in capitals.
    scrip_no: str
    #: The scheme it was issued under.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: The balance that can be transferred: what is priced and sold.
    face_paise: int
    #: What it was issued with; the balance when it is not given.
    issued_paise: NotRequired[int]
    #: Its customs port.
    port_code: NotRequired[str]
    #: The day it was issued. YYYY-MM-DD.
    issued_on: str
    #: The last day it can be used, IST. YYYY-MM-DD.
    expires_on: str


class DeclareCredits(TypedDict):
    #: Each is answered by itself.
    credits: List[CreditDeclaration]


class ItemError(TypedDict):
    """The whole error body that a call with this item alone would get, an object; null when ok. The slug is in its code or, where it has none, in its error: the field of the same name within."""
    #: request_error, or a slug as in any error body.
    error: str
    #: Stable slug; when present, prefer it.
    code: NotRequired[str]
    #: For people; its wording may change.
    message: str
    #: Of a fault of ours: as the X-Request-ID header.
    request_id: NotRequired[str]
    #: Facts about the error, by reason.
    detail: NotRequired[Dict[str, Any]]


class CreditDeclarationResultsResultsItem(TypedDict):
    #: Its place in the request, from 0.
    index: int
    #: Whether the credit stands as declared.
    ok: bool
    #: The status a call with this item alone would have: 201 new, 200 known, or 4xx.
    status: int
    error: ItemError
    credit: NotRequired[Credit]


class CreditDeclarationResults(TypedDict):
    #: One per item, in the order of the request.
    results: List[CreditDeclarationResultsResultsItem]
    #: The number of items that were accepted.
    accepted: int
    #: The number of items that were refused.
    failed: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class ImportCredits1(TypedDict):
    #: A report of the customs portal, at most 5000 rows. Amounts are rupees. This or xlsx.
    csv: str


class ImportCredits2(TypedDict):
    #: The same as a workbook, in base64. Scrip numbers are stored as text there. This or csv.
    xlsx: str


ImportCredits = Union["ImportCredits1", "ImportCredits2"]


class CreditImportResultsResultsItem(TypedDict):
    #: Its row in the file as a spreadsheet counts: the heading is row 1.
    row: int
    #: Whether the credit stands as declared.
    ok: bool
    #: The status a call with this item alone would have: 201 new, 200 known, or 4xx.
    status: int
    error: ItemError
    credit: NotRequired[Credit]


class CreditImportResults(TypedDict):
    #: One per row with content, in the order of the file.
    results: List[CreditImportResultsResultsItem]
    #: The number of items that were accepted.
    accepted: int
    #: The number of items that were refused.
    failed: int
    #: Blank rows, rows above the heading and the totals row, which say nothing of a credit.
    skipped: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class UseCredit(TypedDict):
    """The bill, the day and the port together; none of them to mark all as used."""
    #: The bill of entry whose basic customs duty it paid; one part per bill.
    bill_of_entry: NotRequired[str]
    #: The day it paid; today or before. YYYY-MM-DD.
    used_on: NotRequired[str]
    #: The customs port of the bill.
    port: NotRequired[str]
    #: The part that was used; all that is left when it is left out.
    amount_paise: NotRequired[int]


class QuoteRequest1(TypedDict):
    """Sell: scrip_no alone, or scheme and face_paise. Buy: scheme and requirement_paise."""
    #: Whether you sell credits or buy cover.
    side: Literal["sell"]
    #: Sell, and alone: the one credit to price.
    scrip_no: str


class QuoteRequest2(TypedDict):
    """Sell: scrip_no alone, or scheme and face_paise. Buy: scheme and requirement_paise."""
    #: Whether you sell credits or buy cover.
    side: Literal["sell"]
    #: Required unless scrip_no is given.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell, with scheme: the face value to price.
    face_paise: int


class QuoteRequest3(TypedDict):
    """Sell: scrip_no alone, or scheme and face_paise. Buy: scheme and requirement_paise."""
    #: Whether you sell credits or buy cover.
    side: Literal["buy"]
    #: Required unless scrip_no is given.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy, with scheme: the basic customs duty to cover.
    requirement_paise: int


QuoteRequest = Union["QuoteRequest1", "QuoteRequest2", "QuoteRequest3"]


Quote = Union["SellQuote", "BuyQuote", "NoQuote"]


class TakeQuoteBatch(TypedDict):
    #: 1 to 200; each has its own result.
    quotes: List[QuoteRequest]


class QuoteBatchResultsResultsItem(TypedDict):
    #: Its place in the request, from 0.
    index: int
    #: Whether there is an answer, be it that there is no price.
    ok: bool
    #: The status a call with this quote alone would have.
    status: int
    error: ItemError
    #: Until when its price binds, on both sides; null without a price. ISO 8601, IST.
    valid_until: Optional[str]
    quote: NotRequired[Quote]


class QuoteBatchResults(TypedDict):
    #: One per quote, in the order of the request.
    results: List[QuoteBatchResultsResultsItem]
    #: Quotes that were answered.
    quoted: int
    #: Quotes that were refused.
    failed: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class StoredQuoteTerms(TypedDict):
    """What else a deal on it comes with."""
    #: At most so much of face does a side that is proved late pay the other.
    default_bps: int


class StoredQuote(TypedDict):
    """A quote as it was answered, with its present state."""
    #: The side that was asked for.
    side: NotRequired[Union[Literal["sell", "buy"], str]]
    #: The scheme that was priced.
    scheme: NotRequired[Union[Literal["RODTEP", "ROSCTL"], str]]
    #: Sell by scrip_no: the credit that was priced.
    scrip_no: NotRequired[str]
    #: Sell: the face value that was priced.
    face_paise: NotRequired[int]
    #: Buy: the basic customs duty to cover.
    requirement_paise: NotRequired[int]
    #: Your price, in basis points of face.
    price_bps: NotRequired[int]
    #: The single amount that changes hands, everything included.
    all_in_paise: NotRequired[int]
    #: Buy: saved against paying the duty in cash.
    savings_paise: NotRequired[int]
    #: Buy: the whole credits that cover the requirement.
    scrip_nos: NotRequired[List[str]]
    #: Buy: the duty that the bundle covers.
    covered_paise: NotRequired[int]
    #: Buy: the duty left to pay in cash.
    residual_paise: NotRequired[int]
    #: Buy: whether nothing is left to pay in cash.
    fully_covered: NotRequired[bool]
    #: Until when the price binds, on either side. ISO 8601, IST.
    valid_until: str
    #: The quote's reference: order with it, or ask support about it.
    quote_ref: str
    #: Open until an order uses it or its time is over.
    status: Union[Literal["open", "used", "expired"], str]
    #: The order that was placed on it; null before one is.
    order_id: Optional[str]
    #: Whose credit it prices; the firm of the key when no credit was named.
    firm_id: str
    #: The version of the rate card it was made from.
    card_version: int
    #: What else a deal on it comes with.
    terms: StoredQuoteTerms
    #: When it was given. ISO 8601, IST.
    created_at: str
    #: 2 once an order uses it, 1 before.
    version: int
    #: What its state allows you now; see GET /v1/meta/states.
    allowed_actions: List[str]


class PlaceOrder1(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Takes a quote at its price, as long as it is valid; a quote is used once.
    quote_ref: str


class PlaceOrder2(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class PlaceOrder3(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class PlaceOrder4(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


class PlaceOrder5(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class PlaceOrder6(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class PlaceOrder7(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


class PlaceOrder8(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class PlaceOrder9(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class PlaceOrder10(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


PlaceOrder = Union["PlaceOrder1", "PlaceOrder2", "PlaceOrder3", "PlaceOrder4", "PlaceOrder5", "PlaceOrder6", "PlaceOrder7", "PlaceOrder8", "PlaceOrder9", "PlaceOrder10"]


class OrderHistoryItem(TypedDict):
    #: The new state.
    status: Union[Literal["open", "matched", "cancelled", "expired", "failed"], str]
    #: When it came to this state. ISO 8601, IST.
    at: str
    #: Why it came to this state; null where that is obvious.
    reason: Optional[str]


class Order(TypedDict):
    """An instruction to sell credits or to buy cover."""
    #: The order's id.
    order_id: str
    #: Your own name for the order; null when it has none.
    client_ref: Optional[str]
    #: The id of the firm that the order is for.
    firm_id: str
    #: Which side.
    side: Union[Literal["sell", "buy"], str]
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Sell: the credits it sells. Buy: the credits that cover it so far.
    scrip_nos: List[str]
    #: Sell: the face that was asked for.
    face_paise: NotRequired[int]
    #: Buy: the basic customs duty to cover.
    requirement_paise: NotRequired[int]
    #: Sell: the face of its credits. Buy: the duty covered so far.
    covered_paise: int
    #: The part of the request that is not covered.
    residual_paise: int
    #: The one price of the order; null until something of it is dealt.
    price_bps: Optional[int]
    #: The limit it was placed with; null without one.
    limit_bps: Optional[int]
    #: The amount that changes hands for the dealt part, everything included; null before anything of it is dealt.
    all_in_paise: Optional[int]
    #: Buy: the saving against paying the covered duty in cash; null before anything of it is dealt, and for sells.
    savings_paise: Optional[int]
    #: How long it may rest.
    time_in_force: Union[Literal["IOC", "GTC", "GTD"], str]
    #: When it expires; null for an order that does not. ISO 8601, IST.
    expires_at: Optional[str]
    #: The quote that the order took; null without one.
    quote_ref: Optional[str]
    #: The pairs that were given with it.
    metadata: Dict[str, str]
    #: Its state.
    status: Union[Literal["open", "matched", "cancelled", "expired", "failed"], str]
    #: The id of its latest settlement; null before there is a deal.
    settlement_id: Optional[str]
    #: All of its settlements; an order that rested can be dealt in parts.
    settlement_ids: List[str]
    #: The state of its own credits in its latest settlement; null before there is one.
    settlement_status: Optional[str]
    #: The part of all_in_paise that has changed hands for delivered credits; null before a deal.
    settled_paise: Optional[int]
    #: The number of the version, raised by every change.
    version: int
    #: The actions that its state allows.
    allowed_actions: List[str]
    #: Every state it has had, in sequence.
    history: List[OrderHistoryItem]
    #: When it was placed. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class OrderList(TypedDict):
    #: Newest first.
    orders: List[Order]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class CoverRequirement(TypedDict):
    """With a limit it rests until it is cancelled, or until expires_at; without one it buys now, at the current binding price."""
    #: Which credits are to cover it; required where the requirement names none.
    scheme: NotRequired[Literal["RODTEP", "ROSCTL"]]
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: NotRequired[str]


class BatchOrder1(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Takes a quote at its price, as long as it is valid; a quote is used once.
    quote_ref: str


class BatchOrder2(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class BatchOrder3(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class BatchOrder4(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: Sell: this one credit.
    scrip_no: str
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


class BatchOrder5(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class BatchOrder6(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class BatchOrder7(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["sell"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Sell: the firm's own whole credits whose sum is the largest within this.
    face_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


class BatchOrder8(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: NotRequired[int]
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: NotRequired[Literal["IOC"]]


class BatchOrder9(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTC"]


class BatchOrder10(TypedDict):
    #: The firm of your desk that is acted for; the key's own when absent.
    firm_id: NotRequired[str]
    #: Your own name for the order.
    client_ref: NotRequired[str]
    #: Your own names and values; up to 20, kept as they are. Every value is a string.
    metadata: NotRequired[Dict[str, str]]
    #: This order's own key; otherwise the header's with # and the index.
    idempotency_key: NotRequired[str]
    #: Required without quote_ref.
    side: Literal["buy"]
    #: With face_paise or requirement_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Buy: the basic customs duty to cover with whole credits.
    requirement_paise: int
    #: Sell: no less than this. Buy: no more. Without it, the current binding price.
    limit_bps: int
    #: IOC: now or not at all, the default without a limit. GTC: rests until it is cancelled, the default with a limit. GTD: rests until expires_at.
    time_in_force: Literal["GTD"]
    #: When a GTD order ends. ISO 8601, IST.
    expires_at: str


BatchOrder = Union["BatchOrder1", "BatchOrder2", "BatchOrder3", "BatchOrder4", "BatchOrder5", "BatchOrder6", "BatchOrder7", "BatchOrder8", "BatchOrder9", "BatchOrder10"]


class PlaceOrderBatch(TypedDict):
    #: 1 to 500; each has its own result.
    orders: List[BatchOrder]


class OrderBatchResultsResultsItem(TypedDict):
    #: Its place in the request, from 0.
    index: int
    #: Whether the order stands.
    ok: bool
    #: The status a call with this order alone would have.
    status: int
    error: ItemError
    order: NotRequired[Order]


class OrderBatchResults(TypedDict):
    #: One per order, in the order of the request.
    results: List[OrderBatchResultsResultsItem]
    #: The number of orders that were placed.
    submitted: int
    #: The number of orders that were refused.
    failed: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class CrossQuoteRequest1(TypedDict):
    """scrip_nos, or scheme and face_paise; one of the two counterparty fields."""
    #: A block with anybody, or a transfer between firms of one of your groups.
    kind: Literal["block", "intra_group"]
    #: The side of the firm that is acted for.
    side: Literal["sell", "buy"]
    #: The firm of your desk that is acted for; the key's when absent.
    firm_id: NotRequired[str]
    #: The price between the two; the rate card's mid when absent.
    price_bps: NotRequired[int]
    #: The other side, when it is a firm of your desk.
    counterparty_firm_id: str
    #: The credits. A buyer that names credits of another desk gives scheme and face_paise too.
    scrip_nos: List[str]


class CrossQuoteRequest2(TypedDict):
    """scrip_nos, or scheme and face_paise; one of the two counterparty fields."""
    #: A block with anybody, or a transfer between firms of one of your groups.
    kind: Literal["block", "intra_group"]
    #: The side of the firm that is acted for.
    side: Literal["sell", "buy"]
    #: The firm of your desk that is acted for; the key's when absent.
    firm_id: NotRequired[str]
    #: The price between the two; the rate card's mid when absent.
    price_bps: NotRequired[int]
    #: The other side, when it is a firm of your desk.
    counterparty_firm_id: str
    #: The scheme; needed with face_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Whole credits of this face, with at least 365 days left. Where the seller is on your desk, those of its own whose sum is the largest within this; otherwise exactly this.
    face_paise: int
    #: The credits. A buyer that names credits of another desk gives scheme and face_paise too.
    scrip_nos: NotRequired[List[str]]


class CrossQuoteRequest3(TypedDict):
    """scrip_nos, or scheme and face_paise; one of the two counterparty fields."""
    #: A block with anybody, or a transfer between firms of one of your groups.
    kind: Literal["block", "intra_group"]
    #: The side of the firm that is acted for.
    side: Literal["sell", "buy"]
    #: The firm of your desk that is acted for; the key's when absent.
    firm_id: NotRequired[str]
    #: The price between the two; the rate card's mid when absent.
    price_bps: NotRequired[int]
    #: The other side by its importer-exporter code, whoever acts for it.
    counterparty_iec: str
    #: The credits. A buyer that names credits of another desk gives scheme and face_paise too.
    scrip_nos: List[str]


class CrossQuoteRequest4(TypedDict):
    """scrip_nos, or scheme and face_paise; one of the two counterparty fields."""
    #: A block with anybody, or a transfer between firms of one of your groups.
    kind: Literal["block", "intra_group"]
    #: The side of the firm that is acted for.
    side: Literal["sell", "buy"]
    #: The firm of your desk that is acted for; the key's when absent.
    firm_id: NotRequired[str]
    #: The price between the two; the rate card's mid when absent.
    price_bps: NotRequired[int]
    #: The other side by its importer-exporter code, whoever acts for it.
    counterparty_iec: str
    #: The scheme; needed with face_paise.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: Whole credits of this face, with at least 365 days left. Where the seller is on your desk, those of its own whose sum is the largest within this; otherwise exactly this.
    face_paise: int
    #: The credits. A buyer that names credits of another desk gives scheme and face_paise too.
    scrip_nos: NotRequired[List[str]]


CrossQuoteRequest = Union["CrossQuoteRequest1", "CrossQuoteRequest2", "CrossQuoteRequest3", "CrossQuoteRequest4"]


class CrossQuote(TypedDict):
    """The terms of a cross, your side of them."""
    #: Propose the cross with it, once and in time.
    cross_quote_ref: NotRequired[str]
    #: The kind that was asked for.
    kind: NotRequired[Union[Literal["block", "intra_group"], str]]
    #: The firm that is acted for.
    firm_id: NotRequired[str]
    #: Its side.
    side: NotRequired[Union[Literal["sell", "buy"], str]]
    #: The importer-exporter code of the other side.
    counterparty_iec: NotRequired[str]
    #: Which scheme.
    scheme: NotRequired[Union[Literal["RODTEP", "ROSCTL"], str]]
    #: The credits that the terms name; none where the seller is to choose.
    scrip_nos: NotRequired[List[str]]
    #: The face value in paise.
    face_paise: NotRequired[int]
    #: The price between the two sides.
    price_bps: NotRequired[int]
    #: The fee within the all-in amount.
    fee_paise: NotRequired[int]
    #: GST on the fee, within the all-in amount.
    gst_paise: NotRequired[int]
    #: What you pay or get, everything included.
    all_in_paise: NotRequired[int]
    #: Names the terms. The other side accepts this very text.
    terms_hash: NotRequired[str]
    #: Until when it can be proposed. ISO 8601, IST.
    valid_until: NotRequired[str]
    #: True, and beside it only a reason.
    no_quote: NotRequired[bool]
    #: With no_quote: market_unavailable, wait; size_unavailable, change the amount.
    reason: NotRequired[Union[Literal["market_unavailable", "size_unavailable"], str]]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class ProposeCross(TypedDict):
    #: The quote whose terms are proposed.
    cross_quote_ref: str


class CrossSidesItem(TypedDict):
    #: Which side.
    side: Union[Literal["sell", "buy"], str]
    #: The firm of your desk that is on it.
    firm_id: str
    #: The fee within the all-in amount.
    fee_paise: int
    #: GST on the fee, within the all-in amount.
    gst_paise: int
    #: What it pays or gets, everything included.
    all_in_paise: int


class CrossHistoryItem(TypedDict):
    #: The state it came to.
    status: Union[Literal["proposed", "agreed", "funded", "released", "settled", "declined", "cancelled", "expired", "refunded", "failed"], str]
    #: When it came to this state. ISO 8601, IST.
    at: str
    #: Why it came to this state; null where that is obvious.
    reason: Optional[str]


class Cross(TypedDict):
    """A deal of two named firms, away from the market."""
    #: The cross's id.
    cross_id: str
    #: Block or intra-group.
    kind: Union[Literal["block", "intra_group"], str]
    #: Your side; the proposing one where your desk has both.
    side: Union[Literal["sell", "buy"], str]
    #: The firm of your desk that is on it.
    firm_id: str
    #: The importer-exporter code of the other side.
    counterparty_iec: str
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The credits; none before the seller has chosen.
    scrip_nos: List[str]
    #: The face value in paise.
    face_paise: int
    #: The price between the two.
    price_bps: int
    #: The fee within the all-in amount.
    fee_paise: int
    #: GST on the fee, within the all-in amount.
    gst_paise: int
    #: What you pay or get, everything included.
    all_in_paise: int
    #: What your firms do in it, and nothing of anybody else.
    sides: List[CrossSidesItem]
    #: Names the terms that both sides agree to.
    terms_hash: str
    #: The state it is in.
    status: Union[Literal["proposed", "agreed", "funded", "released", "settled", "declined", "cancelled", "expired", "refunded", "failed"], str]
    #: Why it ended; null while it has not, and where that is obvious.
    reason: Optional[str]
    #: Whose move it is.
    waiting_on: Union[Literal["buyer", "seller", "customs", "bank", "none"], str]
    #: By when that must have happened; null where nothing is awaited. ISO 8601, IST.
    due_at: Optional[str]
    #: The reference that the buyer gave for its payment; null for the seller, and before it is funded.
    payment_ref: Optional[str]
    #: The settlement of what was released; null before the release.
    settlement_id: Optional[str]
    #: The state of that settlement; null before the release.
    settlement_status: Optional[str]
    #: The netting of a group that it is a part of; null for a cross of its own.
    netting_ref: Optional[str]
    #: Every state it came to, in order.
    history: List[CrossHistoryItem]
    #: The number of the version, raised by every change.
    version: int
    #: What you can do with it now.
    allowed_actions: List[str]
    #: When it was proposed. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class CrossList(TypedDict):
    #: Newest first.
    crosses: List[Cross]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class AcceptCross(TypedDict):
    #: The terms you agree to, as the cross shows them.
    terms_hash: str
    #: Seller, where the terms name no credits: those you deliver, of exactly the face. Found among your own when absent.
    scrip_nos: NotRequired[List[str]]


DeclineCross = Dict[str, Any]


class FundCross(TypedDict):
    #: Your own name for the payment. The same again is the same payment.
    payment_ref: str


ReleaseCross = Dict[str, Any]


CancelCross = Dict[str, Any]


class PositionsSchemesItem(TypedDict):
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: How many credits are held.
    count: int
    #: Their faces: available, reserved and in settlement together.
    held_paise: int
    #: Free to be sold or used.
    available_paise: int
    #: Promised to an order or a deal.
    reserved_paise: int
    #: What is on its way to a buyer, in paise.
    in_settlement_paise: int
    #: Of what is held, what lapses within 30 days.
    expiring_30_paise: int
    #: What expires within 60 days, in paise.
    expiring_60_paise: int
    #: What expires within 90 days, in paise.
    expiring_90_paise: int
    #: Of what is held, balances that customs has shown; the rest is as your firms told it.
    shown_by_customs_paise: int
    #: The earliest day on which customs showed one of these; null without any.
    shown_from: Optional[str]


class PositionsCash(TypedDict):
    """What the firms have with us."""
    #: What can be spent or paid out.
    available_paise: int
    #: Held for deals that have not settled.
    escrow_paise: int
    #: What deals under way will bring.
    pending_in_paise: int
    #: What is on its way to the bank, in paise.
    pending_out_paise: int
    #: What the firms owe the house; nothing is available before it is paid.
    dues_paise: int


class Positions(TypedDict):
    """What is held and what is owed, as one snapshot."""
    #: Whose; null for the whole desk.
    firm_id: Optional[str]
    #: By scheme; a scheme of which nothing is held is left out.
    schemes: List[PositionsSchemesItem]
    #: What the firms have with us.
    cash: PositionsCash
    #: The one moment that every figure is of. ISO 8601, IST.
    as_of: str
    #: The sequence of the last event that is in these figures.
    version: int


class MarketLastDeal(TypedDict):
    """The last credit that changed hands; null before there was one."""
    #: What the seller got, in basis points of face.
    price_bps: int
    #: Its face, rounded to two digits.
    face_paise: int
    #: When it was agreed. ISO 8601, IST.
    at: str


class MarketDepthItem(TypedDict):
    #: Faces below this and not below the band before; null for the last band.
    below_paise: Optional[int]
    #: The number of credits.
    count: int
    #: What they add up to, rounded to two digits.
    face_paise: int


class Market(TypedDict):
    """One scheme's market. It names no firm and no credit."""
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Whether there are prices; unavailable until a first card.
    state: Union[Literal["open", "halted", "unavailable"], str]
    #: What a seller gets for a credit of ₹10 lakh with at least 365 days left. Indicative: a quote binds. Null while the market is not open.
    sell_price_bps: Optional[int]
    #: What a buyer pays for cover of ₹10 lakh. Only for keys with the buy side; null while the market is not open.
    buy_price_bps: NotRequired[Optional[int]]
    #: The last published index; null before there is one.
    index_bps: Optional[int]
    #: The last credit that changed hands; null before there was one.
    last_deal: Optional[MarketLastDeal]
    #: Face dealt in the last 24 hours, each rounded to two digits.
    volume_24h_paise: int
    #: Credits dealt in that time.
    deals_24h: int
    #: What the house could sell now, by the size bands of its card.
    depth: List[MarketDepthItem]
    #: Since when this holds; nothing has changed in between. ISO 8601, IST.
    as_of: str
    #: Names the log; another one when it was restarted.
    epoch: str
    #: The place in the log: `<epoch>-<seq>` as Last-Event-ID continues from here.
    seq: int


class MarketList(TypedDict):
    #: One per scheme.
    markets: List[Market]
    #: Since when this holds; nothing has changed in between. ISO 8601, IST.
    as_of: str
    #: Names the log; another one when it was restarted.
    epoch: str
    #: The place in the log: `<epoch>-<seq>` as Last-Event-ID continues from here.
    seq: int


class TaskInstructions(TypedDict):
    """What to enter where it is done; null unless the task is open and there is something to tell."""
    #: For pay: who gets the money; null for the other kinds.
    beneficiary: NotRequired[Optional[str]]
    #: For pay: the account number to pay to; null for the other kinds.
    account_no: NotRequired[Optional[str]]
    #: For pay: the IFSC of that account; null for the other kinds.
    ifsc: NotRequired[Optional[str]]
    #: For pay: the bank of that account; null for the other kinds.
    bank: NotRequired[Optional[str]]
    #: For pay: the exact amount in paise.
    amount_paise: NotRequired[int]
    #: For pay: what to give as the reference; null for the other kinds.
    reference: NotRequired[Optional[str]]
    #: initiate and accept: the credit.
    scrip_no: NotRequired[str]
    #: initiate and accept: its face.
    face_paise: NotRequired[int]
    #: For initiate: the IEC of the receiver; null for the other kinds.
    to_iec: NotRequired[Optional[str]]
    #: For initiate: the name of the receiving firm; null for the other kinds.
    to_name: NotRequired[Optional[str]]
    #: For accept: the IEC of the holder; null for the other kinds.
    from_iec: NotRequired[Optional[str]]
    #: For accept: the name of the holding firm; null for the other kinds.
    from_name: NotRequired[Optional[str]]


class Task(TypedDict):
    """What a firm, or the house for it, does outside."""
    #: The task's id.
    task_id: str
    #: pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there.
    kind: Union[Literal["pay", "initiate", "accept"], str]
    #: Whose side it is of.
    side: Union[Literal["sell", "buy"], str]
    #: The firm of your desk.
    firm_id: str
    #: The credit; null for the payment.
    scrip_no: Optional[str]
    #: Who does it: the firm, or the house for it by its mandate.
    by: Union[Literal["firm", "house"], str]
    #: late: its deadline has passed and it still waits. void: the deal ended without it.
    status: Union[Literal["waiting", "done", "late", "void"], str]
    #: By when it is to be done; null once it is done. ISO 8601, IST.
    due_at: Optional[str]
    #: When it was done, as a party said or customs showed; null before. ISO 8601, IST.
    done_at: Optional[str]
    #: The reference that was given with it; null without one.
    reference: Optional[str]
    #: What to enter where it is done; null unless the task is open and there is something to tell.
    instructions: Optional[TaskInstructions]


class SettlementSidesItemLegsItem(TypedDict):
    #: The credit's number.
    scrip_no: str
    #: The order that it was dealt by; null for a cross.
    order_id: Optional[str]
    #: The credit's face value in paise.
    face_paise: int
    #: Your price in basis points of face.
    price_bps: int
    #: What you pay or get for it with fees and tax, in paise.
    all_in_paise: int
    #: Where the credit stands.
    status: Union[Literal["pending", "to_initiate", "to_accept", "missing", "transferring", "delivered", "failed"], str]
    #: Why it was not delivered; null otherwise.
    reason: Optional[str]
    #: The side that pays the other because it is proved to be late at the portal; null where none is.
    default_by: Optional[str]
    #: How much it pays; 0 where nobody does.
    default_paise: int


class SettlementSidesItem(TypedDict):
    #: Which side.
    side: Union[Literal["sell", "buy"], str]
    #: The firm of your desk that is on it.
    firm_id: str
    #: The orders that it dealt by.
    order_ids: List[str]
    #: Where this side stands, by its own credits.
    status: Union[Literal["pending", "funded", "transfer_initiated", "transfer_confirmed", "settled", "failed", "reversed"], str]
    #: The face of its credits.
    face_paise: int
    #: What was agreed to change hands.
    all_in_paise: int
    #: What of it has changed hands, for credits that were delivered.
    settled_paise: int
    #: What of it will not, for credits that were not.
    undelivered_paise: int
    #: What your side owes for having been late; kept back or set off.
    default_owed_paise: int
    #: What the other side owes yours for that; yours once it is collected.
    default_due_paise: int
    #: One per credit.
    legs: List[SettlementSidesItemLegsItem]


class SettlementHistoryItem(TypedDict):
    #: The state it came to.
    status: Union[Literal["pending", "funded", "transfer_initiated", "transfer_confirmed", "settled", "failed", "reversed"], str]
    #: When it came to this state. ISO 8601, IST.
    at: str
    #: Why it came to this state; null where that is obvious.
    reason: Optional[str]


class Settlement(TypedDict):
    """Delivery of whole credits against payment."""
    #: The settlement's id.
    settlement_id: str
    #: The cross whose credits it delivers; null for a settlement of orders.
    cross_id: Optional[str]
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Where your side stands; with several, `settled` if anything of them was delivered.
    status: Union[Literal["pending", "funded", "transfer_initiated", "transfer_confirmed", "settled", "failed", "reversed"], str]
    #: Why it failed or was reversed; null otherwise.
    reason: Optional[str]
    #: What was awaited when it failed: pay, initiate, accept or customs. New ones may appear; null where it did not fail while waiting.
    failed_step: Optional[str]
    #: Whose move it is.
    waiting_on: Union[Literal["buyer", "seller", "customs", "bank", "none"], str]
    #: By when that must have happened; null where nothing is awaited. ISO 8601, IST.
    due_at: Optional[str]
    #: Whether that is over. A transfer that may be open at customs ends only by what customs says.
    late: bool
    #: What your firms deliver or buy in it, and nothing of anybody else.
    sides: List[SettlementSidesItem]
    #: What your side does, or the house for it: the payment, then credit by credit.
    tasks: List[Task]
    #: Every state it came to, in order.
    history: List[SettlementHistoryItem]
    #: The number of the version, raised by every change.
    version: int
    #: What you can do with it now.
    allowed_actions: List[str]
    #: When it was dealt. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class SettlementList(TypedDict):
    #: Newest first.
    settlements: List[Settlement]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class TaskOfListInstructions(TypedDict):
    """What to enter where it is done; null unless the task is open and there is something to tell."""
    #: For pay: who gets the money; null for the other kinds.
    beneficiary: NotRequired[Optional[str]]
    #: For pay: the account number to pay to; null for the other kinds.
    account_no: NotRequired[Optional[str]]
    #: For pay: the IFSC of that account; null for the other kinds.
    ifsc: NotRequired[Optional[str]]
    #: For pay: the bank of that account; null for the other kinds.
    bank: NotRequired[Optional[str]]
    #: For pay: the exact amount in paise.
    amount_paise: NotRequired[int]
    #: For pay: what to give as the reference; null for the other kinds.
    reference: NotRequired[Optional[str]]
    #: initiate and accept: the credit.
    scrip_no: NotRequired[str]
    #: initiate and accept: its face.
    face_paise: NotRequired[int]
    #: For initiate: the IEC of the receiver; null for the other kinds.
    to_iec: NotRequired[Optional[str]]
    #: For initiate: the name of the receiving firm; null for the other kinds.
    to_name: NotRequired[Optional[str]]
    #: For accept: the IEC of the holder; null for the other kinds.
    from_iec: NotRequired[Optional[str]]
    #: For accept: the name of the holding firm; null for the other kinds.
    from_name: NotRequired[Optional[str]]


class TaskOfList(TypedDict):
    """A task and the settlement that it carries out."""
    #: The settlement's id.
    settlement_id: str
    #: The task's id.
    task_id: str
    #: pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there.
    kind: Union[Literal["pay", "initiate", "accept"], str]
    #: Whose side it is of.
    side: Union[Literal["sell", "buy"], str]
    #: The firm of your desk.
    firm_id: str
    #: The credit; null for the payment.
    scrip_no: Optional[str]
    #: Who does it: the firm, or the house for it by its mandate.
    by: Union[Literal["firm", "house"], str]
    #: late: its deadline has passed and it still waits. void: the deal ended without it.
    status: Union[Literal["waiting", "done", "late", "void"], str]
    #: By when it is to be done; null once it is done. ISO 8601, IST.
    due_at: Optional[str]
    #: When it was done, as a party said or customs showed; null before. ISO 8601, IST.
    done_at: Optional[str]
    #: The reference that was given with it; null without one.
    reference: Optional[str]
    #: What to enter where it is done; null unless the task is open and there is something to tell.
    instructions: Optional[TaskOfListInstructions]


class TaskList(TypedDict):
    #: The soonest due first.
    tasks: List[TaskOfList]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class FinishTask(TypedDict):
    #: What the portal or the bank gave you for it: a number that can be looked up.
    reference: str


class ReportMissing(TypedDict):
    #: What the portal or the bank gave you for it: a number that can be looked up.
    reference: NotRequired[str]
    #: What whoever looks should know.
    note: NotRequired[str]


AdvanceSettlement = Dict[str, Any]


class Funding(TypedDict):
    """Where a firm pays ahead of its deals."""
    #: The firm that pays.
    firm_id: str
    #: Whom to pay: the house.
    beneficiary: str
    #: Which account to pay to.
    account_no: str
    #: The IFSC of the account's branch.
    ifsc: str
    #: The account's bank.
    bank: str
    #: Whether the number is this firm's alone, so that money to it is found without a reference. It is the firm's money once it came from a confirmed account of the firm.
    is_own_number: bool
    #: What to write with the payment: it says for whom the money is.
    reference: str


class PayoutRemittance(TypedDict):
    """What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then."""
    #: The payout that names it: the first of those that leave together.
    payout_id: str
    #: What reaches the account under one reference.
    amount_paise: int


class PayoutBank(TypedDict):
    """Where it goes; null while the firm has given no account."""
    #: The branch's IFSC.
    ifsc: str
    #: The last digits of the account number.
    account_no_masked: str


class PayoutLinesItem(TypedDict):
    #: The order that sold it; null where a cross did.
    order_id: Optional[str]
    #: The cross that sold it; null where an order did.
    cross_id: Optional[str]
    #: The credit's number.
    scrip_no: str
    #: What this credit brought.
    amount_paise: int


class PayoutHistoryItem(TypedDict):
    #: The state it came to.
    status: Union[Literal["scheduled", "held", "instructed", "sent", "paid", "returned"], str]
    #: When it came to this state. ISO 8601, IST.
    at: str
    #: Why it came to this state; null where that is obvious.
    reason: Optional[str]


class Payout(TypedDict):
    """Money on its way to a firm's bank."""
    #: The payout's id.
    payout_id: str
    #: The firm that is paid.
    firm_id: str
    #: Where it comes from: a settlement, or the firm's balance.
    kind: Union[Literal["settlement", "withdrawal"], str]
    #: The settlement that it comes from; null for a withdrawal.
    settlement_id: Optional[str]
    #: The payout that came back and is sent again by this one; null for a first attempt.
    resend_of: Optional[str]
    #: How much: the sum of its lines, less `set_off_paise`.
    amount_paise: int
    #: What of its lines was set off from what the firm owed the house.
    set_off_paise: int
    #: How it goes: by the amount of its remittance, once it has one.
    rail: Union[Literal["RTGS", "NEFT", "IMPS"], str]
    #: What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then.
    remittance: Optional[PayoutRemittance]
    #: Where it goes; null while the firm has given no account.
    bank: Optional[PayoutBank]
    #: The state it is in.
    status: Union[Literal["scheduled", "held", "instructed", "sent", "paid", "returned"], str]
    #: Why it is held or came back; null otherwise.
    reason: Optional[str]
    #: When the hold ends by itself; null without a hold, or where something else ends it. ISO 8601, IST.
    held_until: Optional[str]
    #: The bank's reference (UTR); null before it is sent.
    utr: Optional[str]
    #: Which order each paisa comes from; a withdrawal has none.
    lines: List[PayoutLinesItem]
    #: Every state it came to, in order.
    history: List[PayoutHistoryItem]
    #: The number of the version, raised by every change.
    version: int
    #: What you can do with it now.
    allowed_actions: List[str]
    #: When it was scheduled. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class PayoutList(TypedDict):
    #: Newest first.
    payouts: List[Payout]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class Deposit(TypedDict):
    """Money that came from a firm."""
    #: The bank's reference of the payment.
    reference: str
    #: The firm whose money it is.
    firm_id: str
    #: The amount that came, in paise.
    amount_paise: int
    #: The settlement that it came for; null where it became balance.
    settlement_id: Optional[str]
    #: Whether it is the firm's, or was taken back.
    status: Union[Literal["received", "returned"], str]
    #: Why it was taken back; null while it was not.
    reason: Optional[str]
    #: When it was booked. ISO 8601, IST.
    received_at: str
    #: When it was taken back; null while it was not.
    returned_at: Optional[str]


class DepositList(TypedDict):
    #: Newest first.
    deposits: List[Deposit]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class WithdrawMoney(TypedDict):
    #: How much of what the firm has available.
    amount_paise: int


class ApprovalRules(TypedDict):
    """What your desk says takes two of its keys."""
    #: Whether another bank account of a firm takes two keys.
    bank_changes: bool
    #: Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none.
    withdrawals_from_paise: Optional[int]
    #: When they were set; null before the first time. ISO 8601, IST.
    updated_at: Optional[str]
    #: Raised by every change; 0 before the first.
    version: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class SetApprovalRules(TypedDict):
    #: Whether another bank account of a firm takes two keys.
    bank_changes: bool
    #: Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none.
    withdrawals_from_paise: Optional[int]


class ProposeAct1Bank(TypedDict):
    """The account that its money shall go to; null for none."""
    #: 9 to 18 digits. Never shown again.
    account_no: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class ProposeAct1(TypedDict):
    #: bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`.
    kind: Literal["bank_change"]
    #: The firm that it is about.
    firm_id: str
    #: The account that its money shall go to; null for none.
    bank: Optional[ProposeAct1Bank]


class ProposeAct2(TypedDict):
    #: bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`.
    kind: Literal["withdrawal"]
    #: The firm that it is about.
    firm_id: str
    #: What is to be paid out, in paise.
    amount_paise: int


class ProposeAct3(TypedDict):
    #: bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`.
    kind: Literal["offboarding"]
    #: The firm that it is about.
    firm_id: str


class ProposeAct4Rules(TypedDict):
    """What shall take two keys."""
    #: Whether another bank account of a firm takes two keys.
    bank_changes: bool
    #: Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none.
    withdrawals_from_paise: Optional[int]


class ProposeAct4(TypedDict):
    #: bank_change with `firm_id` and `bank`, withdrawal with `firm_id` and `amount_paise`, offboarding (with mode drain) with `firm_id`, rules with `rules`.
    kind: Literal["rules"]
    #: What shall take two keys.
    rules: ProposeAct4Rules


ProposeAct = Union["ProposeAct1", "ProposeAct2", "ProposeAct3", "ProposeAct4"]


class DeskApprovalShownBank(TypedDict):
    """The account that the firm's money shall go to; null for none."""
    #: The account number, of which the last four digits are shown.
    account_no_masked: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class DeskApprovalShownRules(TypedDict):
    """What shall take two keys."""
    #: Whether another bank account of a firm takes two keys.
    bank_changes: bool
    #: Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none.
    withdrawals_from_paise: Optional[int]


class DeskApprovalShown(TypedDict):
    """What is decided: the account in part, the sum or the rules."""
    #: The account that the firm's money shall go to; null for none.
    bank: NotRequired[Optional[DeskApprovalShownBank]]
    #: What is paid out, in paise.
    amount_paise: NotRequired[int]
    #: What shall take two keys.
    rules: NotRequired[DeskApprovalShownRules]


class DeskApproval(TypedDict):
    """An act that one key proposed and another one decides."""
    #: The approval's id.
    approval_id: str
    #: What it does once it is approved.
    kind: Union[Literal["bank_change", "withdrawal", "offboarding", "rules"], str]
    #: The firm that it is about; your own for rules.
    firm_id: str
    #: Only what is proposed can be decided.
    status: Union[Literal["proposed", "approved", "rejected", "voided", "expired"], str]
    #: What is decided: the account in part, the sum or the rules.
    shown: DeskApprovalShown
    #: The name that the key bore which proposed it.
    proposed_by: str
    #: The name that the key bore which approved or rejected it; null while none has.
    decided_by: Optional[str]
    #: Why it was rejected or became void; null otherwise.
    reason: Optional[str]
    #: The payout of a withdrawal that was approved; null otherwise.
    payout_id: Optional[str]
    #: When it was proposed. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: When it ends by itself, 72 hours after it was proposed. ISO 8601, IST.
    expires_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class DeskApprovalList(TypedDict):
    #: Newest first.
    approvals: List[DeskApproval]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class ApproveActBank(TypedDict):
    """Of a bank_change: the account as you know it from the firm, null for none; another is not approved."""
    #: 9 to 18 digits. Never shown again.
    account_no: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class ApproveAct(TypedDict):
    #: Of a bank_change: the account as you know it from the firm, null for none; another is not approved.
    bank: NotRequired[Optional[ApproveActBank]]


class RejectAct(TypedDict):
    #: The reason in words.
    reason: str


class AdvanceClock(TypedDict):
    #: By how many seconds your desk's clock goes forward. It never goes back, but for a reset, and is at most ten years ahead.
    advance_s: int


class DeskClockBroughtNearer(TypedDict):
    """What ends sooner by that much: how many of each."""
    #: Orders that rest until a given time.
    orders: int
    #: Quotes that can still be ordered on.
    quotes: int
    #: Your proposals, and open crosses among your firms.
    crosses: int
    #: Open settlements among your firms and with the house.
    settlements: int
    #: Payouts that have not been sent.
    payouts: int
    #: The number of holds on your firms' payouts.
    holds: int
    #: Credits, by whole days.
    credits: int
    #: What your firms will have to pay, by whole days.
    requirements: int


class DeskClock(TypedDict):
    #: What your desk's clock shows. ISO 8601, IST.
    clock: str
    #: How far it is ahead of the service's, in all, since the last reset.
    ahead_s: int
    #: What ends sooner by that much: how many of each.
    brought_nearer: DeskClockBroughtNearer
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class SetScenario(TypedDict):
    #: transfer_timeout: customs says nothing before the deadline, and then that nothing is pending. transfer_refused: it refuses. credit_suspended: it suspends the credit. payout_returned: the bank sends the money back. market_halt: you get no quotes until market_open.
    scenario: Literal["transfer_timeout", "transfer_refused", "credit_suspended", "wrong_iec", "never_initiates", "never_accepts", "accepts_late", "tasks_manual", "payout_returned", "market_halt", "market_open"]


class ScenarioList(TypedDict):
    #: What has been set and has not happened yet, in the order it was set.
    scenarios: List[Union[Literal["transfer_timeout", "transfer_refused", "credit_suspended", "wrong_iec", "never_initiates", "never_accepts", "accepts_late", "tasks_manual", "payout_returned", "market_halt", "market_open"], str]]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class SeedSandbox(TypedDict):
    #: The firm of your desk that gets them; the key's own when absent.
    firm_id: NotRequired[str]
    #: How many credits.
    count: int
    #: All of this scheme; mixed when absent.
    scheme: NotRequired[Literal["RODTEP", "ROSCTL"]]
    #: The same text makes the same credits for a firm; other credits otherwise.
    seed: NotRequired[str]


class SeededCredits(TypedDict):
    #: The id of the firm that holds them.
    firm_id: str
    #: The credits' numbers.
    scrip_nos: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


ResetSandbox = Dict[str, Any]


class SandboxReset(TypedDict):
    #: The number of resting orders that were cancelled.
    orders_cancelled: int
    #: Your proposals, and open crosses among your firms.
    crosses_ended: int
    #: Open settlements among your firms and with the house.
    settlements_failed: int
    #: Credits that no deal had.
    credits_withdrawn: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class EarningsEarningsItem(TypedDict):
    #: When the credits were delivered. IST.
    day: NotRequired[str]
    #: Your client firm that dealt.
    firm_id: NotRequired[str]
    #: The scheme of the credits.
    scheme: NotRequired[Union[Literal["RODTEP", "ROSCTL"], str]]
    #: How many credits it was earned on, less those taken back.
    credits: int
    #: The sum of the credits' face values, in paise.
    face_paise: int
    #: What was earned on them, less what was taken back.
    commission_paise: int


Earnings = TypedDict(
    "Earnings",
    {
        # What was added up by.
        "by": "Union[Literal['day', 'firm', 'scheme'], str]",
        # The first day. IST.
        "from": "str",
        # The last day. IST.
        "to": "str",
        # In the order of day, firm or scheme; only what was earned on is listed.
        "earnings": "List[EarningsEarningsItem]",
        # The commission of the month, in paise.
        "commission_paise": "int",
        # What you earn on deals that settle now, in bps of face.
        "commission_bps": "int",
        # What of your commission is with us now.
        "balance_paise": "int",
        # Raised by everything that moves.
        "version": "int",
        # Always empty: a paper has no actions.
        "allowed_actions": "List[str]",
    },
)


class StatementSummary(TypedDict):
    #: The statement's number.
    statement_no: str
    #: Whose statement it is.
    firm_id: str
    #: The month in IST.
    period: str
    #: running until the month is over, provisional until what was under way at its end is in the books, then final and never changed.
    status: Union[Literal["running", "provisional", "final"], str]
    #: The balance at the beginning: what the statement before closed with.
    opening_paise: int
    #: The balance at the end, or by now.
    closing_paise: int
    #: Since when it is final; null while the month runs. ISO 8601, IST.
    frozen_at: Optional[str]
    #: SHA-256 of a final statement, as it is kept; null before it is final.
    digest: Optional[str]
    #: The last entry of the books that was seen: raised by everything that moves.
    version: int
    #: Always empty: a paper has no actions.
    allowed_actions: List[str]


class StatementList(TypedDict):
    #: Newest first.
    statements: List[StatementSummary]


class StatementFirm(TypedDict):
    """Whose account it is."""
    #: The legal name as it is registered.
    legal_name: str
    #: The firm's PAN; null until it is told.
    pan: Optional[str]
    #: The GSTIN; null until it is told.
    gstin: Optional[str]


class StatementHouse(TypedDict):
    """Who keeps the account."""
    #: Who keeps the account.
    name: str
    #: The address, line by line.
    address: List[str]
    #: The GSTIN; null until it is told.
    gstin: Optional[str]
    #: Its number in the register of companies (CIN); null where none is told.
    cin: NotRequired[Optional[str]]


class StatementLinesItem(TypedDict):
    #: The place of the line, from 1.
    line_no: int
    #: When it took effect. ISO 8601, IST.
    at: str
    #: The kind of line.
    kind: Union[Literal["sale", "purchase", "fee", "gst", "cgst", "sgst", "igst", "tds", "deposit", "payout", "refund", "reversal", "dues", "default", "commission", "adjustment"], str]
    #: The same in words.
    description: str
    #: The settlement or payout it is about, or the bank's reference of a deposit.
    reference: str
    #: The bank's reference (UTR) of money that came or went; null for other lines.
    utr: Optional[str]
    #: The tariff heading of what changed hands: scrips are 4907 and exempt from GST; null for lines of no credits.
    hsn: Optional[str]
    #: The scheme of the credits; null for lines of no credits.
    scheme: Optional[Union[Literal["RODTEP", "ROSCTL"], str]]
    #: The credits' numbers.
    scrip_nos: List[str]
    #: The sum of the credits' face values; null for lines of no credits.
    face_paise: Optional[int]
    #: Your price; null where the credits had several.
    price_bps: Optional[int]
    #: What it adds to the balance; below zero where it takes.
    amount_paise: int
    #: The balance after the line, in paise.
    balance_paise: int


class StatementTotalsItem(TypedDict):
    #: Of which lines.
    kind: Union[Literal["sale", "purchase", "fee", "gst", "cgst", "sgst", "igst", "tds", "deposit", "payout", "refund", "reversal", "dues", "default", "commission", "adjustment"], str]
    #: The number of lines.
    lines: int
    #: The sum of their amounts, in paise.
    amount_paise: int


Statement = TypedDict(
    "Statement",
    {
        # The statement's number.
        "statement_no": "str",
        # Whose statement it is.
        "firm_id": "str",
        # The month in IST.
        "period": "str",
        # running until the month is over, provisional until what was under way at its end is in the books, then final and never changed.
        "status": "Union[Literal['running', 'provisional', 'final'], str]",
        # The balance at the beginning: what the statement before closed with.
        "opening_paise": "int",
        # The balance at the end, or by now.
        "closing_paise": "int",
        # Since when it is final; null while the month runs. ISO 8601, IST.
        "frozen_at": "Optional[str]",
        # SHA-256 of a final statement, as it is kept; null before it is final.
        "digest": "Optional[str]",
        # The last entry of the books that was seen: raised by everything that moves.
        "version": "int",
        # Always empty: a paper has no actions.
        "allowed_actions": "List[str]",
        # The first instant of the month. ISO 8601, IST.
        "from": "str",
        # The first instant after it. ISO 8601, IST.
        "to": "str",
        # When this was made. ISO 8601, IST.
        "as_of": "str",
        # Whose account it is.
        "firm": "StatementFirm",
        # Who keeps the account.
        "house": "StatementHouse",
        # What moved, in the order it took effect: opening_paise and all of them sum to closing_paise.
        "lines": "List[StatementLinesItem]",
        # How many lines there are, on this page and all others.
        "line_count": "int",
        # What the lines of each kind add up to.
        "totals": "List[StatementTotalsItem]",
        # What of the closing balance was earned as a desk.
        "commission_paise": "int",
        # What the firm owes the house, beside the balance.
        "dues_paise": "int",
    },
)


class ContractNoteFirm(TypedDict):
    """Whose side it is."""
    #: The legal name as it is registered.
    legal_name: str
    #: The firm's PAN; null until it is told.
    pan: Optional[str]
    #: The GSTIN; null until it is told.
    gstin: Optional[str]


class ContractNoteLegsItem(TypedDict):
    #: The credit's number.
    scrip_no: str
    #: Your price in basis points of face.
    price_bps: int
    #: The tariff heading of scrips.
    hsn: str
    #: The face value in paise.
    face_paise: int
    #: What the scrips are worth at your price; HSN 4907, exempt from GST.
    value_paise: int
    #: The fee within the all-in amount.
    fee_paise: int
    #: GST on the fee, within the all-in amount.
    gst_paise: int
    #: What changes hands: value less fee and GST when you sell, plus both when you buy.
    all_in_paise: int
    #: Where the credit stands, as in its settlement.
    status: str
    #: The side that pays the other for being late, sell or buy; null where none does.
    default_by: Optional[str]
    #: How much it pays; 0 where nobody does.
    default_paise: int


class ContractNotePaymentsItem(TypedDict):
    #: To the firm's bank, or from it.
    direction: Union[Literal["out", "in"], str]
    #: The bank's reference; null until it was sent.
    utr: Optional[str]
    #: The amount in paise.
    amount_paise: int
    #: received, or where the payout stands.
    status: str


class ContractNoteTaxesItem(TypedDict):
    #: A part of gst_paise by the place of supply, or tax deducted at source from what you get.
    kind: Union[Literal["cgst", "sgst", "igst", "tds"], str]
    #: The same for people, with its rate.
    name: str
    #: Its rate in basis points.
    rate_bps: int
    #: The amount in paise.
    amount_paise: int


class ContractNoteInvoicesItem(TypedDict):
    #: Its number, without a gap in the financial year.
    invoice_no: str
    #: A credit note takes back what was invoiced.
    kind: Union[Literal["invoice", "credit_note"], str]
    #: When it was issued. ISO 8601, IST.
    issued_at: str
    #: The state code by which the tax was divided.
    place_of_supply: str
    #: The code of the service; null on papers from before it was kept.
    sac: Optional[str]
    #: The fee before tax, in paise.
    fee_paise: int
    #: All tax on the fee, in paise.
    gst_paise: int
    #: Central tax, within the house's state.
    cgst_paise: int
    #: The state's tax, within the house's state.
    sgst_paise: int
    #: Integrated tax, across a border.
    igst_paise: int
    #: The rate of cgst_paise.
    cgst_bps: int
    #: The rate of sgst_paise.
    sgst_bps: int
    #: The rate of igst_paise.
    igst_bps: int
    #: Of a credit note, the invoices that it takes back.
    against: List[str]


class ContractNote(TypedDict):
    #: The number of the note.
    note_no: str
    #: The id of the firm whose deal it is.
    firm_id: str
    #: Which side it was on.
    side: Union[Literal["sell", "buy"], str]
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Where the settlement stands.
    status: str
    #: When it was dealt. ISO 8601, IST.
    dealt_at: str
    #: The orders that it was dealt by.
    order_ids: List[str]
    #: Whose side it is.
    firm: ContractNoteFirm
    #: One per credit.
    legs: List[ContractNoteLegsItem]
    #: The face value in paise.
    face_paise: int
    #: What the scrips are worth at your price; HSN 4907, exempt from GST.
    value_paise: int
    #: The fee within the all-in amount.
    fee_paise: int
    #: GST on the fee, within the all-in amount.
    gst_paise: int
    #: What changes hands: value less fee and GST when you sell, plus both when you buy.
    all_in_paise: int
    #: What of the all-in amount has changed hands.
    settled_paise: int
    #: What of the price will not be delivered, in paise.
    undelivered_paise: int
    #: Money that the banks moved for it.
    payments: List[ContractNotePaymentsItem]
    #: Of credits delivered while tax lines were set, and not reversed.
    taxes: NotRequired[List[ContractNoteTaxesItem]]
    #: What a seller is paid for what was settled, less tax deducted at source.
    net_paise: NotRequired[int]
    #: What was issued for the fee of this side.
    invoices: NotRequired[List[ContractNoteInvoicesItem]]


class ContractNotesHouse(TypedDict):
    """Who stands between the sides."""
    #: Who stands between the sides.
    name: str
    #: The address, line by line.
    address: List[str]
    #: The GSTIN; null until it is told.
    gstin: Optional[str]
    #: Its number in the register of companies (CIN); null where none is told.
    cin: NotRequired[Optional[str]]


class ContractNotes(TypedDict):
    """What your firms dealt in a settlement, on paper."""
    #: The settlement's id.
    settlement_id: str
    #: When this was made. ISO 8601, IST.
    as_of: str
    #: Who stands between the sides.
    house: ContractNotesHouse
    #: One for each of your firms that has a side in it, and nothing of anybody else.
    notes: List[ContractNote]
    #: The settlement's version.
    version: int
    #: Always empty: a paper has no actions.
    allowed_actions: List[str]


class BillOfSupplySupplier(TypedDict):
    """Who supplies the credits."""
    #: Its legal name.
    name: str
    #: Its importer-exporter code (IEC); null where none is told.
    iec: Optional[str]
    #: Its GSTIN; null of who is not registered.
    gstin: Optional[str]
    #: In lines; empty where we do not know it.
    address: List[str]
    #: The two digits of its state, as a GSTIN begins; null where none is told.
    state_code: Optional[str]


class BillOfSupplyRecipient(TypedDict):
    """Who receives them."""
    #: Its legal name.
    name: str
    #: Its importer-exporter code (IEC); null where none is told.
    iec: Optional[str]
    #: Its GSTIN; null of who is not registered.
    gstin: Optional[str]
    #: In lines; empty where we do not know it.
    address: List[str]
    #: The two digits of its state, as a GSTIN begins; null where none is told.
    state_code: Optional[str]


class BillOfSupplyLinesItem(TypedDict):
    #: The credit's number.
    scrip_no: str
    #: The tariff heading of scrips.
    hsn: str
    #: What it is, in words.
    description: str
    #: Its value in paise.
    value_paise: int


class BillOfSupply(TypedDict):
    #: A supply, or its return after a reversal.
    kind: Union[Literal["bill_of_supply", "supply_return"], str]
    #: The house's number, without a gap in its series; null on a draft.
    number: Optional[str]
    #: The series of the number, one for each financial year; null on a draft.
    series: Optional[str]
    #: The day of the supply, IST.
    date: str
    #: Who supplies the credits.
    supplier: BillOfSupplySupplier
    #: Who receives them.
    recipient: BillOfSupplyRecipient
    #: The state code of the recipient's GSTIN, or of the supplier's for a recipient without; null where neither has one.
    place_of_supply: Optional[str]
    #: One per credit.
    lines: List[BillOfSupplyLinesItem]
    #: The sum of the lines; nothing is rounded.
    total_paise: int
    #: The total in words, as it is printed.
    total_words: str
    #: The citation by which no GST is charged.
    exemption: str
    #: Who signs for the supplier; null on a draft in a client's name.
    signatory: Optional[str]
    #: Of a return, the house's bills that it takes back.
    against: List[str]
    #: Whether the supplier has to number and sign it: your firm, or the seller of what you bought. The house's own is a draft for the seconds until it has its number.
    draft: bool


class BillsOfSupply(TypedDict):
    """The bills of supply of a settlement."""
    #: The settlement's id.
    settlement_id: str
    #: When this was made. ISO 8601, IST.
    as_of: str
    #: Of what was delivered and your firms supplied or received.
    bills: List[BillOfSupply]
    #: The settlement's version.
    version: int
    #: Always empty: a paper has no actions.
    allowed_actions: List[str]


class EventFactsEntity(TypedDict):
    """The thing it happened to."""
    #: What kind of thing it is.
    type: str
    #: The thing's id.
    id: str
    #: The thing's version after it.
    version: int
    #: Read it again here for what holds now.
    href: str


EventFacts = TypedDict(
    "EventFacts",
    {
        # The event's id.
        "id": "str",
        # When it happened. ISO 8601, IST.
        "created_at": "str",
        # Where it happened.
        "environment": "Union[Literal['live', 'sandbox'], str]",
        # The firm it happened to.
        "firm_id": "str",
        # Gap-free per desk, from 1.
        "sequence": "int",
        # The thing it happened to.
        "entity": "EventFactsEntity",
        # The state before; null when there was none.
        "from": "Optional[str]",
        # The state after; null when there is none.
        "to": "Optional[str]",
        # The request that caused it; null where a worker did.
        "request_id": "Optional[str]",
    },
)


class EventList(TypedDict):
    #: In the order that was asked for.
    events: List[Event]
    #: Of the desk's last event; 0 before the first.
    latest_sequence: int
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class AuditEntryBlock(TypedDict):
    """The records that are hashed as one with this. Null for a record with a hash of its own."""
    #: The first record of the block.
    first_seq: int
    #: The last record of the block.
    last_seq: int


class AuditEntry(TypedDict):
    """One change: who, what, when, and digests of the thing."""
    #: Its place in the desk's chain, from 1.
    seq: int
    #: The record's id.
    record_id: str
    #: Where it happened.
    environment: Union[Literal["live", "sandbox"], str]
    #: When it happened. ISO 8601, IST.
    at: str
    #: Who changed it. A counterparty is another desk, which stays unnamed.
    actor_kind: Union[Literal["key", "operator", "worker", "visitor", "counterparty"], str]
    #: Key id, operator's name or worker's name.
    actor_id: str
    #: The request that did it; null where a worker did.
    request_id: Optional[str]
    #: What was done.
    action: str
    #: What kind of thing was changed.
    entity_type: str
    #: The thing's id.
    entity_id: str
    #: The thing's version after it.
    entity_version: int
    #: The thing before. Null when it is new, and in a block, where it is not recorded. SHA-256, hex.
    before_hash: Optional[str]
    #: The thing after. Null when it is gone, and in a block where event_hash is given. SHA-256, hex.
    after_hash: Optional[str]
    #: The event that told of it: in a block without the digits of its sequence, otherwise as it was sent. Null when nobody was told, and in records of form 1. SHA-256, hex.
    event_hash: Optional[str]
    #: Of everything up to here, as exported: of its whole block where block is given, otherwise of this record. SHA-256, hex.
    hash: str
    #: The records that are hashed as one with this. Null for a record with a hash of its own.
    block: Optional[AuditEntryBlock]


class AuditList(TypedDict):
    #: Newest first.
    audit: List[AuditEntry]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class AuditKeysKeysItem(TypedDict):
    #: How checkpoints are signed.
    algorithm: Union[Literal["Ed25519"], str]
    #: 32 bytes, hex, as in checkpoints.
    public_key: str


class AuditKeys(TypedDict):
    """What checkpoints of exports are signed with, and below it what they were signed with before."""
    #: The key in use first, then those of earlier master keys.
    keys: List[AuditKeysKeysItem]


class RegisterWebhook1(TypedDict):
    #: What it is for, in words.
    description: NotRequired[str]
    #: Where events are sent, by POST. https only in production; no private address.
    url: str
    #: One event name, or * for all of them; or else `events`.
    event: Literal["*", "firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"]


class RegisterWebhook2(TypedDict):
    #: What it is for, in words.
    description: NotRequired[str]
    #: Where events are sent, by POST. https only in production; no private address.
    url: str
    #: What is sent: names of events, or * for all of them.
    events: List[Literal["*", "firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"]]


RegisterWebhook = Union["RegisterWebhook1", "RegisterWebhook2"]


class Webhook(TypedDict):
    """A subscription: which events go to which address."""
    #: The subscription's id.
    webhook_id: str
    #: Where it is.
    environment: Union[Literal["live", "sandbox"], str]
    #: The firm whose events it gets; null: those of the whole desk.
    firm_id: Optional[str]
    #: Where events are sent, by POST. https only in production; no private address.
    url: str
    #: Its event, or * for all; of several the first.
    event: str
    #: What is sent: names of events, or * for all.
    events: List[str]
    #: What it is for, in words; null without any.
    description: Optional[str]
    #: Shown whole once, when it is made; masked in every later view.
    signing_secret: str
    #: Until when deliveries are signed with the previous secret too; null without one. ISO 8601, IST.
    previous_secret_until: Optional[str]
    #: Whether it is sent to.
    status: Union[Literal["active", "failing", "disabled", "paused"], str]
    #: When a test was last asked for; null before the first. ISO 8601, IST.
    tested_at: Optional[str]
    #: When it was registered. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class WebhookList(TypedDict):
    #: Newest first.
    webhooks: List[Webhook]
    #: Every event that can be subscribed to.
    events: List[Union[Literal["firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"], str]]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class UpdateWebhook(TypedDict):
    #: Where events are sent, by POST. https only in production; no private address.
    url: NotRequired[str]
    #: What is sent: names of events, or * for all of them.
    events: NotRequired[List[Literal["*", "firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"]]]
    #: What it is for, in words. null takes it away.
    description: NotRequired[Optional[str]]
    #: A paused one is sent nothing. What happens meanwhile is sent when it is active again, as far as it is not older than 7 days by then.
    status: NotRequired[Literal["active", "paused"]]


class TestedWebhook(TypedDict):
    #: The subscription's id.
    webhook_id: str
    #: What is sent.
    event: Union[Literal["webhook.ping"], str]
    #: As in X-Service-Delivery; its attempts are in the list of deliveries.
    delivery_id: str
    #: The event's number on your desk.
    sequence: int
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class RotateSecret(TypedDict):
    #: For so many seconds deliveries are also signed with the old secret. Default 86400.
    grace_s: NotRequired[int]


class Attempt(TypedDict):
    """One POST of a delivery."""
    #: When it began. ISO 8601, IST.
    at: str
    #: How long the answer took, in milliseconds.
    duration_ms: int
    #: What it was.
    outcome: Union[Literal["delivered", "transient", "permanent"], str]
    #: The HTTP status of the answer; null without an answer.
    status: Optional[int]
    #: Why it was not delivered; null when it was.
    reason: Optional[str]
    #: The first bytes of the answer.
    answer: str


class LoggedDelivery(TypedDict):
    """A delivery with its attempts."""
    #: As in X-Service-Delivery: the same on every attempt and replay.
    delivery_id: str
    #: The webhook it is for.
    webhook_id: str
    #: The event's name.
    event: str
    #: The event's id.
    event_id: str
    #: The event's number on your desk.
    sequence: int
    #: The state it is in.
    status: Union[Literal["pending", "delivered", "dead"], str]
    #: Why it was not taken; null where it was, or was not yet tried.
    reason: Optional[str]
    #: The number of times it was sent.
    attempts: int
    #: The HTTP status of the last answer; null without an answer.
    last_status: Optional[int]
    #: When it is tried again; null once it is delivered or given up on. ISO 8601, IST.
    next_attempt_at: Optional[str]
    #: When it was queued. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]
    #: Oldest first.
    attempt_log: List[Attempt]


class DeliveryList(TypedDict):
    #: Newest first.
    deliveries: List[LoggedDelivery]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class Delivery(TypedDict):
    """One event for one webhook."""
    #: As in X-Service-Delivery: the same on every attempt and replay.
    delivery_id: str
    #: The webhook it is for.
    webhook_id: str
    #: The event's name.
    event: str
    #: The event's id.
    event_id: str
    #: The event's number on your desk.
    sequence: int
    #: The state it is in.
    status: Union[Literal["pending", "delivered", "dead"], str]
    #: Why it was not taken; null where it was, or was not yet tried.
    reason: Optional[str]
    #: The number of times it was sent.
    attempts: int
    #: The HTTP status of the last answer; null without an answer.
    last_status: Optional[int]
    #: When it is tried again; null once it is delivered or given up on. ISO 8601, IST.
    next_attempt_at: Optional[str]
    #: When it was queued. ISO 8601, IST.
    created_at: str
    #: When it last changed. ISO 8601, IST.
    updated_at: str
    #: The number of the version, raised by every change.
    version: int
    #: What can be done with it now.
    allowed_actions: List[str]


class FailureList(TypedDict):
    #: Newest first.
    failures: List[Delivery]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class ReplayDeliveries1(TypedDict):
    #: These dead letters; given alone.
    delivery_ids: List[str]


class ReplayDeliveries2(TypedDict):
    #: Those of this webhook.
    webhook_id: NotRequired[str]
    #: Only of this event.
    event: NotRequired[Literal["firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"]]
    #: Those of events from then on.
    since: NotRequired[str]
    #: Those of events before then.
    until: NotRequired[str]


ReplayDeliveries = Union["ReplayDeliveries1", "ReplayDeliveries2"]


class Replay(TypedDict):
    #: Dead letters that are sent again.
    queued: int
    #: What is no dead letter of yours, or whose webhook is disabled.
    skipped: int
    #: Left for the next call; one call takes at most 1000.
    remaining: int
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class Rate(TypedDict):
    """What credits of a scheme are worth today."""
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The day of the figure. A day in IST.
    date: str
    #: What sellers received, in bps of face; null before there is an index.
    index_bps: Optional[int]
    #: Where the figure comes from: the day's own deals, an earlier day's because there were too few, or nowhere yet.
    basis: Union[Literal["deals", "carried", "none"], str]
    #: Whether the figure is not made of the day's own deals.
    stale: bool
    #: The day whose deals the figure is made of; null where it is not made of deals.
    deals_on: Optional[str]
    #: Whether the day is over and its figure fixed for good.
    final: bool
    #: The number of deals that count; null for a day that is not fixed or has too few sellers.
    deal_count: Optional[int]
    #: The number of different sellers; null for a day that is not fixed or has too few of them.
    seller_count: Optional[int]
    #: The face value that was dealt; null for a day that is not fixed or has too few sellers.
    face_paise: Optional[int]
    #: The last fixed day before this one; null before there is one.
    previous_date: Optional[str]
    #: The difference from the figure of that day; null without one.
    change_bps: Optional[int]
    #: Whether the desk gives prices now; null without a rate card.
    market_state: Optional[str]
    #: The middle of the house's rate card, in bps of face; null before there is a card.
    mid_bps: Optional[int]


class RateList(TypedDict):
    #: One per scheme.
    rates: List[Rate]


class Methodology(TypedDict):
    """How the index is made."""
    #: Raised when the method changes.
    version: int
    #: The method in a sentence.
    summary: str
    #: The environment whose deals count.
    environment: str
    #: What there is an index for.
    schemes: List[str]
    #: The unit of index_bps.
    unit: str
    #: Fewer sellers make no figure.
    sellers_min: int
    #: Share of the day's face that is cut at each end.
    trim_bps: int
    #: Seconds after the IST day's end from which its figure is fixed.
    fixed_after_s: int
    #: The method, step by step.
    steps: List[str]


class RateFigure(TypedDict):
    """The index of one scheme for one day."""
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The day of the figure. A day in IST.
    date: str
    #: What sellers received, in bps of face; null before there is an index.
    index_bps: Optional[int]
    #: Where the figure comes from: the day's own deals, an earlier day's because there were too few, or nowhere yet.
    basis: Union[Literal["deals", "carried", "none"], str]
    #: Whether the figure is not made of the day's own deals.
    stale: bool
    #: The day whose deals the figure is made of; null where it is not made of deals.
    deals_on: Optional[str]
    #: Whether the day is over and its figure fixed for good.
    final: bool
    #: The number of deals that count; null for a day that is not fixed or has too few sellers.
    deal_count: Optional[int]
    #: The number of different sellers; null for a day that is not fixed or has too few of them.
    seller_count: Optional[int]
    #: The face value that was dealt; null for a day that is not fixed or has too few sellers.
    face_paise: Optional[int]


RateHistory = TypedDict(
    "RateHistory",
    {
        # The scheme of the credits.
        "scheme": "Union[Literal['RODTEP', 'ROSCTL'], str]",
        # The first day asked for. A day in IST.
        "from": "str",
        # The last day asked for. A day in IST.
        "to": "str",
        # Fixed days, oldest first.
        "days": "List[RateFigure]",
    },
)


class Estimate(TypedDict):
    """Between what and what a price would lie; never a price."""
    #: The side that was asked for.
    side: Union[Literal["sell", "buy"], str]
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The amount that was asked for, in paise.
    amount_paise: int
    #: Whose rate card it is made by.
    environment: Union[Literal["live", "sandbox"], str]
    #: Sell: as asked. A day in IST.
    expires_on: NotRequired[str]
    #: Sell: days from today to that one.
    days_left: NotRequired[int]
    #: The lower end of the price, in bps of face.
    low_bps: NotRequired[int]
    #: The upper end of the price, in bps of face.
    high_bps: NotRequired[int]
    #: The lower end of what changes hands.
    low_paise: NotRequired[int]
    #: The upper end of what changes hands.
    high_paise: NotRequired[int]
    #: Buy: the least that is saved against cash.
    savings_low_paise: NotRequired[int]
    #: Buy: the most that is saved against cash.
    savings_high_paise: NotRequired[int]
    #: True when there is no range now; then nothing else is given.
    no_estimate: NotRequired[bool]
    #: Why there is none: wait, change the amount, or the credit lapses too soon.
    reason: NotRequired[Union[Literal["market_unavailable", "size_unavailable", "validity_unavailable"], str]]
    #: Always false: nobody is bound to an estimate.
    binding: bool
    #: The same in words, for people.
    note: str
    #: When it was made. ISO 8601, IST.
    as_of: str


class SubmitSellEnquiry(TypedDict):
    #: The scheme of the credits.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: The face you want to sell.
    face_paise: int
    #: Your name, or your firm's.
    name: str
    #: Where you are answered.
    email: str
    #: Ten Indian digits, or with + and a country code.
    phone: NotRequired[str]
    #: Your importer-exporter code.
    iec: NotRequired[str]
    #: That you agree to be contacted and to your data being kept for that, for a time.
    consent: Literal[True]


class Enquiry(TypedDict):
    """How far an enquiry has come; nothing that was said in it."""
    #: Keep it to ask how far the enquiry has come.
    enquiry_ref: str
    #: How far it has come.
    status: Union[Literal["received", "closed"], str]
    #: When it was received. ISO 8601, IST.
    created_at: str
    #: When its status last changed. ISO 8601, IST.
    updated_at: str
    #: When it is deleted, with all personal data in it. ISO 8601, IST.
    kept_until: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class SubmitBuyEnquiry(TypedDict):
    #: The scheme of the credits.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: The basic customs duty you want to cover.
    requirement_paise: int
    #: Your name, or your firm's.
    name: str
    #: Where you are answered.
    email: str
    #: Ten Indian digits, or with + and a country code.
    phone: NotRequired[str]
    #: Your importer-exporter code.
    iec: NotRequired[str]
    #: That you agree to be contacted and to your data being kept for that, for a time.
    consent: Literal[True]


class SubmitContactEnquiry(TypedDict):
    #: Your name, or your firm's.
    name: str
    #: Where you are answered.
    email: str
    #: What you want to know.
    message: str
    #: That you agree to be contacted and to your data being kept for that, for a time.
    consent: Literal[True]


class HouseScheme(TypedDict):
    """The terms on which the house deals in a scheme."""
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Whether the house gives prices now; null without a rate card.
    market_state: Optional[str]
    #: The house's fee in bps of face, inside every price it gives; null before there is a card.
    fee_bps: Optional[int]
    #: What a side that is proved late on the customs portal pays the other, in bps of face; null before there is a card.
    default_bps: Optional[int]
    #: For how many seconds a quote binds the house; null before there is a card.
    quote_window_s: Optional[int]
    #: The largest face it gives a price for; null before there is a card.
    face_max_paise: Optional[int]
    #: Credits with fewer days left get no price; null before there is a card.
    days_left_min: Optional[int]


class TimetableHolidaysItem(TypedDict):
    #: Who is closed.
    office: Union[Literal["bank", "customs"], str]
    #: The day, YYYY-MM-DD in IST.
    date: str
    #: What the day is called.
    name: str


class Timetable(TypedDict):
    """When credits and money move, for a deal agreed now."""
    #: The moment that the days below count from. ISO 8601, IST.
    as_of: str
    #: What comes after this time of day, IST, counts as of the next working day.
    cut_off: str
    #: When deadlines end, IST.
    closes: str
    #: Working days of customs after which a transfer is late.
    transfer_working_days: int
    #: The last moment for the transfer of a credit sold to the house now. ISO 8601, IST.
    transferred_by: str
    #: Working days of banks that a buyer has to pay.
    payment_working_days: int
    #: The last moment for the money of a purchase agreed now. ISO 8601, IST.
    paid_by: str
    #: Days of the coming month on which banks or customs are closed, by date.
    holidays: List[TimetableHolidaysItem]


class HouseWithholding(TypedDict):
    """Tax that is withheld from sellers; null where none is."""
    #: The section of the law.
    section: str
    #: In bps of what exceeds the threshold.
    rate_bps: int
    #: A seller's sales in a financial year without it.
    threshold_paise: int


class House(TypedDict):
    """Who the house is, what dealing costs and when money comes."""
    #: Who runs this desk.
    name: str
    #: Its name in law; null until told.
    legal_name: Optional[str]
    #: Its number in the register of companies (CIN); null where none is told.
    cin: Optional[str]
    #: Its address by lines; empty until told.
    address: List[str]
    #: Its GSTIN; null until told.
    gstin: Optional[str]
    #: The mail address; null when none is told.
    email: Optional[str]
    #: The telephone number; null when none is told.
    phone: Optional[str]
    #: Where its terms are; null until published.
    terms_href: Optional[str]
    #: Where it says what becomes of personal data; null where nothing is told.
    privacy_href: Optional[str]
    #: One per scheme.
    schemes: List[HouseScheme]
    #: Goods and services tax on a fee, in bps of it.
    gst_bps: int
    #: The heading under which credits are exempt from GST.
    scrip_hsn: str
    #: What each side of a block pays, tax included, in bps of face.
    block_fee_bps: int
    #: Tax that is withheld from sellers; null where none is.
    withholding: Optional[HouseWithholding]
    #: From this amount on money travels by RTGS.
    rtgs_from_paise: int
    timetable: Timetable


class PreviewSchemesItemDaysItem(TypedDict):
    #: The day, YYYY-MM-DD in IST.
    date: str
    #: A simulated figure, in bps of face.
    index_bps: int


class PreviewSchemesItem(TypedDict):
    #: The scheme of the credits.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Of the sandbox's market.
    market_state: Union[Literal["open", "halted"], str]
    #: The middle of the sandbox's rate card, in bps of face.
    mid_bps: int
    #: A year of simulated figures, oldest first.
    days: List[PreviewSchemesItemDaysItem]


class Preview(TypedDict):
    """Simulated figures for a desk without a live market."""
    #: Always the sandbox.
    environment: str
    #: What these figures are, for people.
    note: str
    #: One per scheme with a sandbox card.
    schemes: List[PreviewSchemesItem]


@final
class SellQuote(TypedDict):
    """A Quote for selling, with a price."""
    side: Literal["sell"]
    #: Sell by scrip_no: the credit that was priced.
    scrip_no: NotRequired[str]
    #: The scheme that was priced.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Sell: the face value that was priced.
    face_paise: int
    #: Your price, in basis points of face.
    price_bps: int
    #: The single amount that changes hands, everything included.
    all_in_paise: int
    #: Sell: until when the price binds. ISO 8601, IST.
    valid_until: str
    #: The quote's reference: order with it, or ask support about it.
    quote_ref: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


@final
class BuyQuote(TypedDict):
    """A Quote for buying cover, with a price."""
    side: Literal["buy"]
    #: The scheme that was priced.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Buy: the basic customs duty to cover.
    requirement_paise: int
    #: Your price, in basis points of face.
    price_bps: int
    #: The single amount that changes hands, everything included.
    all_in_paise: int
    #: Buy: saved against paying the duty in cash.
    savings_paise: int
    #: Buy: the whole credits that cover the requirement.
    scrip_nos: List[str]
    #: Buy: the duty that the bundle covers.
    covered_paise: int
    #: Buy: the duty left to pay in cash.
    residual_paise: int
    #: Buy: whether nothing is left to pay in cash.
    fully_covered: bool
    #: The quote's reference: order with it, or ask support about it.
    quote_ref: str
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


@final
class NoQuote(TypedDict):
    """A Quote without a price."""
    no_quote: Literal[True]
    #: market_unavailable, wait; size_unavailable, change it.
    reason: Union[Literal["market_unavailable", "size_unavailable"], str]
    #: In the answer to a dry run only: nothing was written.
    dry_run: NotRequired[Literal[True]]


class FirmRegisteredData(TypedDict):
    """The data of an event."""
    #: The name it is registered under with customs.
    legal_name: str
    #: What the firm does: exporter, importer or both.
    role: Union[Literal["exporter", "importer", "both"], str]
    #: Your own name for the firm; null when it has none.
    external_id: Optional[str]


class FirmCheckedDataChecksItem(TypedDict):
    #: What was asked.
    check: Union[Literal["IEC_ACTIVE", "PAN_MATCH", "GSTIN_MATCH", "BANK_NAME_MATCH", "FLAGGED_IEC"], str]
    #: What was found.
    outcome: Union[Literal["pass", "fail", "pending"], str]
    #: What to do about a failure; null for a check that has not failed.
    cure: Optional[str]
    #: When it was found; null while pending.
    as_of: Optional[str]


class FirmCheckedData(TypedDict):
    """The data of an event."""
    #: What the registry and the bank said about the firm.
    checks: List[FirmCheckedDataChecksItem]


class FirmAuthorizedDataMandate(TypedDict):
    """The firm's permission to trade for it."""
    #: The mandate's reference.
    reference: str
    #: The end of its validity.
    valid_until: str


class FirmAuthorizedData(TypedDict):
    """The data of an event."""
    #: The firm's permission to trade for it.
    mandate: FirmAuthorizedDataMandate


class FirmBankChangedDataBank(TypedDict):
    """Where its money goes; null before it is given."""
    #: The account number, of which the last four digits are shown.
    account_no_masked: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class FirmBankChangedDataFormerBank(TypedDict):
    """The account until then, in part; null where there was none."""
    #: The account number, of which the last four digits are shown.
    account_no_masked: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class FirmBankChangedData(TypedDict):
    """The data of an event."""
    #: Where its money goes; null before it is given.
    bank: Optional[FirmBankChangedDataBank]
    #: The account until then, in part; null where there was none.
    former_bank: Optional[FirmBankChangedDataFormerBank]


class FirmMandateExpiringData(TypedDict):
    """The data of an event."""
    #: The mandate's reference.
    reference: str
    #: The end of its validity. ISO 8601, IST.
    valid_until: str
    #: Days until its last day.
    days_left: int


class FirmSuspendedData(TypedDict):
    """The data of an event."""
    #: Who suspended it: the desk or the operator.
    by: str
    #: The reason in words; null without one.
    reason: Optional[str]


class FirmResumedData(TypedDict):
    """The data of an event."""
    #: Who had suspended it: the desk or the operator; null where that is not recorded.
    suspended_by: Optional[str]


FirmOffboardedData = Dict[str, Any]


class RequirementUncoveredData(TypedDict):
    """The data of an event."""
    #: The requirement's id.
    requirement_id: str
    #: Your own name for it, such as the bill of entry.
    reference: str
    #: Which credits are to cover it; null: either.
    scheme: Optional[str]
    #: When it is due, in IST.
    due_on: str
    #: The basic customs duty to be paid.
    amount_paise: int
    #: What its orders have bought for it: matched, and not failed.
    covered_paise: int
    #: amount_paise less covered_paise; 0 where more was bought than is needed now.
    uncovered_paise: int
    #: What an order for it still rests with; a part of what is uncovered.
    resting_paise: int


class CreditEventData(TypedDict):
    """The data of an event."""
    #: The credit's number: opaque, taken trimmed and in capitals.
    scrip_no: str
    #: The scheme it was issued under.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The balance that can be transferred: what is priced and sold. 0 once it is used.
    face_paise: int
    #: The last day it can be used, IST. YYYY-MM-DD.
    expires_on: str
    #: Why it came to this state; null where that is obvious.
    reason: NotRequired[Optional[str]]


class CreditExpiringData(TypedDict):
    """The data of an event."""
    #: The credit's number: opaque, taken trimmed and in capitals.
    scrip_no: str
    #: The scheme it was issued under.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The balance that can be transferred: what is priced and sold. 0 once it is used.
    face_paise: int
    #: The last day it can be used, IST. YYYY-MM-DD.
    expires_on: str
    #: The number of days until it expires.
    days_left: int
    #: The warning that this is: so many days before.
    warning_days: int


class CreditUsedData(TypedDict):
    """The data of an event."""
    #: The credit's number: opaque, taken trimmed and in capitals.
    scrip_no: str
    #: The scheme it was issued under.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The balance that can be transferred: what is priced and sold. 0 once it is used.
    face_paise: int
    #: The last day it can be used, IST. YYYY-MM-DD.
    expires_on: str
    #: The part that was used; face_paise is what it left.
    amount_paise: int
    #: The bill of entry that it paid; null where customs tells of it.
    bill_of_entry: Optional[str]
    #: The day it paid duty. YYYY-MM-DD, IST; null where none was given.
    used_on: Optional[str]
    #: The customs port of the bill of entry; null where none was given.
    port: Optional[str]
    #: Why it came to this state; null where that is obvious.
    reason: NotRequired[Optional[str]]


class OrderEventData(TypedDict):
    """The data of an event."""
    #: Your own name for the order; null when it has none.
    client_ref: Optional[str]
    #: Which side.
    side: Union[Literal["sell", "buy"], str]
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Sell: the credits it sells. Buy: the credits that cover it so far.
    scrip_nos: List[str]
    #: Sell: the face that was asked for.
    face_paise: NotRequired[int]
    #: Buy: the basic customs duty to cover.
    requirement_paise: NotRequired[int]
    #: Sell: the face of its credits. Buy: the duty covered so far.
    covered_paise: int
    #: The one price of the order; null until something of it is dealt.
    price_bps: Optional[int]
    #: The limit it was placed with; null without one.
    limit_bps: Optional[int]
    #: The amount that changes hands for the dealt part, everything included; null before anything of it is dealt.
    all_in_paise: Optional[int]
    #: The quote that the order took; null without one.
    quote_ref: Optional[str]
    #: The id of its latest settlement; null before there is a deal.
    settlement_id: Optional[str]
    #: Its state.
    status: Union[Literal["open", "matched", "cancelled", "expired", "failed"], str]
    #: Why it came to this state; null where that is obvious.
    reason: Optional[str]


class SettlementEventData(TypedDict):
    """The data of an event."""
    #: Which side.
    side: Union[Literal["sell", "buy"], str]
    #: The orders that it dealt by.
    order_ids: List[str]
    #: The face of its credits.
    face_paise: int
    #: What was agreed to change hands.
    all_in_paise: int
    #: What of it has changed hands, for credits that were delivered.
    settled_paise: int
    #: What of it will not, for credits that were not.
    undelivered_paise: int
    #: What your side owes for having been late; kept back or set off.
    default_owed_paise: int
    #: What the other side owes yours for that; yours once it is collected.
    default_due_paise: int
    #: Where this side stands, by its own credits.
    status: Union[Literal["pending", "funded", "transfer_initiated", "transfer_confirmed", "settled", "failed", "reversed"], str]
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: Why it failed or was reversed; null otherwise.
    reason: Optional[str]
    #: What was awaited when it failed: pay, initiate, accept or customs. New ones may appear; null where it did not fail while waiting.
    failed_step: Optional[str]
    #: The credits of this side.
    scrip_nos: List[str]


class TaskEventData(TypedDict):
    """The data of an event."""
    #: The settlement that it carries out.
    settlement_id: str
    #: The task's id.
    task_id: str
    #: pay: send the money to the house. initiate: initiate the transfer on the customs portal. accept: accept it there.
    kind: Union[Literal["pay", "initiate", "accept"], str]
    #: Whose side it is of.
    side: Union[Literal["sell", "buy"], str]
    #: The credit; null for the payment.
    scrip_no: Optional[str]
    #: Who does it: the firm, or the house for it by its mandate.
    by: Union[Literal["firm", "house"], str]
    #: late: its deadline has passed and it still waits. void: the deal ended without it.
    status: Union[Literal["waiting", "done", "late", "void"], str]
    #: By when it is to be done; null once it is done. ISO 8601, IST.
    due_at: Optional[str]
    #: When it was done, as a party said or customs showed; null before. ISO 8601, IST.
    done_at: Optional[str]
    #: For pay: what is to be paid; null for the other kinds.
    amount_paise: Optional[int]
    #: The credit's face; null for pay.
    face_paise: Optional[int]


class PayoutEventDataRemittance(TypedDict):
    """What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then."""
    #: The payout that names it: the first of those that leave together.
    payout_id: str
    #: What reaches the account under one reference.
    amount_paise: int


class PayoutEventData(TypedDict):
    """The data of an event."""
    #: Where it comes from: a settlement, or the firm's balance.
    kind: Union[Literal["settlement", "withdrawal"], str]
    #: The settlement that it comes from; null for a withdrawal.
    settlement_id: Optional[str]
    #: The payout that came back and is sent again by this one; null for a first attempt.
    resend_of: Optional[str]
    #: How much: the sum of its lines, less `set_off_paise`.
    amount_paise: int
    #: What of its lines was set off from what the firm owed the house.
    set_off_paise: int
    #: How it goes: by the amount of its remittance, once it has one.
    rail: Union[Literal["RTGS", "NEFT", "IMPS"], str]
    #: What it leaves in: all that is due to one payee in one run reaches its account as one amount, under one `utr`. Null until then.
    remittance: Optional[PayoutEventDataRemittance]
    #: The bank's reference (UTR); null before it is sent.
    utr: Optional[str]
    #: The state it is in.
    status: Union[Literal["scheduled", "held", "instructed", "sent", "paid", "returned"], str]
    #: Why it is held or came back; null otherwise.
    reason: Optional[str]


class DepositEventData(TypedDict):
    """The data of an event."""
    #: The bank's reference of the payment.
    reference: str
    #: The amount that came, in paise.
    amount_paise: int
    #: The settlement that it came for; null where it became balance.
    settlement_id: Optional[str]
    #: Whether it is the firm's, or was taken back.
    status: Union[Literal["received", "returned"], str]
    #: When it was booked. ISO 8601, IST.
    received_at: str
    #: When it was taken back; null while it was not.
    returned_at: Optional[str]


class DepositQueuedData(TypedDict):
    """The data of an event."""
    #: The amount that came, in paise.
    amount_paise: int
    #: Why it waits for a person.
    reason: Union[Literal["no_reference", "unknown_reference", "ambiguous_reference", "amount_differs", "third_party", "voided_file", "already_answered", "reference_used", "firm_left", "firm_rejected", "firm_may_not_trade", "perhaps_counted"], str]


class DuesEventData(TypedDict):
    """The data of an event."""
    #: The settlement, payout, cross or deposit that it comes from.
    reference: str
    #: What was added to the dues, or paid on them.
    amount_paise: int
    #: What the firm owes the house after it.
    dues_paise: int


class CrossEventData(TypedDict):
    """The data of an event."""
    #: Block or intra-group.
    kind: Union[Literal["block", "intra_group"], str]
    #: Your side; the proposing one where your desk has both.
    side: Union[Literal["sell", "buy"], str]
    #: The importer-exporter code of the other side.
    counterparty_iec: str
    #: Which scheme.
    scheme: Union[Literal["RODTEP", "ROSCTL"], str]
    #: The credits; none before the seller has chosen.
    scrip_nos: List[str]
    #: The face value in paise.
    face_paise: int
    #: The price between the two.
    price_bps: int
    #: What you pay or get, everything included.
    all_in_paise: int
    #: Names the terms that both sides agree to.
    terms_hash: str
    #: The reference that the buyer gave for its payment; null for the seller, and before it is funded.
    payment_ref: Optional[str]
    #: The settlement of what was released; null before the release.
    settlement_id: Optional[str]
    #: The netting of a group that it is a part of; null for a cross of its own.
    netting_ref: Optional[str]
    #: The state it is in.
    status: Union[Literal["proposed", "agreed", "funded", "released", "settled", "declined", "cancelled", "expired", "refunded", "failed"], str]
    #: Why it ended; null while it has not, and where that is obvious.
    reason: Optional[str]


class StatementReadyData(TypedDict):
    """The data of an event."""
    #: The statement's number.
    statement_no: str
    #: Its month, YYYY-MM.
    period: str


class SecondKeyDataShownBank(TypedDict):
    """The account that the firm's money shall go to; null for none."""
    #: The account number, of which the last four digits are shown.
    account_no_masked: str
    #: The branch's IFSC.
    ifsc: str
    #: The name the account bears.
    name: str


class SecondKeyDataShownRules(TypedDict):
    """What shall take two keys."""
    #: Whether another bank account of a firm takes two keys.
    bank_changes: bool
    #: Withdrawals of a firm that come to this sum, in paise, within 24 hours take two keys, and so does a firm that leaves with its money; null for none.
    withdrawals_from_paise: Optional[int]


class SecondKeyDataShown(TypedDict):
    """What is decided: the account in part, the sum or the rules."""
    #: The account that the firm's money shall go to; null for none.
    bank: NotRequired[Optional[SecondKeyDataShownBank]]
    #: What is paid out, in paise.
    amount_paise: NotRequired[int]
    #: What shall take two keys.
    rules: NotRequired[SecondKeyDataShownRules]


class SecondKeyData(TypedDict):
    """The data of an event."""
    #: What it does once it is approved.
    kind: Union[Literal["bank_change", "withdrawal", "offboarding", "rules"], str]
    #: The firm that it is about; your own for rules.
    firm_id: str
    #: What is decided: the account in part, the sum or the rules.
    shown: SecondKeyDataShown
    #: The name that the key bore which proposed it.
    proposed_by: str
    #: The name that the key bore which approved or rejected it; null while none has.
    decided_by: Optional[str]
    #: The payout of a withdrawal that was approved; null otherwise.
    payout_id: Optional[str]
    #: Why it was rejected or became void; null otherwise.
    reason: Optional[str]


class KeyEventData(TypedDict):
    """The data of an event."""
    #: What the key is for, in your words.
    name: str
    #: A root key is the firm's own; others are minted from it.
    kind: Union[Literal["root", "sub_account", "app"], str]


class UsageThresholdData(TypedDict):
    """The data of an event."""
    #: The key's id.
    key_id: str
    #: The IST month, YYYY-MM.
    month: str
    #: How much of the quota is used: 80 or 100.
    threshold_percent: int
    #: Calls allowed in the month.
    quota: int
    #: Calls made in the month.
    quota_used: int
    #: When the next month begins. ISO 8601, IST.
    quota_resets_at: str


class AuditCheckpointData(TypedDict):
    """The data of an event."""
    #: The place of the head in the chain.
    seq: int
    #: Of the head, SHA-256 as hex.
    hash: str
    #: What it was signed with, hex.
    public_key: str
    #: The Ed25519 signature as hex.
    signature: str
    #: The signed line, as in an export.
    checkpoint: str


class WebhookPingData(TypedDict):
    """The data of an event."""
    #: Where events are sent, by POST. https only in production; no private address.
    url: str


class WebhookUpdatedData(TypedDict):
    """The data of an event."""
    #: Where events are sent, by POST. https only in production; no private address.
    url: str
    #: What is sent: names of events, or * for all.
    events: List[str]
    #: What it is for, in words; null without any.
    description: Optional[str]


class WebhookFailingData(TypedDict):
    """The data of an event."""
    #: Where events are sent, by POST. https only in production; no private address.
    url: str
    #: Since when nothing was taken. ISO 8601, IST.
    failing_since: str
    #: When it is disabled, or was. ISO 8601, IST.
    disabled_at: str


class IsAliveAnswer(TypedDict):
    #: ok, ready or not_ready.
    status: str
    #: What is missing.
    reason: NotRequired[str]


class IsReadyAnswer(TypedDict):
    #: ok, ready or not_ready.
    status: str
    #: What is missing.
    reason: NotRequired[str]


ReadOpenApiAnswer = Dict[str, Any]


class ListKeysQuery(TypedDict):
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListKeysAnswer(TypedDict):
    #: Newest first.
    keys: List[Key]
    #: The number of rows on this page.
    count: NotRequired[int]
    #: Rows in the list when paging began.
    total: NotRequired[int]
    #: Ask for the next page with this; null on the last page.
    next_cursor: NotRequired[Optional[str]]
    #: Whether there is a next page.
    has_more: NotRequired[bool]


class ReadUsageQuery(TypedDict):
    #: The IST month whose history is shown; this month by default.
    month: NotRequired[str]


ListRequestsQuery = TypedDict(
    "ListRequestsQuery",
    {
        # Only those answered with this.
        "status": "NotRequired[int]",
        # Only those refused with this code.
        "code": "NotRequired[str]",
        # Only those refused with this reason.
        "reason": "NotRequired[str]",
        # Only of this route: `/v1/orders/{order_id}`, or `POST /v1/orders`.
        "route": "NotRequired[str]",
        # Only those that came with this key.
        "key_id": "NotRequired[str]",
        # Only those of this id.
        "request_id": "NotRequired[str]",
        # Only those that came in this second or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those that came before this second. ISO 8601, IST.
        "to": "NotRequired[str]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class ListFirmsQuery(TypedDict):
    #: Only in this state.
    connection_state: NotRequired[Literal["registered", "verifying", "action_required", "verified", "authorized", "suspended", "rejected", "offboarding", "offboarded"]]
    #: Only of this role.
    role: NotRequired[Literal["exporter", "importer", "both"]]
    #: Only of this group.
    group_id: NotRequired[str]
    #: The firm you call by this name.
    external_id: NotRequired[str]
    #: The firm of this IEC.
    iec: NotRequired[str]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListGroupsQuery(TypedDict):
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListMembersQuery(TypedDict):
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListRequirementsQuery(TypedDict):
    #: Only those that name this scheme.
    scheme: NotRequired[Literal["RODTEP", "ROSCTL"]]
    #: Only those due before this day. A day in IST.
    due_before: NotRequired[str]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListCreditsQuery(TypedDict):
    #: Only this scheme.
    scheme: NotRequired[Literal["RODTEP", "ROSCTL"]]
    #: Only this status.
    status: NotRequired[Literal["declared", "listed", "reserved", "in_settlement", "transferred", "suspended", "cancelled", "expired", "used", "withdrawn", "rejected"]]
    #: Only credits whose last day is before this one. YYYY-MM-DD.
    expiring_before: NotRequired[str]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


ListOrdersQuery = TypedDict(
    "ListOrdersQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['open', 'matched', 'cancelled', 'expired', 'failed']]",
        # Only of this side.
        "side": "NotRequired[Literal['sell', 'buy']]",
        # Only of this scheme.
        "scheme": "NotRequired[Literal['RODTEP', 'ROSCTL']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those that you gave this name.
        "client_ref": "NotRequired[str]",
        # Only those that were placed under this Idempotency-Key.
        "idempotency_key": "NotRequired[str]",
        # Only those placed at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those placed before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "NotRequired[Literal['json']]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


ListOrdersFileQuery = TypedDict(
    "ListOrdersFileQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['open', 'matched', 'cancelled', 'expired', 'failed']]",
        # Only of this side.
        "side": "NotRequired[Literal['sell', 'buy']]",
        # Only of this scheme.
        "scheme": "NotRequired[Literal['RODTEP', 'ROSCTL']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those that you gave this name.
        "client_ref": "NotRequired[str]",
        # Only those that were placed under this Idempotency-Key.
        "idempotency_key": "NotRequired[str]",
        # Only those placed at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those placed before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "Literal['csv', 'xlsx']",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class ListCrossesQuery(TypedDict):
    #: Only those in this state.
    status: NotRequired[Literal["proposed", "agreed", "funded", "released", "settled", "declined", "cancelled", "expired", "refunded", "failed"]]
    #: Only of this kind.
    kind: NotRequired[Literal["block", "intra_group"]]
    #: Only those that this firm has a side in.
    firm_id: NotRequired[str]
    #: Only those of this netting.
    netting_ref: NotRequired[str]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ReadPositionsQuery(TypedDict):
    #: Only this firm of your desk; all of them when absent.
    firm_id: NotRequired[str]
    #: As what; json unless given, or what the Accept header prefers.
    format: NotRequired[Literal["json"]]


class ReadPositionsFileQuery(TypedDict):
    #: Only this firm of your desk; all of them when absent.
    firm_id: NotRequired[str]
    #: As what; json unless given, or what the Accept header prefers.
    format: Literal["csv", "xlsx"]


ListSettlementsQuery = TypedDict(
    "ListSettlementsQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['pending', 'funded', 'transfer_initiated', 'transfer_confirmed', 'settled', 'failed', 'reversed']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those of this order.
        "order_id": "NotRequired[str]",
        # Only those dealt at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those dealt before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "NotRequired[Literal['json']]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


ListSettlementsFileQuery = TypedDict(
    "ListSettlementsFileQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['pending', 'funded', 'transfer_initiated', 'transfer_confirmed', 'settled', 'failed', 'reversed']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those of this order.
        "order_id": "NotRequired[str]",
        # Only those dealt at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those dealt before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "Literal['csv', 'xlsx']",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class ListTasksQuery(TypedDict):
    #: Only in this status; without it those that are open, waiting or late. What is done or void is of deals of the last 92 days.
    status: NotRequired[Literal["waiting", "done", "late", "void"]]
    #: Only those of this firm.
    firm_id: NotRequired[str]
    #: Only of this kind.
    kind: NotRequired[Literal["pay", "initiate", "accept"]]
    #: Only those that are due before this time. ISO 8601, IST.
    due_before: NotRequired[str]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


ListPayoutsQuery = TypedDict(
    "ListPayoutsQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['scheduled', 'held', 'instructed', 'sent', 'paid', 'returned']]",
        # Only those of this kind.
        "kind": "NotRequired[Literal['settlement', 'withdrawal']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those of this order.
        "order_id": "NotRequired[str]",
        # Only those of this settlement.
        "settlement_id": "NotRequired[str]",
        # Only those scheduled at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those scheduled before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "NotRequired[Literal['json']]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


ListPayoutsFileQuery = TypedDict(
    "ListPayoutsFileQuery",
    {
        # Only those in this state.
        "status": "NotRequired[Literal['scheduled', 'held', 'instructed', 'sent', 'paid', 'returned']]",
        # Only those of this kind.
        "kind": "NotRequired[Literal['settlement', 'withdrawal']]",
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those of this order.
        "order_id": "NotRequired[str]",
        # Only those of this settlement.
        "settlement_id": "NotRequired[str]",
        # Only those scheduled at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those scheduled before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "Literal['csv', 'xlsx']",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


ListDepositsQuery = TypedDict(
    "ListDepositsQuery",
    {
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those that came for this settlement.
        "settlement_id": "NotRequired[str]",
        # Only those received at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those received before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "NotRequired[Literal['json']]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


ListDepositsFileQuery = TypedDict(
    "ListDepositsFileQuery",
    {
        # Only those of this firm.
        "firm_id": "NotRequired[str]",
        # Only those that came for this settlement.
        "settlement_id": "NotRequired[str]",
        # Only those received at this time or later. ISO 8601, IST.
        "from": "NotRequired[str]",
        # Only those received before this time. ISO 8601, IST.
        "to": "NotRequired[str]",
        # As what; json unless given, or what the Accept header prefers.
        "format": "Literal['csv', 'xlsx']",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class ListDeskApprovalsQuery(TypedDict):
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


ReadEarningsQuery = TypedDict(
    "ReadEarningsQuery",
    {
        # What to add up by; day unless given.
        "by": "NotRequired[Literal['day', 'firm', 'scheme']]",
        # The first day; that of the month of `to` unless given. IST.
        "from": "NotRequired[str]",
        # The last day; today unless given. IST.
        "to": "NotRequired[str]",
    },
)


class ListStatementsQuery(TypedDict):
    #: Of this firm of your desk; your key's own unless given.
    firm_id: NotRequired[str]


class ReadStatementQuery(TypedDict):
    #: Of this firm of your desk; your key's own unless given.
    firm_id: NotRequired[str]
    #: As what; json unless given, or what the Accept header prefers.
    format: NotRequired[Literal["json"]]
    #: Only the lines after this one; not as pdf.
    after_line: NotRequired[int]
    #: At most so many lines; not as pdf. 2000 where after_line alone is given.
    limit: NotRequired[int]


class ReadStatementFileQuery(TypedDict):
    #: Of this firm of your desk; your key's own unless given.
    firm_id: NotRequired[str]
    #: As what; json unless given, or what the Accept header prefers.
    format: Literal["csv", "xlsx", "pdf"]
    #: Only the lines after this one; not as pdf.
    after_line: NotRequired[int]
    #: At most so many lines; not as pdf. 2000 where after_line alone is given.
    limit: NotRequired[int]


class ReadContractNoteQuery(TypedDict):
    #: As what; json unless given, or what the Accept header prefers.
    format: NotRequired[Literal["json"]]


class ReadContractNoteFileQuery(TypedDict):
    #: As what; json unless given, or what the Accept header prefers.
    format: Literal["pdf"]


class ReadBillOfSupplyQuery(TypedDict):
    #: As what; json unless given, or what the Accept header prefers.
    format: NotRequired[Literal["json"]]


class ReadBillOfSupplyFileQuery(TypedDict):
    #: As what; json unless given, or what the Accept header prefers.
    format: Literal["pdf"]


ListEventsQuery = TypedDict(
    "ListEventsQuery",
    {
        # Show events after this one; 0, the default, shows from the first.
        "after_sequence": "NotRequired[int]",
        # Only those of this name.
        "event": "NotRequired[Literal['firm.registered', 'firm.action_required', 'firm.rejected', 'firm.verified', 'firm.authorized', 'firm.bank_changed', 'firm.mandate_expiring', 'firm.suspended', 'firm.resumed', 'firm.offboarded', 'requirement.uncovered', 'credit.listed', 'credit.withdrawn', 'credit.expiring', 'credit.expired', 'credit.suspended', 'credit.used', 'order.accepted', 'order.matched', 'order.cancelled', 'order.expired', 'order.failed', 'settlement.created', 'settlement.funded', 'settlement.transfer_initiated', 'settlement.transfer_confirmed', 'settlement.settled', 'settlement.failed', 'settlement.reversed', 'settlement.default_paid', 'task.waiting', 'task.done', 'task.late', 'payout.scheduled', 'payout.held', 'payout.instructed', 'payout.sent', 'payout.paid', 'payout.returned', 'deposit.received', 'deposit.queued', 'deposit.returned', 'dues.raised', 'dues.set_off', 'cross.proposed', 'cross.agreed', 'cross.declined', 'cross.cancelled', 'cross.expired', 'cross.funded', 'cross.released', 'cross.refunded', 'cross.settled', 'cross.failed', 'statement.ready', 'second_key.proposed', 'second_key.approved', 'second_key.rejected', 'key.created', 'key.updated', 'key.revoked', 'usage.threshold', 'audit.checkpoint', 'webhook.ping', 'webhook.updated', 'webhook.failing', 'webhook.disabled']]",
        # Only those about this kind of thing.
        "entity_type": "NotRequired[str]",
        # Only those about this thing.
        "entity_id": "NotRequired[str]",
        # Only those at or after this time. ISO 8601 with an offset.
        "from": "NotRequired[str]",
        # Only those before this time. ISO 8601 with an offset.
        "to": "NotRequired[str]",
        # asc, the default, is the oldest first; desc is the newest first.
        "order": "NotRequired[Literal['asc', 'desc']]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class StreamEventsQuery(TypedDict):
    #: Begin after this event, when there is no Last-Event-ID; absent: from now on.
    after_sequence: NotRequired[int]


ListAuditQuery = TypedDict(
    "ListAuditQuery",
    {
        # Only changes of this kind of thing.
        "entity_type": "NotRequired[str]",
        # Only changes of this thing.
        "entity_id": "NotRequired[str]",
        # Only changes by this actor_id.
        "actor": "NotRequired[str]",
        # Only this action.
        "action": "NotRequired[str]",
        # Only changes at or after this time. ISO 8601 with an offset.
        "from": "NotRequired[str]",
        # Only changes before this time. ISO 8601 with an offset.
        "to": "NotRequired[str]",
        # Page size; asks for paging. Default 100.
        "limit": "NotRequired[int]",
        # The next_cursor of the previous page, with the same filters.
        "cursor": "NotRequired[str]",
    },
)


class ExportAuditQuery(TypedDict):
    #: Export what follows this place: last_seq of the export before. Inside a block of form 3 the export begins with that block, as first_seq of its first line and of the checkpoint say. Default 0.
    after_seq: NotRequired[int]


class ListWebhooksQuery(TypedDict):
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListDeliveriesQuery(TypedDict):
    #: Only deliveries in this state.
    status: NotRequired[Literal["pending", "delivered", "dead"]]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


class ListFailuresQuery(TypedDict):
    #: Only of this webhook.
    webhook_id: NotRequired[str]
    #: Only of this event.
    event: NotRequired[Literal["firm.registered", "firm.action_required", "firm.rejected", "firm.verified", "firm.authorized", "firm.bank_changed", "firm.mandate_expiring", "firm.suspended", "firm.resumed", "firm.offboarded", "requirement.uncovered", "credit.listed", "credit.withdrawn", "credit.expiring", "credit.expired", "credit.suspended", "credit.used", "order.accepted", "order.matched", "order.cancelled", "order.expired", "order.failed", "settlement.created", "settlement.funded", "settlement.transfer_initiated", "settlement.transfer_confirmed", "settlement.settled", "settlement.failed", "settlement.reversed", "settlement.default_paid", "task.waiting", "task.done", "task.late", "payout.scheduled", "payout.held", "payout.instructed", "payout.sent", "payout.paid", "payout.returned", "deposit.received", "deposit.queued", "deposit.returned", "dues.raised", "dues.set_off", "cross.proposed", "cross.agreed", "cross.declined", "cross.cancelled", "cross.expired", "cross.funded", "cross.released", "cross.refunded", "cross.settled", "cross.failed", "statement.ready", "second_key.proposed", "second_key.approved", "second_key.rejected", "key.created", "key.updated", "key.revoked", "usage.threshold", "audit.checkpoint", "webhook.ping", "webhook.updated", "webhook.failing", "webhook.disabled"]]
    #: Page size; asks for paging. Default 100.
    limit: NotRequired[int]
    #: The next_cursor of the previous page, with the same filters.
    cursor: NotRequired[str]


ReadRateHistoryQuery = TypedDict(
    "ReadRateHistoryQuery",
    {
        # The first day; a year before the last one unless given. A day in IST.
        "from": "NotRequired[str]",
        # The last day; today unless given. A day in IST.
        "to": "NotRequired[str]",
    },
)


ExportRateHistoryQuery = TypedDict(
    "ExportRateHistoryQuery",
    {
        # The first day; a year before the last one unless given. A day in IST.
        "from": "NotRequired[str]",
        # The last day; today unless given. A day in IST.
        "to": "NotRequired[str]",
    },
)


class EstimateEnquiryQuery(TypedDict):
    #: What you want to do.
    side: Literal["sell", "buy"]
    #: The scheme of the credits.
    scheme: Literal["RODTEP", "ROSCTL"]
    #: The face to sell, or the basic customs duty to cover.
    amount_paise: int
    #: Sell: the last day of the credit's validity, which narrows the range. A day in IST.
    expires_on: NotRequired[str]
    #: Whose rate card; live unless given. The sandbox's prices bind nobody.
    environment: NotRequired[Literal["live", "sandbox"]]


class FirmRegisteredEvent(EventFacts):
    event: Literal["firm.registered"]
    data: FirmRegisteredData


class FirmActionRequiredEvent(EventFacts):
    event: Literal["firm.action_required"]
    data: FirmCheckedData


class FirmRejectedEvent(EventFacts):
    event: Literal["firm.rejected"]
    data: FirmCheckedData


class FirmVerifiedEvent(EventFacts):
    event: Literal["firm.verified"]
    data: FirmCheckedData


class FirmAuthorizedEvent(EventFacts):
    event: Literal["firm.authorized"]
    data: FirmAuthorizedData


class FirmBankChangedEvent(EventFacts):
    event: Literal["firm.bank_changed"]
    data: FirmBankChangedData


class FirmMandateExpiringEvent(EventFacts):
    event: Literal["firm.mandate_expiring"]
    data: FirmMandateExpiringData


class FirmSuspendedEvent(EventFacts):
    event: Literal["firm.suspended"]
    data: FirmSuspendedData


class FirmResumedEvent(EventFacts):
    event: Literal["firm.resumed"]
    data: FirmResumedData


class FirmOffboardedEvent(EventFacts):
    event: Literal["firm.offboarded"]
    data: FirmOffboardedData


class RequirementUncoveredEvent(EventFacts):
    event: Literal["requirement.uncovered"]
    data: RequirementUncoveredData


class CreditListedEvent(EventFacts):
    event: Literal["credit.listed"]
    data: CreditEventData


class CreditWithdrawnEvent(EventFacts):
    event: Literal["credit.withdrawn"]
    data: CreditEventData


class CreditExpiringEvent(EventFacts):
    event: Literal["credit.expiring"]
    data: CreditExpiringData


class CreditExpiredEvent(EventFacts):
    event: Literal["credit.expired"]
    data: CreditEventData


class CreditSuspendedEvent(EventFacts):
    event: Literal["credit.suspended"]
    data: CreditEventData


class CreditUsedEvent(EventFacts):
    event: Literal["credit.used"]
    data: CreditUsedData


class OrderAcceptedEvent(EventFacts):
    event: Literal["order.accepted"]
    data: OrderEventData


class OrderMatchedEvent(EventFacts):
    event: Literal["order.matched"]
    data: OrderEventData


class OrderCancelledEvent(EventFacts):
    event: Literal["order.cancelled"]
    data: OrderEventData


class OrderExpiredEvent(EventFacts):
    event: Literal["order.expired"]
    data: OrderEventData


class OrderFailedEvent(EventFacts):
    event: Literal["order.failed"]
    data: OrderEventData


class SettlementCreatedEvent(EventFacts):
    event: Literal["settlement.created"]
    data: SettlementEventData


class SettlementFundedEvent(EventFacts):
    event: Literal["settlement.funded"]
    data: SettlementEventData


class SettlementTransferInitiatedEvent(EventFacts):
    event: Literal["settlement.transfer_initiated"]
    data: SettlementEventData


class SettlementTransferConfirmedEvent(EventFacts):
    event: Literal["settlement.transfer_confirmed"]
    data: SettlementEventData


class SettlementSettledEvent(EventFacts):
    event: Literal["settlement.settled"]
    data: SettlementEventData


class SettlementFailedEvent(EventFacts):
    event: Literal["settlement.failed"]
    data: SettlementEventData


class SettlementReversedEvent(EventFacts):
    event: Literal["settlement.reversed"]
    data: SettlementEventData


class SettlementDefaultPaidEvent(EventFacts):
    event: Literal["settlement.default_paid"]
    data: SettlementEventData


class TaskWaitingEvent(EventFacts):
    event: Literal["task.waiting"]
    data: TaskEventData


class TaskDoneEvent(EventFacts):
    event: Literal["task.done"]
    data: TaskEventData


class TaskLateEvent(EventFacts):
    event: Literal["task.late"]
    data: TaskEventData


class PayoutScheduledEvent(EventFacts):
    event: Literal["payout.scheduled"]
    data: PayoutEventData


class PayoutHeldEvent(EventFacts):
    event: Literal["payout.held"]
    data: PayoutEventData


class PayoutInstructedEvent(EventFacts):
    event: Literal["payout.instructed"]
    data: PayoutEventData


class PayoutSentEvent(EventFacts):
    event: Literal["payout.sent"]
    data: PayoutEventData


class PayoutPaidEvent(EventFacts):
    event: Literal["payout.paid"]
    data: PayoutEventData


class PayoutReturnedEvent(EventFacts):
    event: Literal["payout.returned"]
    data: PayoutEventData


class DepositReceivedEvent(EventFacts):
    event: Literal["deposit.received"]
    data: DepositEventData


class DepositQueuedEvent(EventFacts):
    event: Literal["deposit.queued"]
    data: DepositQueuedData


class DepositReturnedEvent(EventFacts):
    event: Literal["deposit.returned"]
    data: DepositEventData


class DuesRaisedEvent(EventFacts):
    event: Literal["dues.raised"]
    data: DuesEventData


class DuesSetOffEvent(EventFacts):
    event: Literal["dues.set_off"]
    data: DuesEventData


class CrossProposedEvent(EventFacts):
    event: Literal["cross.proposed"]
    data: CrossEventData


class CrossAgreedEvent(EventFacts):
    event: Literal["cross.agreed"]
    data: CrossEventData


class CrossDeclinedEvent(EventFacts):
    event: Literal["cross.declined"]
    data: CrossEventData


class CrossCancelledEvent(EventFacts):
    event: Literal["cross.cancelled"]
    data: CrossEventData


class CrossExpiredEvent(EventFacts):
    event: Literal["cross.expired"]
    data: CrossEventData


class CrossFundedEvent(EventFacts):
    event: Literal["cross.funded"]
    data: CrossEventData


class CrossReleasedEvent(EventFacts):
    event: Literal["cross.released"]
    data: CrossEventData


class CrossRefundedEvent(EventFacts):
    event: Literal["cross.refunded"]
    data: CrossEventData


class CrossSettledEvent(EventFacts):
    event: Literal["cross.settled"]
    data: CrossEventData


class CrossFailedEvent(EventFacts):
    event: Literal["cross.failed"]
    data: CrossEventData


class StatementReadyEvent(EventFacts):
    event: Literal["statement.ready"]
    data: StatementReadyData


class SecondKeyProposedEvent(EventFacts):
    event: Literal["second_key.proposed"]
    data: SecondKeyData


class SecondKeyApprovedEvent(EventFacts):
    event: Literal["second_key.approved"]
    data: SecondKeyData


class SecondKeyRejectedEvent(EventFacts):
    event: Literal["second_key.rejected"]
    data: SecondKeyData


class KeyCreatedEvent(EventFacts):
    event: Literal["key.created"]
    data: KeyEventData


class KeyUpdatedEvent(EventFacts):
    event: Literal["key.updated"]
    data: KeyEventData


class KeyRevokedEvent(EventFacts):
    event: Literal["key.revoked"]
    data: KeyEventData


class UsageThresholdEvent(EventFacts):
    event: Literal["usage.threshold"]
    data: UsageThresholdData


class AuditCheckpointEvent(EventFacts):
    event: Literal["audit.checkpoint"]
    data: AuditCheckpointData


class WebhookPingEvent(EventFacts):
    event: Literal["webhook.ping"]
    data: WebhookPingData


class WebhookUpdatedEvent(EventFacts):
    event: Literal["webhook.updated"]
    data: WebhookUpdatedData


class WebhookFailingEvent(EventFacts):
    event: Literal["webhook.failing"]
    data: WebhookFailingData


class WebhookDisabledEvent(EventFacts):
    event: Literal["webhook.disabled"]
    data: WebhookFailingData


#: A fact, told by its name; ignore the ones you do not know, for more come.
Event = Union[
    "FirmRegisteredEvent",
    "FirmActionRequiredEvent",
    "FirmRejectedEvent",
    "FirmVerifiedEvent",
    "FirmAuthorizedEvent",
    "FirmBankChangedEvent",
    "FirmMandateExpiringEvent",
    "FirmSuspendedEvent",
    "FirmResumedEvent",
    "FirmOffboardedEvent",
    "RequirementUncoveredEvent",
    "CreditListedEvent",
    "CreditWithdrawnEvent",
    "CreditExpiringEvent",
    "CreditExpiredEvent",
    "CreditSuspendedEvent",
    "CreditUsedEvent",
    "OrderAcceptedEvent",
    "OrderMatchedEvent",
    "OrderCancelledEvent",
    "OrderExpiredEvent",
    "OrderFailedEvent",
    "SettlementCreatedEvent",
    "SettlementFundedEvent",
    "SettlementTransferInitiatedEvent",
    "SettlementTransferConfirmedEvent",
    "SettlementSettledEvent",
    "SettlementFailedEvent",
    "SettlementReversedEvent",
    "SettlementDefaultPaidEvent",
    "TaskWaitingEvent",
    "TaskDoneEvent",
    "TaskLateEvent",
    "PayoutScheduledEvent",
    "PayoutHeldEvent",
    "PayoutInstructedEvent",
    "PayoutSentEvent",
    "PayoutPaidEvent",
    "PayoutReturnedEvent",
    "DepositReceivedEvent",
    "DepositQueuedEvent",
    "DepositReturnedEvent",
    "DuesRaisedEvent",
    "DuesSetOffEvent",
    "CrossProposedEvent",
    "CrossAgreedEvent",
    "CrossDeclinedEvent",
    "CrossCancelledEvent",
    "CrossExpiredEvent",
    "CrossFundedEvent",
    "CrossReleasedEvent",
    "CrossRefundedEvent",
    "CrossSettledEvent",
    "CrossFailedEvent",
    "StatementReadyEvent",
    "SecondKeyProposedEvent",
    "SecondKeyApprovedEvent",
    "SecondKeyRejectedEvent",
    "KeyCreatedEvent",
    "KeyUpdatedEvent",
    "KeyRevokedEvent",
    "UsageThresholdEvent",
    "AuditCheckpointEvent",
    "WebhookPingEvent",
    "WebhookUpdatedEvent",
    "WebhookFailingEvent",
    "WebhookDisabledEvent",
]
