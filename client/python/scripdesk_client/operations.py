# Written by `npm run golden` from docs/openapi.json. Do not edit.
# An answer is what the document says; a reader of JSON cannot know.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Union, overload

from .options import Call, DeskEvent, Operation, StreamEvent
from .paging import PagedList

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import schemas
    from .options import CallOptions, CreateOptions, StreamOptions, WriteOptions

API_VERSION = "1.2.0"

#: What the methods send, by the operation's name in the document.
OPERATIONS: Dict[str, Operation] = {
    "isAlive": Operation("isAlive", "GET", "/healthz", "json", is_keyless=True),
    "isReady": Operation("isReady", "GET", "/readyz", "json", is_keyless=True),
    "readOpenApi": Operation("readOpenApi", "GET", "/v1/openapi.json", "json", is_keyless=True),
    "listStates": Operation("listStates", "GET", "/v1/meta/states", "json"),
    "whoAmI": Operation("whoAmI", "GET", "/v1/whoami", "json"),
    "mintKey": Operation("mintKey", "POST", "/v1/keys", "json", takes_key=True),
    "listKeys": Operation("listKeys", "GET", "/v1/keys", "list", items="keys"),
    "readKey": Operation("readKey", "GET", "/v1/keys/{key_id}", "json"),
    "updateKey": Operation("updateKey", "PATCH", "/v1/keys/{key_id}", "json"),
    "revokeKey": Operation("revokeKey", "DELETE", "/v1/keys/{key_id}", "json"),
    "reissueKey": Operation("reissueKey", "POST", "/v1/keys/{key_id}/reissue", "json"),
    "readUsage": Operation("readUsage", "GET", "/v1/usage", "json"),
    "listRequests": Operation("listRequests", "GET", "/v1/requests", "list", items="requests"),
    "readRequest": Operation("readRequest", "GET", "/v1/requests/{request_id}", "json"),
    "registerFirm": Operation("registerFirm", "POST", "/v1/firms", "json", takes_key=True),
    "listFirms": Operation("listFirms", "GET", "/v1/firms", "list", items="firms"),
    "readFirm": Operation("readFirm", "GET", "/v1/firms/{firm_id}", "json"),
    "updateFirm": Operation("updateFirm", "PATCH", "/v1/firms/{firm_id}", "json"),
    "readConnection": Operation("readConnection", "GET", "/v1/firms/{firm_id}/connection", "json"),
    "verifyFirm": Operation("verifyFirm", "POST", "/v1/firms/{firm_id}/verify", "json"),
    "authorizeFirm": Operation("authorizeFirm", "POST", "/v1/firms/{firm_id}/authorize", "json"),
    "suspendFirm": Operation("suspendFirm", "POST", "/v1/firms/{firm_id}/suspend", "json"),
    "resumeFirm": Operation("resumeFirm", "POST", "/v1/firms/{firm_id}/resume", "json"),
    "offboardFirm": Operation("offboardFirm", "POST", "/v1/firms/{firm_id}/offboard", "json"),
    "createGroup": Operation("createGroup", "POST", "/v1/groups", "json", takes_key=True),
    "listGroups": Operation("listGroups", "GET", "/v1/groups", "list", items="groups"),
    "readGroup": Operation("readGroup", "GET", "/v1/groups/{group_id}", "json"),
    "updateGroup": Operation("updateGroup", "PATCH", "/v1/groups/{group_id}", "json"),
    "deleteGroup": Operation("deleteGroup", "DELETE", "/v1/groups/{group_id}", "json"),
    "listMembers": Operation("listMembers", "GET", "/v1/groups/{group_id}/members", "list", items="members"),
    "addMember": Operation("addMember", "PUT", "/v1/groups/{group_id}/members/{firm_id}", "json"),
    "removeMember": Operation("removeMember", "DELETE", "/v1/groups/{group_id}/members/{firm_id}", "json"),
    "readGroupPositions": Operation("readGroupPositions", "GET", "/v1/groups/{group_id}/positions", "json"),
    "declareRequirement": Operation("declareRequirement", "POST", "/v1/firms/{firm_id}/requirements", "json", takes_key=True),
    "listRequirements": Operation("listRequirements", "GET", "/v1/firms/{firm_id}/requirements", "list", items="requirements"),
    "readRequirement": Operation("readRequirement", "GET", "/v1/firms/{firm_id}/requirements/{requirement_id}", "json"),
    "updateRequirement": Operation("updateRequirement", "PATCH", "/v1/firms/{firm_id}/requirements/{requirement_id}", "json"),
    "deleteRequirement": Operation("deleteRequirement", "DELETE", "/v1/firms/{firm_id}/requirements/{requirement_id}", "json"),
    "proposeNetting": Operation("proposeNetting", "GET", "/v1/groups/{group_id}/netting", "json"),
    "crossNetting": Operation("crossNetting", "POST", "/v1/groups/{group_id}/netting/crosses", "json", takes_key=True),
    "listCredits": Operation("listCredits", "GET", "/v1/firms/{firm_id}/credits", "list", items="credits"),
    "declareCredits": Operation("declareCredits", "POST", "/v1/firms/{firm_id}/credits", "json", takes_key=True),
    "importCredits": Operation("importCredits", "POST", "/v1/firms/{firm_id}/credits:import", "json"),
    "syncCredits": Operation("syncCredits", "POST", "/v1/firms/{firm_id}/credits:sync", "json"),
    "readCredit": Operation("readCredit", "GET", "/v1/credits/{scrip_no}", "json"),
    "withdrawCredit": Operation("withdrawCredit", "POST", "/v1/credits/{scrip_no}/withdraw", "json"),
    "useCredit": Operation("useCredit", "POST", "/v1/credits/{scrip_no}/use", "json"),
    "takeQuote": Operation("takeQuote", "POST", "/v1/quote", "json"),
    "takeQuoteBatch": Operation("takeQuoteBatch", "POST", "/v1/quotes:batch", "json"),
    "readQuote": Operation("readQuote", "GET", "/v1/quotes/{quote_ref}", "json"),
    "placeOrder": Operation("placeOrder", "POST", "/v1/orders", "json", takes_key=True),
    "listOrders": Operation("listOrders", "GET", "/v1/orders", "list", items="orders"),
    "coverRequirement": Operation("coverRequirement", "POST", "/v1/firms/{firm_id}/requirements/{requirement_id}/cover", "json", takes_key=True),
    "placeOrderBatch": Operation("placeOrderBatch", "POST", "/v1/orders:batch", "json", takes_key=True),
    "readOrder": Operation("readOrder", "GET", "/v1/orders/{order_id}", "json"),
    "cancelOrder": Operation("cancelOrder", "POST", "/v1/orders/{order_id}/cancel", "json"),
    "quoteCross": Operation("quoteCross", "POST", "/v1/cross/quote", "json"),
    "proposeCross": Operation("proposeCross", "POST", "/v1/cross", "json", takes_key=True),
    "listCrosses": Operation("listCrosses", "GET", "/v1/cross", "list", items="crosses"),
    "readCross": Operation("readCross", "GET", "/v1/cross/{cross_id}", "json"),
    "acceptCross": Operation("acceptCross", "POST", "/v1/cross/{cross_id}/accept", "json"),
    "declineCross": Operation("declineCross", "POST", "/v1/cross/{cross_id}/decline", "json"),
    "fundCross": Operation("fundCross", "POST", "/v1/cross/{cross_id}/fund", "json"),
    "releaseCross": Operation("releaseCross", "POST", "/v1/cross/{cross_id}/release", "json"),
    "cancelCross": Operation("cancelCross", "POST", "/v1/cross/{cross_id}/cancel", "json"),
    "readPositions": Operation("readPositions", "GET", "/v1/positions", "json"),
    "listMarkets": Operation("listMarkets", "GET", "/v1/market", "json"),
    "streamMarket": Operation("streamMarket", "GET", "/v1/market/stream", "events"),
    "readMarket": Operation("readMarket", "GET", "/v1/market/{scheme}", "json"),
    "listSettlements": Operation("listSettlements", "GET", "/v1/settlements", "list", items="settlements"),
    "readSettlement": Operation("readSettlement", "GET", "/v1/settlements/{settlement_id}", "json"),
    "listTasks": Operation("listTasks", "GET", "/v1/tasks", "list", items="tasks"),
    "finishTask": Operation("finishTask", "POST", "/v1/settlements/{settlement_id}/tasks/{task_id}/done", "json"),
    "reportMissing": Operation("reportMissing", "POST", "/v1/settlements/{settlement_id}/tasks/{task_id}/missing", "json"),
    "advanceSettlement": Operation("advanceSettlement", "POST", "/v1/sandbox/settlements/{settlement_id}/advance", "json"),
    "readFunding": Operation("readFunding", "GET", "/v1/firms/{firm_id}/funding", "json"),
    "listPayouts": Operation("listPayouts", "GET", "/v1/payouts", "list", items="payouts"),
    "listDeposits": Operation("listDeposits", "GET", "/v1/deposits", "list", items="deposits"),
    "readPayout": Operation("readPayout", "GET", "/v1/payouts/{payout_id}", "json"),
    "withdrawMoney": Operation("withdrawMoney", "POST", "/v1/firms/{firm_id}/withdrawals", "json", takes_key=True),
    "readApprovalRules": Operation("readApprovalRules", "GET", "/v1/approvals/rules", "json"),
    "setApprovalRules": Operation("setApprovalRules", "PUT", "/v1/approvals/rules", "json"),
    "proposeAct": Operation("proposeAct", "POST", "/v1/approvals", "json", takes_key=True),
    "listDeskApprovals": Operation("listDeskApprovals", "GET", "/v1/approvals", "list", items="approvals"),
    "readDeskApproval": Operation("readDeskApproval", "GET", "/v1/approvals/{approval_id}", "json"),
    "approveAct": Operation("approveAct", "POST", "/v1/approvals/{approval_id}/approve", "json"),
    "rejectAct": Operation("rejectAct", "POST", "/v1/approvals/{approval_id}/reject", "json"),
    "advanceClock": Operation("advanceClock", "POST", "/v1/sandbox/clock", "json"),
    "setScenario": Operation("setScenario", "POST", "/v1/sandbox/scenarios", "json"),
    "seedSandbox": Operation("seedSandbox", "POST", "/v1/sandbox/credits:seed", "json"),
    "resetSandbox": Operation("resetSandbox", "POST", "/v1/sandbox/reset", "json"),
    "readEarnings": Operation("readEarnings", "GET", "/v1/earnings", "json"),
    "listStatements": Operation("listStatements", "GET", "/v1/statements", "json"),
    "readStatement": Operation("readStatement", "GET", "/v1/statements/{period}", "json"),
    "readContractNote": Operation("readContractNote", "GET", "/v1/settlements/{settlement_id}/contract-note", "json"),
    "readBillOfSupply": Operation("readBillOfSupply", "GET", "/v1/settlements/{settlement_id}/bill-of-supply", "json"),
    "listEvents": Operation("listEvents", "GET", "/v1/events", "list", items="events"),
    "readEvent": Operation("readEvent", "GET", "/v1/events/{event_id}", "json"),
    "streamEvents": Operation("streamEvents", "GET", "/v1/events/stream", "events"),
    "listAudit": Operation("listAudit", "GET", "/v1/audit", "list", items="audit"),
    "exportAudit": Operation("exportAudit", "GET", "/v1/audit/export", "lines"),
    "listAuditKeys": Operation("listAuditKeys", "GET", "/v1/audit/keys", "json"),
    "registerWebhook": Operation("registerWebhook", "POST", "/v1/webhooks", "json", takes_key=True),
    "listWebhooks": Operation("listWebhooks", "GET", "/v1/webhooks", "list", items="webhooks"),
    "readWebhook": Operation("readWebhook", "GET", "/v1/webhooks/{webhook_id}", "json"),
    "deleteWebhook": Operation("deleteWebhook", "DELETE", "/v1/webhooks/{webhook_id}", "json"),
    "updateWebhook": Operation("updateWebhook", "PATCH", "/v1/webhooks/{webhook_id}", "json"),
    "testWebhook": Operation("testWebhook", "POST", "/v1/webhooks/{webhook_id}/test", "json"),
    "rotateSecret": Operation("rotateSecret", "POST", "/v1/webhooks/{webhook_id}/rotate-secret", "json"),
    "enableWebhook": Operation("enableWebhook", "POST", "/v1/webhooks/{webhook_id}/enable", "json"),
    "listDeliveries": Operation("listDeliveries", "GET", "/v1/webhooks/{webhook_id}/deliveries", "list", items="deliveries"),
    "listFailures": Operation("listFailures", "GET", "/v1/webhooks/failures", "list", items="failures"),
    "replayDeliveries": Operation("replayDeliveries", "POST", "/v1/webhooks/replay", "json"),
    "listRates": Operation("listRates", "GET", "/public/rates", "json", is_keyless=True),
    "readMethodology": Operation("readMethodology", "GET", "/public/rates/methodology", "json", is_keyless=True),
    "readRate": Operation("readRate", "GET", "/public/rates/{scheme}", "json", is_keyless=True),
    "readRateOfDay": Operation("readRateOfDay", "GET", "/public/rates/{scheme}/{date}", "json", is_keyless=True),
    "readRateHistory": Operation("readRateHistory", "GET", "/public/rates/{scheme}/history", "json", is_keyless=True),
    "exportRateHistory": Operation("exportRateHistory", "GET", "/public/rates/{scheme}/history.csv", "text", is_keyless=True),
    "estimateEnquiry": Operation("estimateEnquiry", "GET", "/public/enquiry/estimate", "json", is_keyless=True),
    "submitSellEnquiry": Operation("submitSellEnquiry", "POST", "/public/enquiry/sell", "json", is_keyless=True),
    "submitBuyEnquiry": Operation("submitBuyEnquiry", "POST", "/public/enquiry/buy", "json", is_keyless=True),
    "submitContactEnquiry": Operation("submitContactEnquiry", "POST", "/public/enquiry/contact", "json", is_keyless=True),
    "readEnquiry": Operation("readEnquiry", "GET", "/public/enquiry/{enquiry_ref}", "json", is_keyless=True),
    "readHouse": Operation("readHouse", "GET", "/public/house", "json", is_keyless=True),
    "readPreview": Operation("readPreview", "GET", "/public/preview", "json", is_keyless=True),
}


class Operations:
    """One method for each operation of the document."""

    def _run(self, operation: Operation, call: Call) -> Any:
        raise NotImplementedError

    def is_alive(self, **options: Unpack[CallOptions]) -> schemas.IsAliveAnswer:
        """Whether the process answers. Says that the process answers. It asks nothing of the database, so a failure means that the process should be started again.

        `GET /healthz`
        """
        return self._run(OPERATIONS["isAlive"], Call({}, {}, None, options))

    def is_ready(self, **options: Unpack[CallOptions]) -> schemas.IsReadyAnswer:
        """Whether the process can serve. 200 when the service can take calls: migrations are applied and the database answers, as looked up every second. 503 while it starts, while it stops, and when the database is away; send no traffic then.

        `GET /readyz`
        """
        return self._run(OPERATIONS["isReady"], Call({}, {}, None, options))

    def read_open_api(self, **options: Unpack[CallOptions]) -> schemas.ReadOpenApiAnswer:
        """This document. The machine-readable contract, the same for every caller. It carries an ETag: ask again with If-None-Match.

        `GET /v1/openapi.json`
        """
        return self._run(OPERATIONS["readOpenApi"], Call({}, {}, None, options))

    def list_states(self, **options: Unpack[CallOptions]) -> schemas.StateTables:
        """The state tables as data. Every lifecycle as a table: its states, its moves, and from where to where each leads. It is what the service itself decides by, so a client can draw buttons from it.

        `GET /v1/meta/states`, scope `any key`
        """
        return self._run(OPERATIONS["listStates"], Call({}, {}, None, options))

    def who_am_i(self, **options: Unpack[CallOptions]) -> schemas.WhoAmI:
        """Who the service takes you for. What the service knows about the key that was sent: its desk, firm, environment, scopes and limits. A good first call.

        `GET /v1/whoami`, scope `any key`
        """
        return self._run(OPERATIONS["whoAmI"], Call({}, {}, None, options))

    def mint_key(self, body: schemas.MintKey, **options: Unpack[CreateOptions]) -> Union[schemas.Key, schemas.MintedKey]:
        """Mint a child key. The secret is in this answer and in no other. The plan says how many child keys a desk may have at a time.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_held`, `scope_not_held`; 409 `child_keys_used_up`, `firm_offboarded`, `idempotency_key_reused`.

        `POST /v1/keys`, scope `root key`
        """
        return self._run(OPERATIONS["mintKey"], Call({}, {}, body, options))

    def list_keys(self, query: schemas.ListKeysQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.ListKeysAnswer, schemas.Key]:
        """List the keys of your desk. Those that hold no more than yours does, and those it minted.

        `GET /v1/keys`, scope `root key`
        """
        return self._run(OPERATIONS["listKeys"], Call({}, query, None, options))

    def read_key(self, key_id: str, **options: Unpack[CallOptions]) -> schemas.Key:
        """Read a key. One that holds no more than yours does, or that yours minted.

        `GET /v1/keys/{key_id}`, scope `root key`
        """
        return self._run(OPERATIONS["readKey"], Call({"key_id": key_id}, {}, None, options))

    def update_key(self, key_id: str, body: schemas.UpdateKey = {}, **options: Unpack[WriteOptions]) -> schemas.Key:
        """Rename a key or narrow it. A key never grows: a field that would give it more than it has is 422. Its children are narrowed with it, and one of which nothing is left is revoked. Acts on the next request. A root key with limits of its own manages only itself and its children.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `PATCH /v1/keys/{key_id}`, scope `root key`
        """
        return self._run(OPERATIONS["updateKey"], Call({"key_id": key_id}, {}, body, options))

    def revoke_key(self, key_id: str, **options: Unpack[WriteOptions]) -> schemas.Key:
        """Revoke a key and its children. A key that holds no more than yours does, or that yours minted. Acts on the next request. Revoking twice is no conflict.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `DELETE /v1/keys/{key_id}`, scope `root key`
        """
        return self._run(OPERATIONS["revokeKey"], Call({"key_id": key_id}, {}, None, options))

    def reissue_key(self, key_id: str, **options: Unpack[WriteOptions]) -> schemas.ReissuedKey:
        """Replace a key's secret. A key that holds no more than yours does, or that yours minted. The old secret stops matching at once. A dry run shows no secret.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `POST /v1/keys/{key_id}/reissue`, scope `root key`
        """
        return self._run(OPERATIONS["reissueKey"], Call({"key_id": key_id}, {}, None, options))

    def read_usage(self, query: schemas.ReadUsageQuery = {}, **options: Unpack[CallOptions]) -> schemas.Usage:
        """Rate and quota numbers, and the month behind them. The numbers of the X-RateLimit headers as JSON, with the calls of the month by day, by route and by key. A child key sees its own calls, a root key those of the keys under it too.

        `GET /v1/usage`, scope `any key`
        """
        return self._run(OPERATIONS["readUsage"], Call({}, query, None, options))

    def list_requests(self, query: schemas.ListRequestsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.AnsweredRequestList, schemas.AnsweredRequest]:
        """List your calls of the last 30 days. Newest first: what was asked, what it was answered and what it made, without bodies and queries. A root key sees the calls of its desk, any other key its own. They are kept as well as we can: a crash may lose the last second.

        `GET /v1/requests`, scope `orders:read`
        """
        return self._run(OPERATIONS["listRequests"], Call({}, query, None, options))

    def read_request(self, request_id: str, /, **options: Unpack[CallOptions]) -> schemas.AnsweredRequest:
        """Read a call by the id of its answer. The newest, where your gateway gave several the same id.

        `GET /v1/requests/{request_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readRequest"], Call({"request_id": request_id}, {}, None, options))

    def register_firm(self, body: schemas.RegisterFirm, **options: Unpack[CreateOptions]) -> schemas.Firm:
        """Register a client firm. The same IEC twice on a desk is a conflict that names the firm.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `group_full`, `idempotency_key_reused`, `in_another_group`.

        `POST /v1/firms`, scope `firms`
        """
        return self._run(OPERATIONS["registerFirm"], Call({}, {}, body, options))

    def list_firms(self, query: schemas.ListFirmsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.FirmList, schemas.Firm]:
        """List the firms of your desk. Newest first. Filters combine: a firm is shown when all of them fit. A sub_account key sees its own firm.

        `GET /v1/firms`, scope `firms`
        """
        return self._run(OPERATIONS["listFirms"], Call({}, query, None, options))

    def read_firm(self, firm_id: str, **options: Unpack[CallOptions]) -> schemas.Firm:
        """Read a firm. A firm with its identifiers, its connection and what it can do next. The account number is masked.

        `GET /v1/firms/{firm_id}`, scope `firms`
        """
        return self._run(OPERATIONS["readFirm"], Call({"firm_id": firm_id}, {}, None, options))

    def update_firm(self, firm_id: str, body: schemas.UpdateFirm = {}, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """Correct a firm's particulars. A bank or IEC change holds payouts for 24 hours. A verified firm that changes who it is goes through verification again.

        Refusals by `detail.reason` (open set): 403 `key_limit`, `own_firm`, `sub_account_key`; 409 `deal_unpaid`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `group_full`, `in_another_group`, `second_key_required`, `wrong_state`.

        `PATCH /v1/firms/{firm_id}`, scope `firms`
        """
        return self._run(OPERATIONS["updateFirm"], Call({"firm_id": firm_id}, {}, body, options))

    def read_connection(self, firm_id: str, **options: Unpack[CallOptions]) -> schemas.Connection:
        """How far a firm's connection has come. The part of a firm that changes while it is verified and authorized: its state, every check with its outcome and cure, holds on its payouts, and whether customs and bank answer.

        `GET /v1/firms/{firm_id}/connection`, scope `firms`
        """
        return self._run(OPERATIONS["readConnection"], Call({"firm_id": firm_id}, {}, None, options))

    def verify_firm(self, firm_id: str, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """Have a firm verified. The registry and the bank answer later; poll the connection.

        Refusals by `detail.reason` (open set): 409 `identity_incomplete`, `wrong_state`.

        `POST /v1/firms/{firm_id}/verify`, scope `firms`
        """
        return self._run(OPERATIONS["verifyFirm"], Call({"firm_id": firm_id}, {}, {}, options))

    def authorize_firm(self, firm_id: str, body: schemas.AuthorizeFirm, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """Give the firm's mandate to trade for it. Records the mandate that lets your desk act for the firm, after it was verified. The same mandate again changes nothing; a new one replaces the old.

        Refusals by `detail.reason` (open set): 409 `firm_is_house`, `wrong_state`.

        `POST /v1/firms/{firm_id}/authorize`, scope `firms`
        """
        return self._run(OPERATIONS["authorizeFirm"], Call({"firm_id": firm_id}, {}, body, options))

    def suspend_firm(self, firm_id: str, body: schemas.SuspendFirm, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """Stop trading for a firm. Stops quotes, orders and crosses of the firm, and holds its payouts. Deals that were made are settled. Suspending twice is no conflict.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `POST /v1/firms/{firm_id}/suspend`, scope `firms`
        """
        return self._run(OPERATIONS["suspendFirm"], Call({"firm_id": firm_id}, {}, body, options))

    def resume_firm(self, firm_id: str, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """End a suspension. Ends a suspension by your desk. One by the operator is ended by the operator.

        Refusals by `detail.reason` (open set): 403 `suspended_by_operator`; 409 `firm_is_house`, `wrong_state`.

        `POST /v1/firms/{firm_id}/resume`, scope `firms`
        """
        return self._run(OPERATIONS["resumeFirm"], Call({"firm_id": firm_id}, {}, {}, options))

    def offboard_firm(self, firm_id: str, body: schemas.OffboardFirm = {}, **options: Unpack[WriteOptions]) -> schemas.Firm:
        """Let a firm go. Open business is a conflict that lists it, or is waited for with mode drain. Personal data is masked, the firm's own keys are revoked and its listed credits withdrawn.

        Refusals by `detail.reason` (open set): 403 `key_limit`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `open_business`, `second_key_required`, `wrong_state`.

        `POST /v1/firms/{firm_id}/offboard`, scope `firms`
        """
        return self._run(OPERATIONS["offboardFirm"], Call({"firm_id": firm_id}, {}, body, options))

    def create_group(self, body: schemas.CreateGroup, **options: Unpack[CreateOptions]) -> schemas.Group:
        """Create a group. A name that a group of your desk has is a conflict with its group_id.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `deleted`, `idempotency_key_reused`, `name_taken`.

        `POST /v1/groups`, scope `firms`
        """
        return self._run(OPERATIONS["createGroup"], Call({}, {}, body, options))

    def list_groups(self, query: schemas.ListGroupsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.GroupList, schemas.Group]:
        """List the groups of your desk. The groups of your desk, newest first.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/groups`, scope `firms` or `orders:read`
        """
        return self._run(OPERATIONS["listGroups"], Call({}, query, None, options))

    def read_group(self, group_id: str, **options: Unpack[CallOptions]) -> schemas.Group:
        """Read a group. A group of your desk. Its firms are in its members.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/groups/{group_id}`, scope `firms`
        """
        return self._run(OPERATIONS["readGroup"], Call({"group_id": group_id}, {}, None, options))

    def update_group(self, group_id: str, body: schemas.UpdateGroup, **options: Unpack[WriteOptions]) -> schemas.Group:
        """Rename a group. Renames a group. A name is unique on your desk.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `name_taken`.

        `PATCH /v1/groups/{group_id}`, scope `firms`
        """
        return self._run(OPERATIONS["updateGroup"], Call({"group_id": group_id}, {}, body, options))

    def delete_group(self, group_id: str, **options: Unpack[WriteOptions]) -> schemas.Group:
        """Delete a group without members. A group that has members is a conflict: take them out first.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `group_not_empty`.

        `DELETE /v1/groups/{group_id}`, scope `firms`
        """
        return self._run(OPERATIONS["deleteGroup"], Call({"group_id": group_id}, {}, None, options))

    def list_members(self, group_id: str, query: schemas.ListMembersQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.GroupMemberList, schemas.GroupMember]:
        """List the members of a group. The firms of a group with their connection state, newest first.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/groups/{group_id}/members`, scope `firms`
        """
        return self._run(OPERATIONS["listMembers"], Call({"group_id": group_id}, query, None, options))

    def add_member(self, group_id: str, firm_id: str, **options: Unpack[WriteOptions]) -> schemas.Group:
        """Put a firm into a group. A firm is in one group at a time. Putting a member in again is no conflict.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `firm_offboarded`, `group_full`, `in_another_group`.

        `PUT /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
        """
        return self._run(OPERATIONS["addMember"], Call({"group_id": group_id, "firm_id": firm_id}, {}, None, options))

    def remove_member(self, group_id: str, firm_id: str, **options: Unpack[WriteOptions]) -> schemas.Group:
        """Take a firm out of a group. Taking out a firm that is not in it changes nothing.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `DELETE /v1/groups/{group_id}/members/{firm_id}`, scope `firms`
        """
        return self._run(OPERATIONS["removeMember"], Call({"group_id": group_id, "firm_id": firm_id}, {}, None, options))

    def read_group_positions(self, group_id: str, **options: Unpack[CallOptions]) -> schemas.GroupPositions:
        """What a group holds against the basic customs duty it will owe. One consistent snapshot. Sums are exact: beyond 2^53-1 paise they have all their digits.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/groups/{group_id}/positions`, scope `orders:read`
        """
        return self._run(OPERATIONS["readGroupPositions"], Call({"group_id": group_id}, {}, None, options))

    def declare_requirement(self, firm_id: str, body: schemas.DeclareRequirement, **options: Unpack[CreateOptions]) -> schemas.Requirement:
        """Declare basic customs duty that a firm will have to pay. A reference the firm has used is a conflict with its requirement_id.

        Refusals by `detail.reason` (open set): 409 `deleted`, `firm_offboarded`, `idempotency_key_reused`, `reference_taken`.

        `POST /v1/firms/{firm_id}/requirements`, scope `firms`
        """
        return self._run(OPERATIONS["declareRequirement"], Call({"firm_id": firm_id}, {}, body, options))

    def list_requirements(self, firm_id: str, query: schemas.ListRequirementsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.RequirementList, schemas.Requirement]:
        """List the requirements of a firm. The basic customs duty that a firm has declared, newest first, and what its orders have bought of it.

        `GET /v1/firms/{firm_id}/requirements`, scope `firms` or `orders:read`
        """
        return self._run(OPERATIONS["listRequirements"], Call({"firm_id": firm_id}, query, None, options))

    def read_requirement(self, firm_id: str, requirement_id: str, **options: Unpack[CallOptions]) -> schemas.Requirement:
        """Read a requirement. A firm's declared basic customs duty: how much, when it is due, which scheme is to cover it, and how much of it is covered.

        `GET /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms` or `orders:read`
        """
        return self._run(OPERATIONS["readRequirement"], Call({"firm_id": firm_id, "requirement_id": requirement_id}, {}, None, options))

    def update_requirement(self, firm_id: str, requirement_id: str, body: schemas.UpdateRequirement = {}, **options: Unpack[WriteOptions]) -> schemas.Requirement:
        """Change a requirement. Fields that are not named stay as they are. While an order rests for it, neither its scheme changes nor its amount below what the order may still buy: a conflict with its order_id.

        Refusals by `detail.reason` (open set): 409 `cover_rests`, `reference_taken`.

        `PATCH /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
        """
        return self._run(OPERATIONS["updateRequirement"], Call({"firm_id": firm_id, "requirement_id": requirement_id}, {}, body, options))

    def delete_requirement(self, firm_id: str, requirement_id: str, **options: Unpack[WriteOptions]) -> schemas.Requirement:
        """Take a requirement back. A requirement that was met, or that never came to be. While an order rests for it this is a conflict with its order_id: cancel that first.

        Refusals by `detail.reason` (open set): 409 `cover_rests`.

        `DELETE /v1/firms/{firm_id}/requirements/{requirement_id}`, scope `firms`
        """
        return self._run(OPERATIONS["deleteRequirement"], Call({"firm_id": firm_id, "requirement_id": requirement_id}, {}, None, options))

    def propose_netting(self, group_id: str, **options: Unpack[CallOptions]) -> schemas.Netting:
        """Which credits to move inside a group. Whole credits pay the basic customs duty of the members so that the least is left uncovered; a firm's own credits pay its own duty without a move. Then the fewest moves, the fewest credits and the earliest expiry. A credit pays duty that is due no later than it expires.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `firm_not_authorized`, `group_too_large`, `mandate_expired`, `sum_too_large`.

        `GET /v1/groups/{group_id}/netting`, scope `orders:read`
        """
        return self._run(OPERATIONS["proposeNetting"], Call({"group_id": group_id}, {}, None, options))

    def cross_netting(self, group_id: str, body: schemas.CrossNetting, **options: Unpack[CreateOptions]) -> schemas.NettingCrosses:
        """Turn a netting into crosses. All of its proposals or none, at their prices. A netting is used once, within its time, and while its members, credits and requirements are what they were; otherwise it is a conflict that says why.

        Refusals by `detail.reason` (open set): 403 `key_limit`, `sub_account_key`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `mandate_expired`, `netting_expired`, `netting_outdated`, `netting_used`, `nothing_to_cross`.

        `POST /v1/groups/{group_id}/netting/crosses`, scope `orders:write`
        """
        return self._run(OPERATIONS["crossNetting"], Call({"group_id": group_id}, {}, body, options))

    def list_credits(self, firm_id: str, query: schemas.ListCreditsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.CreditList, schemas.Credit]:
        """List a firm's credits. What a firm holds and held, newest first. `not_sellable_reason` says of each why it cannot be sold now.

        `GET /v1/firms/{firm_id}/credits`, scope `firms` or `quote,orders:read`
        """
        return self._run(OPERATIONS["listCredits"], Call({"firm_id": firm_id}, query, None, options))

    def declare_credits(self, firm_id: str, body: schemas.DeclareCredits, **options: Unpack[CreateOptions]) -> schemas.CreditDeclarationResults:
        """Declare 1 to 500 credits that a firm holds. A declaration is a claim: declared until the registry confirms it, then listed. The same credit again is ok with 200; with other facts it is a 409.

        Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `idempotency_key_reused`, `not_declared`, `used_up`, `was_used`, `wrong_state`.

        `POST /v1/firms/{firm_id}/credits`, scope `firms`
        """
        return self._run(OPERATIONS["declareCredits"], Call({"firm_id": firm_id}, {}, body, options))

    def import_credits(self, firm_id: str, body: schemas.ImportCredits, **options: Unpack[WriteOptions]) -> schemas.CreditImportResults:
        """Import a report of the customs portal. As csv, or as xlsx in base64. Headings are known by many names, days as DD/MM/YYYY, DD-MM-YYYY, DD-MON-YYYY or ISO, amounts in rupees. A row whose balance fell lowers the credit's, one with nothing left marks it used; otherwise a row is answered like a declaration, and sending the file again changes nothing.

        Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `not_declared`, `used_up`, `was_used`, `wrong_state`.

        `POST /v1/firms/{firm_id}/credits:import`, scope `firms`
        """
        return self._run(OPERATIONS["importCredits"], Call({"firm_id": firm_id}, {}, body, options))

    def sync_credits(self, firm_id: str, **options: Unpack[WriteOptions]) -> schemas.CreditDeclarationResults:
        """Take a firm's credits from the registry. Sandbox only: customs offers no interface for this, so a live key is answered 409 with detail.reason registry_attested_only; declare or import instead.

        Refusals by `detail.reason` (open set): 409 `ended`, `facts_differ`, `firm_has_no_iec`, `firm_offboarded`, `firm_state`, `held_elsewhere`, `not_declared`, `registry_attested_only`, `registry_outage`, `used_up`, `was_used`, `wrong_state`.

        `POST /v1/firms/{firm_id}/credits:sync`, scope `firms`
        """
        return self._run(OPERATIONS["syncCredits"], Call({"firm_id": firm_id}, {}, None, options))

    def read_credit(self, scrip_no: str, **options: Unpack[CallOptions]) -> schemas.Credit:
        """Read a credit of your desk. By its number, where a / is written as %2F, or by its credit_id. A number names the live holding, otherwise the latest.

        `GET /v1/credits/{scrip_no}`, scope `firms` or `quote,orders:read`
        """
        return self._run(OPERATIONS["readCredit"], Call({"scrip_no": scrip_no}, {}, None, options))

    def withdraw_credit(self, scrip_no: str, **options: Unpack[WriteOptions]) -> schemas.Credit:
        """Take a credit off your desk. It may be declared again. Withdrawing twice is no conflict.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `POST /v1/credits/{scrip_no}/withdraw`, scope `firms`
        """
        return self._run(OPERATIONS["withdrawCredit"], Call({"scrip_no": scrip_no}, {}, None, options))

    def use_credit(self, scrip_no: str, body: schemas.UseCredit = {}, **options: Unpack[WriteOptions]) -> schemas.Credit:
        """Use a credit, or a part of it, for basic customs duty. A part by its bill of entry lowers the balance, face_paise; uses tells the parts. Without an amount all that is left is used. The same bill again is no conflict where nothing of it differs, nor is marking a used credit as used. Only a credit that no deal holds is used; a quote on it binds the balance that it was given for.

        Refusals by `detail.reason` (open set): 409 `above_balance`, `bill_of_entry_told`, `too_many_uses`, `wrong_state`.

        `POST /v1/credits/{scrip_no}/use`, scope `firms`
        """
        return self._run(OPERATIONS["useCredit"], Call({"scrip_no": scrip_no}, {}, body, options))

    def take_quote(self, body: schemas.QuoteRequest, **options: Unpack[WriteOptions]) -> schemas.Quote:
        """Take a binding price for an exact amount. Sell by scrip_no, or by scheme and face_paise; buy by scheme and requirement_paise. A price by amount is for credits with at least 365 days left. An order with the quote_ref in time gets this price, whatever the market does, for the facts it was made from: where a credit or an offer has changed since, the answer is 409 with a fresh quote in detail. When there is no binding price, the answer is no_quote and its reason, and nothing else.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.

        `POST /v1/quote`, scope `quote`
        """
        return self._run(OPERATIONS["takeQuote"], Call({}, {}, body, options))

    def take_quote_batch(self, body: schemas.TakeQuoteBatch, **options: Unpack[WriteOptions]) -> schemas.QuoteBatchResults:
        """Take 1 to 200 quotes. Each is answered as if it were asked for alone, in the sequence of the request: valid ones have a quote, the others fail on their own. It is metered as one call.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.

        `POST /v1/quotes:batch`, scope `quote`
        """
        return self._run(OPERATIONS["takeQuoteBatch"], Call({}, {}, body, options))

    def read_quote(self, quote_ref: str, **options: Unpack[CallOptions]) -> schemas.StoredQuote:
        """Read a quote and its state. The quote as it was answered, whether it is open, used or expired, and the order that used it.

        `GET /v1/quotes/{quote_ref}`, scope `quote`
        """
        return self._run(OPERATIONS["readQuote"], Call({"quote_ref": quote_ref}, {}, None, options))

    def place_order(self, body: schemas.PlaceOrder, **options: Unpack[CreateOptions]) -> schemas.Order:
        """Sell credits or buy cover. By a quote, at the current binding price, or with a limit. A sell names one credit or an amount; a buy names the basic customs duty to cover. A refused order is not stored.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.

        `POST /v1/orders`, scope `orders:write`
        """
        return self._run(OPERATIONS["placeOrder"], Call({}, {}, body, options))

    @overload
    def list_orders(self, query: schemas.ListOrdersQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.OrderList, schemas.Order]: ...

    @overload
    def list_orders(self, query: schemas.ListOrdersFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def list_orders(self, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """List your desk's orders. Newest first. Filters combine. `idempotency_key` finds the order of a call whose answer was lost. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.

        `GET /v1/orders`, scope `orders:read`
        """
        return self._run(OPERATIONS["listOrders"], Call({}, query, None, options))

    def cover_requirement(self, firm_id: str, requirement_id: str, body: schemas.CoverRequirement = {}, **options: Unpack[CreateOptions]) -> schemas.Order:
        """Buy what covers a requirement. Places a buy for the basic customs duty that is uncovered. While an order rests for the requirement, another cover is 409; so is one for a requirement that is covered. The requirement shows what its orders have bought.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.

        `POST /v1/firms/{firm_id}/requirements/{requirement_id}/cover`, scope `orders:write`
        """
        return self._run(OPERATIONS["coverRequirement"], Call({"firm_id": firm_id, "requirement_id": requirement_id}, {}, body, options))

    def place_order_batch(self, body: schemas.PlaceOrderBatch, **options: Unpack[CreateOptions]) -> schemas.OrderBatchResults:
        """Place 1 to 500 orders. Each order has its own result, in the sequence of the request: valid ones are placed, the others fail on their own. Of two orders for one credit the first wins.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `bundle_gone`, `cancelled`, `cover_rests`, `credit_not_sellable`, `declared`, `expired`, `facts_changed`, `firm_not_authorized`, `funds_first`, `idempotency_key_reused`, `in_settlement`, `mandate_expired`, `no_cover`, `no_price`, `nothing_to_deliver`, `quote_expired`, `quote_used`, `rejected`, `requirement_covered`, `reserved`, `suspended`, `too_many_covers`, `too_short`, `transferred`, `unfunded_desk_limit`, `unfunded_limit`, `used`, `withdrawn`, `wrong_state`.

        `POST /v1/orders:batch`, scope `orders:write`
        """
        return self._run(OPERATIONS["placeOrderBatch"], Call({}, {}, body, options))

    def read_order(self, order_id: str, **options: Unpack[CallOptions]) -> schemas.Order:
        """Read an order. An order with its price, its credits, its settlement and every state it has had.

        `GET /v1/orders/{order_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readOrder"], Call({"order_id": order_id}, {}, None, options))

    def cancel_order(self, order_id: str, **options: Unpack[WriteOptions]) -> schemas.Order:
        """Cancel the resting part of an order. Deals stand. Cancelling twice is no conflict.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `POST /v1/orders/{order_id}/cancel`, scope `orders:write`
        """
        return self._run(OPERATIONS["cancelOrder"], Call({"order_id": order_id}, {}, None, options))

    def quote_cross(self, body: schemas.CrossQuoteRequest, **options: Unpack[WriteOptions]) -> schemas.CrossQuote:
        """Take the terms of a block or an intra-group transfer. A quote reserves nothing and tells nobody. A block has a least face. When there is no market, or the seller of your desk has nothing of the kind, the answer is no_quote and its reason, and nothing else.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`; 409 `cancelled`, `declared`, `expired`, `firm_not_authorized`, `in_settlement`, `mandate_expired`, `rejected`, `reserved`, `suspended`, `too_short`, `transferred`, `used`, `withdrawn`.

        `POST /v1/cross/quote`, scope `quote`
        """
        return self._run(OPERATIONS["quoteCross"], Call({}, {}, body, options))

    def propose_cross(self, body: schemas.ProposeCross, **options: Unpack[CreateOptions]) -> schemas.Cross:
        """Propose a cross on a quote. Between two firms of your desk it is agreed at once, with its credits reserved. Any other waits for the answer of the firm with that IEC, whichever desk acts for it, and expires without one.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `mandate_expired`, `quote_expired`, `quote_used`.

        `POST /v1/cross`, scope `orders:write`
        """
        return self._run(OPERATIONS["proposeCross"], Call({}, {}, body, options))

    def list_crosses(self, query: schemas.ListCrossesQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.CrossList, schemas.Cross]:
        """List the crosses your desk has a side in, or is to answer. Crosses in which a firm of yours has a side, newest first, and proposals that name an IEC of yours.

        `GET /v1/cross`, scope `orders:read`
        """
        return self._run(OPERATIONS["listCrosses"], Call({}, query, None, options))

    def read_cross(self, cross_id: str, **options: Unpack[CallOptions]) -> schemas.Cross:
        """Read a cross. Your side of it. A desk that is on both sides sees both of them.

        `GET /v1/cross/{cross_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readCross"], Call({"cross_id": cross_id}, {}, None, options))

    def accept_cross(self, cross_id: str, body: schemas.AcceptCross, **options: Unpack[WriteOptions]) -> schemas.Cross:
        """Agree to the terms of a cross. For the side that did not propose. The seller's credits are reserved with it, all of them or none; when one is not available, it is a conflict.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `key_limit`, `wrong_side`; 409 `counterparty_unavailable`, `credit_unavailable`, `dues_outstanding`, `firm_not_authorized`, `mandate_expired`, `nothing_to_deliver`, `terms_differ`, `wrong_state`.

        `POST /v1/cross/{cross_id}/accept`, scope `orders:write`
        """
        return self._run(OPERATIONS["acceptCross"], Call({"cross_id": cross_id}, {}, body, options))

    def decline_cross(self, cross_id: str, **options: Unpack[WriteOptions]) -> schemas.Cross:
        """Decline a cross that was proposed to you. Refuses a proposal. It ends for both sides; declining twice is no conflict.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `wrong_state`.

        `POST /v1/cross/{cross_id}/decline`, scope `orders:write`
        """
        return self._run(OPERATIONS["declineCross"], Call({"cross_id": cross_id}, {}, {}, options))

    def fund_cross(self, cross_id: str, body: schemas.FundCross, **options: Unpack[WriteOptions]) -> schemas.Cross:
        """Put the money of a cross into escrow. For the buyer. Your balance is held when it reaches. Otherwise the money is waited for, which the sandbox's bank brings at once. The same payment_ref again changes nothing.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `credit_not_sellable`, `deadline_passed`, `firm_not_authorized`, `mandate_expired`, `payment_pending`, `payment_ref_used`, `reference_used`, `wrong_state`.

        `POST /v1/cross/{cross_id}/fund`, scope `orders:write`
        """
        return self._run(OPERATIONS["fundCross"], Call({"cross_id": cross_id}, {}, body, options))

    def release_cross(self, cross_id: str, **options: Unpack[WriteOptions]) -> schemas.Cross:
        """Let the credits of a funded cross go. For the seller. From here on its settlement delivers credit against money.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `credit_not_sellable`, `credit_unavailable`, `firm_not_authorized`, `mandate_expired`, `wrong_state`.

        `POST /v1/cross/{cross_id}/release`, scope `orders:write`
        """
        return self._run(OPERATIONS["releaseCross"], Call({"cross_id": cross_id}, {}, {}, options))

    def cancel_cross(self, cross_id: str, **options: Unpack[WriteOptions]) -> schemas.Cross:
        """Call a cross off. The proposer while it is proposed, either side while it is agreed, and the seller while it is funded: then the buyer's money goes back.

        Refusals by `detail.reason` (open set): 403 `buy_side_not_enabled`, `wrong_side`; 409 `wrong_state`.

        `POST /v1/cross/{cross_id}/cancel`, scope `orders:write`
        """
        return self._run(OPERATIONS["cancelCross"], Call({"cross_id": cross_id}, {}, {}, options))

    @overload
    def read_positions(self, query: schemas.ReadPositionsQuery = {}, **options: Unpack[CallOptions]) -> schemas.Positions: ...

    @overload
    def read_positions(self, query: schemas.ReadPositionsFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def read_positions(self, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """What your firms hold and have. Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.

        `GET /v1/positions`, scope `orders:read`
        """
        return self._run(OPERATIONS["readPositions"], Call({}, query, None, options))

    def list_markets(self, **options: Unpack[CallOptions]) -> schemas.MarketList:
        """Every market now. One row for each scheme: its state, its prices and its last deal, and what the house could sell now. It names no firm and no credit.

        `GET /v1/market`, scope `market:read`
        """
        return self._run(OPERATIONS["listMarkets"], Call({}, {}, None, options))

    def stream_market(self, **options: Unpack[StreamOptions]) -> Iterator[StreamEvent]:
        """Every change of a market, as it happens. Server-sent events. First `retry`, then:

        | event | data | when |
        |---|---|---|
        | `snapshot` | MarketList | first, and after a reset |
        | `update` | Market | a scheme's figures changed |
        | `status` | Market | its state changed: halted, opened |
        | `heartbeat` | `{epoch, seq}` | every 15 seconds: the last place you were told |
        | `reset` | `{reason}` | what you know is no beginning any more; a snapshot follows |

        Every event but reset has the id `<epoch>-<seq>`, the same from every node. Come back with the last
        one as `Last-Event-ID` and you get exactly what you missed, then what is new. An id that is malformed,
        unknown, too old (some 10,000 updates) or of another epoch is answered with `reset` and a snapshot.

        A key has at most 5 of these streams open at a node; one more ends the oldest. A desk has at most 2500
        streams open at a node, those of events included; one more is answered 500. A reader that does not keep
        up is cut and resumes by its last id. A stream ends within a second when its key is revoked or expires.

        `GET /v1/market/stream`, scope `market:read`
        """
        return self._run(OPERATIONS["streamMarket"], Call({}, {}, None, options))

    def read_market(self, scheme: str, **options: Unpack[CallOptions]) -> schemas.Market:
        """One market now. The state of one scheme's market, its prices, its last deal, and what the house could sell now.

        `GET /v1/market/{scheme}`, scope `market:read`
        """
        return self._run(OPERATIONS["readMarket"], Call({"scheme": scheme}, {}, None, options))

    @overload
    def list_settlements(self, query: schemas.ListSettlementsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.SettlementList, schemas.Settlement]: ...

    @overload
    def list_settlements(self, query: schemas.ListSettlementsFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def list_settlements(self, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """List the settlements your desk has a side in. Settlements in which a firm of yours delivers or buys, newest first. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.

        `GET /v1/settlements`, scope `orders:read`
        """
        return self._run(OPERATIONS["listSettlements"], Call({}, query, None, options))

    def read_settlement(self, settlement_id: str, **options: Unpack[CallOptions]) -> schemas.Settlement:
        """Read a settlement. What your firms deliver or buy in it. A desk that is on both sides sees both of them.

        `GET /v1/settlements/{settlement_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readSettlement"], Call({"settlement_id": settlement_id}, {}, None, options))

    def list_tasks(self, query: schemas.ListTasksQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.TaskList, schemas.TaskOfList]:
        """List what your firms have to do for their deals. The day's work: payments, transfers to initiate and transfers to accept, the soonest due first. Without `status`, what is open.

        `GET /v1/tasks`, scope `orders:read`
        """
        return self._run(OPERATIONS["listTasks"], Call({}, query, None, options))

    def finish_task(self, settlement_id: str, task_id: str, body: schemas.FinishTask, **options: Unpack[WriteOptions]) -> schemas.Settlement:
        """Say that a task of your firm is done. A claim of `initiate` starts `accept` and its clock; it proves nothing. A claim of `pay` is noted: the bank's line funds the deal. A second one is answered as the first, whatever its reference.

        Refusals by `detail.reason` (open set): 409 `task_of_house`, `wrong_state`.

        `POST /v1/settlements/{settlement_id}/tasks/{task_id}/done`, scope `orders:write`
        """
        return self._run(OPERATIONS["finishTask"], Call({"settlement_id": settlement_id, "task_id": task_id}, {}, body, options))

    def report_missing(self, settlement_id: str, task_id: str, body: schemas.ReportMissing = {}, **options: Unpack[WriteOptions]) -> schemas.Settlement:
        """Say that the portal shows no transfer to accept. The holder's task waits again, the deal stays open whatever its deadline, and an operator looks. A second one is answered as the first.

        Refusals by `detail.reason` (open set): 409 `nothing_to_miss`, `wrong_state`.

        `POST /v1/settlements/{settlement_id}/tasks/{task_id}/missing`, scope `orders:write`
        """
        return self._run(OPERATIONS["reportMissing"], Call({"settlement_id": settlement_id, "task_id": task_id}, {}, body, options))

    def advance_settlement(self, settlement_id: str, **options: Unpack[WriteOptions]) -> schemas.Settlement:
        """Let the next step of a settlement happen now. What customs or the bank would say next is said now. Sandbox keys only.

        Refusals by `detail.reason` (open set): 409 `balance_moved`, `begun_since`, `credit_not_sellable`, `reference_used`, `wrong_state`.

        `POST /v1/sandbox/settlements/{settlement_id}/advance`, scope `orders:write`
        """
        return self._run(OPERATIONS["advanceSettlement"], Call({"settlement_id": settlement_id}, {}, {}, options))

    def read_funding(self, firm_id: str, **options: Unpack[CallOptions]) -> schemas.Funding:
        """Read where a firm pays ahead. What comes from a confirmed account of the firm becomes its balance and funds its deals. Read it anew before you pay, and trust no account that comes by mail: we never send ours that way. While the house has no account yet it is a conflict (`house_incomplete`).

        Refusals by `detail.reason` (open set): 409 `firm_offboarded`, `house_incomplete`.

        `GET /v1/firms/{firm_id}/funding`, scope `orders:read`
        """
        return self._run(OPERATIONS["readFunding"], Call({"firm_id": firm_id}, {}, None, options))

    @overload
    def list_payouts(self, query: schemas.ListPayoutsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.PayoutList, schemas.Payout]: ...

    @overload
    def list_payouts(self, query: schemas.ListPayoutsFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def list_payouts(self, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """List the payouts to your firms. Money on its way to your firms' banks, newest first. Filter by `settlement_id` or `order_id` to find what a sale was paid with. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.

        `GET /v1/payouts`, scope `orders:read`
        """
        return self._run(OPERATIONS["listPayouts"], Call({}, query, None, options))

    @overload
    def list_deposits(self, query: schemas.ListDepositsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.DepositList, schemas.Deposit]: ...

    @overload
    def list_deposits(self, query: schemas.ListDepositsFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def list_deposits(self, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """List the money that came from your firms. Newest first, each with the bank's reference; money that waits in our queue is no deposit yet. Where to pay is at `GET /v1/firms/{firm_id}/funding`. As csv or xlsx, all rows that match are one file, of up to 20000 rows, or a page of them where limit or cursor is given. X-Truncated says that there are more, and X-Next-Cursor is the cursor that they begin with.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`.

        `GET /v1/deposits`, scope `orders:read`
        """
        return self._run(OPERATIONS["listDeposits"], Call({}, query, None, options))

    def read_payout(self, payout_id: str, **options: Unpack[CallOptions]) -> schemas.Payout:
        """Read a payout. Its lines tie every paisa to the order it comes from.

        `GET /v1/payouts/{payout_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readPayout"], Call({"payout_id": payout_id}, {}, None, options))

    def withdraw_money(self, firm_id: str, body: schemas.WithdrawMoney, **options: Unpack[CreateOptions]) -> schemas.Payout:
        """Pay a firm's available money to its bank account. By a payout of kind `withdrawal`, held for the reasons of any payout: a changed or unverified account, a suspended firm. Money that comes back is available again and is not sent anew by itself. More than is available is a conflict that says what is (`insufficient_funds`), and so is what the firm would be left owing us with less than it owes (`dues_outstanding`).

        Refusals by `detail.reason` (open set): 403 `key_limit`; 409 `balance_moved`, `dues_outstanding`, `firm_not_authorized`, `idempotency_key_reused`, `insufficient_funds`, `no_bank_account`, `second_key_required`, `wrong_state`.

        `POST /v1/firms/{firm_id}/withdrawals`, scope `orders:write`
        """
        return self._run(OPERATIONS["withdrawMoney"], Call({"firm_id": firm_id}, {}, body, options))

    def read_approval_rules(self, **options: Unpack[CallOptions]) -> schemas.ApprovalRules:
        """What takes two keys of your desk. Nothing does until a root key sets it.

        `GET /v1/approvals/rules`, scope `any key`
        """
        return self._run(OPERATIONS["readApprovalRules"], Call({}, {}, None, options))

    def set_approval_rules(self, body: schemas.SetApprovalRules, **options: Unpack[WriteOptions]) -> schemas.ApprovalRules:
        """Say what takes two keys of your desk. Asking for more acts at once, where two keys could approve for one another (`no_second_key`). Asking for less takes two keys itself (`rules_take_two`): propose it with kind `rules`.

        Refusals by `detail.reason` (open set): 409 `no_second_key`, `rules_take_two`, `wrong_state`.

        `PUT /v1/approvals/rules`, scope `root key`
        """
        return self._run(OPERATIONS["setApprovalRules"], Call({}, {}, body, options))

    def propose_act(self, body: schemas.ProposeAct, **options: Unpack[CreateOptions]) -> schemas.DeskApproval:
        """Propose what another key shall approve. The act is tried and taken back, so what cannot be done is refused now. It waits for 72 hours. Anything of these kinds may be proposed, also where one key would be enough.

        Refusals by `detail.reason` (open set): 403 `key_lacks`, `key_limit`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `balance_moved`, `deal_unpaid`, `dues_outstanding`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `firm_not_authorized`, `group_full`, `idempotency_key_reused`, `in_another_group`, `insufficient_funds`, `no_bank_account`, `no_second_key`, `nothing_changes`, `open_business`, `rules_take_two`, `second_key_required`, `too_many_open`, `wrong_state`.

        `POST /v1/approvals`, scope `firms` or `orders:write`
        """
        return self._run(OPERATIONS["proposeAct"], Call({}, {}, body, options))

    def list_desk_approvals(self, query: schemas.ListDeskApprovalsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.DeskApprovalList, schemas.DeskApproval]:
        """List what was proposed, and what became of it. Newest first. A sub_account key sees what is about its own firm.

        `GET /v1/approvals`, scope `firms` or `orders:write`
        """
        return self._run(OPERATIONS["listDeskApprovals"], Call({}, query, None, options))

    def read_desk_approval(self, approval_id: str, **options: Unpack[CallOptions]) -> schemas.DeskApproval:
        """Read an approval. What was proposed, by which key, and what became of it; an account in part.

        `GET /v1/approvals/{approval_id}`, scope `firms` or `orders:write`
        """
        return self._run(OPERATIONS["readDeskApproval"], Call({"approval_id": approval_id}, {}, None, options))

    def approve_act(self, approval_id: str, body: schemas.ApproveAct = {}, **options: Unpack[WriteOptions]) -> schemas.DeskApproval:
        """Approve what another key proposed; it is carried out at once. By a key that could do it alone, of another name, where neither minted the other (`not_a_second_key`); in live both keys were neither minted nor changed within 24 hours (`key_changed_lately`). It is refused for what would refuse the act, and void where the account is another than when it was proposed (`approval_voided`). Only the end of a proposed account is shown, so give the `bank` that you expect: another is 409 `account_differs`.

        Refusals by `detail.reason` (open set): 403 `key_changed_lately`, `key_lacks`, `key_limit`, `not_a_second_key`, `own_firm`, `sub_account_key`, `suspended_by_operator`; 409 `account_differs`, `approval_voided`, `balance_moved`, `deal_unpaid`, `dues_outstanding`, `duplicate_external_id`, `duplicate_iec`, `firm_is_house`, `firm_not_authorized`, `group_full`, `idempotency_key_reused`, `in_another_group`, `insufficient_funds`, `no_bank_account`, `no_second_key`, `open_business`, `rules_take_two`, `second_key_required`, `wrong_state`.

        `POST /v1/approvals/{approval_id}/approve`, scope `firms` or `orders:write`
        """
        return self._run(OPERATIONS["approveAct"], Call({"approval_id": approval_id}, {}, body, options))

    def reject_act(self, approval_id: str, body: schemas.RejectAct, **options: Unpack[WriteOptions]) -> schemas.DeskApproval:
        """Reject what was proposed, or take it back. By any key that could do it alone, the proposing one included.

        Refusals by `detail.reason` (open set): 403 `key_lacks`, `sub_account_key`; 409 `wrong_state`.

        `POST /v1/approvals/{approval_id}/reject`, scope `firms` or `orders:write`
        """
        return self._run(OPERATIONS["rejectAct"], Call({"approval_id": approval_id}, {}, body, options))

    def advance_clock(self, body: schemas.AdvanceClock, **options: Unpack[WriteOptions]) -> schemas.DeskClock:
        """Let time pass for your desk. Every deadline of your desk comes nearer by that much: of quotes, resting orders, crosses, settlements, payouts, holds and credits. The market and other desks stay in their own time, and so do the times on what has happened. A clock is at most ten years ahead of real time; what is made while it is put forward keeps its deadlines.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `clock_in_use`, `clock_too_far`.

        `POST /v1/sandbox/clock`, scope `orders:write`
        """
        return self._run(OPERATIONS["advanceClock"], Call({}, {}, body, options))

    def set_scenario(self, body: schemas.SetScenario, **options: Unpack[WriteOptions]) -> schemas.ScenarioList:
        """Choose what happens to what your desk does next. It happens once, to the first settlement or payout that it fits. A market that is halted stays so, for your desk's quotes alone, until it is opened or the desk is reset.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `POST /v1/sandbox/scenarios`, scope `orders:write`
        """
        return self._run(OPERATIONS["setScenario"], Call({}, {}, body, options))

    def seed_sandbox(self, body: schemas.SeedSandbox, **options: Unpack[WriteOptions]) -> schemas.SeededCredits:
        """Get synthetic credits to try things with. Gives a firm synthetic credits, so that there is something to trade. The same seed makes the same faces and days.

        Refusals by `detail.reason` (open set): 409 `firm_offboarded`.

        `POST /v1/sandbox/credits:seed`, scope `orders:write`
        """
        return self._run(OPERATIONS["seedSandbox"], Call({}, {}, body, options))

    def reset_sandbox(self, **options: Unpack[WriteOptions]) -> schemas.SandboxReset:
        """Let go of everything that is open on your desk. Resting orders are cancelled, open settlements fail, free credits are withdrawn. What has happened stays: the books and the events are only ever added to.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`; 409 `balance_moved`, `wrong_state`.

        `POST /v1/sandbox/reset`, scope `orders:write`
        """
        return self._run(OPERATIONS["resetSandbox"], Call({}, {}, {}, options))

    def read_earnings(self, query: schemas.ReadEarningsQuery = {}, **options: Unpack[CallOptions]) -> schemas.Earnings:
        """Read what your desk earned on its clients' deals. Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/earnings`, scope `orders:read`
        """
        return self._run(OPERATIONS["readEarnings"], Call({}, query, None, options))

    def list_statements(self, query: schemas.ListStatementsQuery = {}, **options: Unpack[CallOptions]) -> schemas.StatementList:
        """List the monthly statements of a firm. The months for which a firm has a statement, newest first, without their lines.

        `GET /v1/statements`, scope `orders:read`
        """
        return self._run(OPERATIONS["listStatements"], Call({}, query, None, options))

    @overload
    def read_statement(self, period: str, query: schemas.ReadStatementQuery = {}, **options: Unpack[CallOptions]) -> schemas.Statement: ...

    @overload
    def read_statement(self, period: str, query: schemas.ReadStatementFileQuery, **options: Unpack[CallOptions]) -> Union[str, bytes]: ...

    def read_statement(self, period: str, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """Read the statement of a month. opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.

        Formats: json is `application/json`, csv is `text/csv`, xlsx is `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, pdf is `application/pdf`.

        Refusals by `detail.reason` (open set): 409 `too_many_lines`.

        `GET /v1/statements/{period}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readStatement"], Call({"period": period}, query, None, options))

    @overload
    def read_contract_note(self, settlement_id: str, query: schemas.ReadContractNoteQuery = {}, **options: Unpack[CallOptions]) -> schemas.ContractNotes: ...

    @overload
    def read_contract_note(self, settlement_id: str, query: schemas.ReadContractNoteFileQuery, **options: Unpack[CallOptions]) -> bytes: ...

    def read_contract_note(self, settlement_id: str, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """Read the contract note of a deal. Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.

        Formats: json is `application/json`, pdf is `application/pdf`.

        `GET /v1/settlements/{settlement_id}/contract-note`, scope `orders:read`
        """
        return self._run(OPERATIONS["readContractNote"], Call({"settlement_id": settlement_id}, query, None, options))

    @overload
    def read_bill_of_supply(self, settlement_id: str, query: schemas.ReadBillOfSupplyQuery = {}, **options: Unpack[CallOptions]) -> schemas.BillsOfSupply: ...

    @overload
    def read_bill_of_supply(self, settlement_id: str, query: schemas.ReadBillOfSupplyFileQuery, **options: Unpack[CallOptions]) -> bytes: ...

    def read_bill_of_supply(self, settlement_id: str, query: Any = {}, **options: Unpack[CallOptions]) -> Any:
        """Read the bills of supply of a deal. Scrips are exempt goods, so whoever supplies them issues a bill of supply: the house, numbered, for what it sold, and the seller for what a client sold, as a draft that the seller numbers. One per supplier, recipient and day, of what was delivered and is yours; none before (as PDF 409 `nothing_delivered`). What the house keeps is a fee: see the contract note.

        Formats: json is `application/json`, pdf is `application/pdf`.

        Refusals by `detail.reason` (open set): 409 `nothing_delivered`.

        `GET /v1/settlements/{settlement_id}/bill-of-supply`, scope `orders:read`
        """
        return self._run(OPERATIONS["readBillOfSupply"], Call({"settlement_id": settlement_id}, query, None, options))

    def list_events(self, query: schemas.ListEventsQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.EventList, schemas.Event]:
        """What happened on your desk, in order. The desk's log, from `after_sequence` on and the oldest first, unless `order=desc`. Sequences have no gap: keep the last one you handled, and you miss nothing; `latest_sequence` is where the log ends. A sub_account key sees the events of its firm.

        `GET /v1/events`, scope `orders:read`
        """
        return self._run(OPERATIONS["listEvents"], Call({}, query, None, options))

    def read_event(self, event_id: str, **options: Unpack[CallOptions]) -> schemas.Event:
        """Read an event. As it was delivered: the same bytes, whoever asks and whenever.

        `GET /v1/events/{event_id}`, scope `orders:read`
        """
        return self._run(OPERATIONS["readEvent"], Call({"event_id": event_id}, {}, None, options))

    def stream_events(self, query: schemas.StreamEventsQuery = {}, **options: Unpack[StreamOptions]) -> Iterator[DeskEvent]:
        """What happens on your desk, as it happens. Server-sent events on the same sequence, after an id alone that says where it begins. Come back with Last-Event-ID and nothing is missed. At most 5 streams a key; one more ends the oldest.

        `GET /v1/events/stream`, scope `orders:read`
        """
        return self._run(OPERATIONS["streamEvents"], Call({}, query, None, options))

    def list_audit(self, query: schemas.ListAuditQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.AuditList, schemas.AuditEntry]:
        """Who changed what on your desk. Everything that was committed before the call. Not for sub_account keys.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/audit`, scope `orders:read`
        """
        return self._run(OPERATIONS["listAudit"], Call({}, query, None, options))

    def export_audit(self, query: schemas.ExportAuditQuery = {}, **options: Unpack[CallOptions]) -> Iterator[str]:
        """Your desk's audit trail, to be verified without us. Lines of JSON, in which each record or block of records has the hash of what is before; the last is a signed checkpoint. An export without one is not whole. At most 2 at a time a key; the next waits for its turn. Not for sub_account keys.

        Refusals by `detail.reason` (open set): 403 `sub_account_key`.

        `GET /v1/audit/export`, scope `orders:read`
        """
        return self._run(OPERATIONS["exportAudit"], Call({}, query, None, options))

    def list_audit_keys(self, **options: Unpack[CallOptions]) -> schemas.AuditKeys:
        """What exports are signed with. The public keys that verify checkpoints of exports.

        `GET /v1/audit/keys`, scope `any key`
        """
        return self._run(OPERATIONS["listAuditKeys"], Call({}, {}, None, options))

    def register_webhook(self, body: schemas.RegisterWebhook, **options: Unpack[CreateOptions]) -> schemas.Webhook:
        """Have events sent to an address of yours. The signing secret is in this answer and in no other.

        Refusals by `detail.reason` (open set): 409 `deleted`, `idempotency_key_reused`, `too_many_webhooks`, `webhook_exists`.

        `POST /v1/webhooks`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["registerWebhook"], Call({}, {}, body, options))

    def list_webhooks(self, query: schemas.ListWebhooksQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.WebhookList, schemas.Webhook]:
        """List your webhooks, and every event there is. Your subscriptions, and in `events` the name of every event there is.

        `GET /v1/webhooks`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["listWebhooks"], Call({}, query, None, options))

    def read_webhook(self, webhook_id: str, **options: Unpack[CallOptions]) -> schemas.Webhook:
        """Read a webhook. A subscription with its state. Its secret is masked.

        `GET /v1/webhooks/{webhook_id}`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["readWebhook"], Call({"webhook_id": webhook_id}, {}, None, options))

    def delete_webhook(self, webhook_id: str, **options: Unpack[WriteOptions]) -> schemas.Webhook:
        """Have nothing more sent to an address. Nothing more is sent to it.

        `DELETE /v1/webhooks/{webhook_id}`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["deleteWebhook"], Call({"webhook_id": webhook_id}, {}, None, options))

    def update_webhook(self, webhook_id: str, body: schemas.UpdateWebhook = {}, **options: Unpack[WriteOptions]) -> schemas.Webhook:
        """Change a webhook, pause it, or let it go on. It keeps its id and its secret. A new address is pinged, and your other webhooks are told by `webhook.updated`.

        Refusals by `detail.reason` (open set): 409 `webhook_exists`, `wrong_state`.

        `PATCH /v1/webhooks/{webhook_id}`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["updateWebhook"], Call({"webhook_id": webhook_id}, {}, body, options))

    def test_webhook(self, webhook_id: str, **options: Unpack[WriteOptions]) -> schemas.TestedWebhook:
        """Send a webhook.ping to this webhook. It is signed, retried and listed as any other delivery.

        `POST /v1/webhooks/{webhook_id}/test`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["testWebhook"], Call({"webhook_id": webhook_id}, {}, None, options))

    def rotate_secret(self, webhook_id: str, body: schemas.RotateSecret = {}, **options: Unpack[WriteOptions]) -> schemas.Webhook:
        """Replace a signing secret. The new secret is in this answer and in no other. A dry run shows no secret. During the grace period X-Service-Signature-Previous is signed with the old one.

        `POST /v1/webhooks/{webhook_id}/rotate-secret`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["rotateSecret"], Call({"webhook_id": webhook_id}, {}, body, options))

    def enable_webhook(self, webhook_id: str, **options: Unpack[WriteOptions]) -> schemas.Webhook:
        """Send to a disabled webhook again. What it missed is among the failures and can be replayed.

        Refusals by `detail.reason` (open set): 409 `wrong_state`.

        `POST /v1/webhooks/{webhook_id}/enable`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["enableWebhook"], Call({"webhook_id": webhook_id}, {}, None, options))

    def list_deliveries(self, webhook_id: str, query: schemas.ListDeliveriesQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.DeliveryList, schemas.LoggedDelivery]:
        """What was sent to a webhook, attempt by attempt. What was sent to a webhook, newest first, with every attempt: when, the status, how long it took and the first bytes of the answer.

        `GET /v1/webhooks/{webhook_id}/deliveries`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["listDeliveries"], Call({"webhook_id": webhook_id}, query, None, options))

    def list_failures(self, query: schemas.ListFailuresQuery = {}, **options: Unpack[CallOptions]) -> PagedList[schemas.FailureList, schemas.Delivery]:
        """List dead-lettered deliveries. Deliveries that were given up, newest first, with the reason. Send them again with `POST /v1/webhooks/replay`.

        `GET /v1/webhooks/failures`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["listFailures"], Call({}, query, None, options))

    def replay_deliveries(self, body: schemas.ReplayDeliveries = {}, **options: Unpack[WriteOptions]) -> schemas.Replay:
        """Send dead-lettered deliveries again. With the same delivery id and the same bytes. Without a filter all of them; the filters narrow together.

        `POST /v1/webhooks/replay`, scope `webhooks:write`
        """
        return self._run(OPERATIONS["replayDeliveries"], Call({}, {}, body, options))

    def list_rates(self, **options: Unpack[CallOptions]) -> schemas.RateList:
        """What credits are worth today. The index of the running day and the middle of the desk's rate card, per scheme.

        `GET /public/rates`
        """
        return self._run(OPERATIONS["listRates"], Call({}, {}, None, options))

    def read_methodology(self, **options: Unpack[CallOptions]) -> schemas.Methodology:
        """How the index is made. How the index is made, in words and as figures.

        `GET /public/rates/methodology`
        """
        return self._run(OPERATIONS["readMethodology"], Call({}, {}, None, options))

    def read_rate(self, scheme: str, **options: Unpack[CallOptions]) -> schemas.Rate:
        """What credits of a scheme are worth today. What credits of one scheme are worth today. `stale` says that the figure is not made of the day's own deals.

        `GET /public/rates/{scheme}`
        """
        return self._run(OPERATIONS["readRate"], Call({"scheme": scheme}, {}, None, options))

    def read_rate_of_day(self, scheme: str, date: str, **options: Unpack[CallOptions]) -> schemas.RateFigure:
        """The index of a day. Fixed for good a quarter of an hour after the day has ended in IST.

        `GET /public/rates/{scheme}/{date}`
        """
        return self._run(OPERATIONS["readRateOfDay"], Call({"scheme": scheme, "date": date}, {}, None, options))

    def read_rate_history(self, scheme: str, query: schemas.ReadRateHistoryQuery = {}, **options: Unpack[CallOptions]) -> schemas.RateHistory:
        """The fixed figures of a scheme. At most 3660 days at once.

        `GET /public/rates/{scheme}/history`
        """
        return self._run(OPERATIONS["readRateHistory"], Call({"scheme": scheme}, query, None, options))

    def export_rate_history(self, scheme: str, query: schemas.ExportRateHistoryQuery = {}, **options: Unpack[CallOptions]) -> str:
        """The fixed figures of a scheme as CSV. The figures of `history` as CSV, one day a row.

        `GET /public/rates/{scheme}/history.csv`
        """
        return self._run(OPERATIONS["exportRateHistory"], Call({"scheme": scheme}, query, None, options))

    def estimate_enquiry(self, query: schemas.EstimateEnquiryQuery, **options: Unpack[CallOptions]) -> schemas.Estimate:
        """Between what and what a price would lie. A range by the desk's rate card of the moment. It binds nobody.

        `GET /public/enquiry/estimate`
        """
        return self._run(OPERATIONS["estimateEnquiry"], Call({}, query, None, options))

    def submit_sell_enquiry(self, body: schemas.SubmitSellEnquiry, **options: Unpack[WriteOptions]) -> schemas.Enquiry:
        """Ask to sell credits. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.

        `POST /public/enquiry/sell`
        """
        return self._run(OPERATIONS["submitSellEnquiry"], Call({}, {}, body, options))

    def submit_buy_enquiry(self, body: schemas.SubmitBuyEnquiry, **options: Unpack[WriteOptions]) -> schemas.Enquiry:
        """Ask to cover basic customs duty with credits. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.

        `POST /public/enquiry/buy`
        """
        return self._run(OPERATIONS["submitBuyEnquiry"], Call({}, {}, body, options))

    def submit_contact_enquiry(self, body: schemas.SubmitContactEnquiry, **options: Unpack[WriteOptions]) -> schemas.Enquiry:
        """Ask anything else. Sent again while it is open, it is the same enquiry and answered 200. Personal data is sealed, read by the desk only, and deleted after 180 days, or 30 days after the enquiry is closed.

        `POST /public/enquiry/contact`
        """
        return self._run(OPERATIONS["submitContactEnquiry"], Call({}, {}, body, options))

    def read_enquiry(self, enquiry_ref: str, **options: Unpack[CallOptions]) -> schemas.Enquiry:
        """How far an enquiry has come. How far an enquiry has come, by the reference that its sender got.

        `GET /public/enquiry/{enquiry_ref}`
        """
        return self._run(OPERATIONS["readEnquiry"], Call({"enquiry_ref": enquiry_ref}, {}, None, options))

    def read_house(self, **options: Unpack[CallOptions]) -> schemas.House:
        """Who the house is, what dealing costs, when money comes. The house's name, address and papers, its fees and limits by the live rate cards, and the deadlines of a deal agreed now by the calendar of banks and customs.

        `GET /public/house`
        """
        return self._run(OPERATIONS["readHouse"], Call({}, {}, None, options))

    def read_preview(self, **options: Unpack[CallOptions]) -> schemas.Preview:
        """Simulated figures of the sandbox. What the page shows, labelled, until there is a live market: the sandbox's rate cards and simulated figures around them. Nobody has dealt at them.

        `GET /public/preview`
        """
        return self._run(OPERATIONS["readPreview"], Call({}, {}, None, options))
