import { Type } from "typebox";

import { payOutCommission, setCommission } from "../settlement/commissions.ts";
import { authorizeFirm, verifyFirm } from "../firms/check-firm.ts";
import {
  listAllFirms,
  requireAnyFirm,
  toOperatorRequester,
  viewFirm,
} from "../firms/find-firms.ts";
import { findNames, resolveSearch } from "../overview/desks.ts";
import { resumeFirm, suspendFirm } from "../firms/change-firm.ts";
import { firmStates, transferInitiators } from "../firms/rules.ts";
import { issueKey } from "../access/issue-keys.ts";
import { listAllKeys } from "../access/read-keys.ts";
import { moveChildKeys } from "../access/narrow-keys.ts";
import { revokeKeyAsOperator } from "../access/revoke-keys.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import { listRegister } from "../reports/month-end.ts";
import { showStatement } from "../reports/read-statements.ts";
import { listPlans, setPlan } from "../access/plans.ts";
import {
  Commission,
  CommissionPayment,
  Firm,
  FirmNames,
  FirmOfDesk,
  IssuedKey,
  Key,
  KeyOfDesk,
  Keys,
  Plan,
  Plans,
  Register,
  Statement,
  Failures,
  Webhooks,
  Replay,
} from "./desks-schema.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  natural,
  optional,
  paise,
  query,
  readQueue,
  text,
  under,
  searchQuery,
  spanQuery,
} from "./operation.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { listAllFailures } from "../webhooks/read-deliveries.ts";
import { listAllWebhooks } from "../webhooks/read-webhooks.ts";
import { replayAsOperator } from "../webhooks/replay-deliveries.ts";

const keys = under("Keys");
const firms = under("Firms");
const desks = under("Desks");

/** Ids of a page of any list fit. */
const idsLengthMax = 20_000;

export const deskOperations: readonly Operation[] = [
  operation({
    ...keys.read("listAllKeys", "/ops/keys"),
    summary: "List the keys of every desk, without their secrets",
    list: deskSearch({
      name: "keys",
      of: KeyOfDesk,
      order: "The keys of every desk.",
      query: {},
      read: listAllKeys,
      listFirmIds: ({ key }) => [key.firm_id],
    }),
  }),
  operation({
    ...keys.act("issueKey", "/ops/keys", "keys.write"),
    summary: "Issue a desk's root key; it is shown this once",
    body: body({
      firm: optional(text("Name of the desk; made when there is none of that name.", 200)),
      desk_id: optional(id("Or a desk that there is.")),
      environment,
      scopes: Type.Array(text("A scope of the key.", 64), {
        minItems: 1,
        description: "The scopes of the key.",
      }),
      plan: optional(text("Plan of a live key. Default starter.", 64)),
      buy_side: optional(Type.Boolean({ description: "Whether the key may buy." })),
      name: optional(text("What the key is for. Default root.", 100)),
      iec: optional(text("Importer-exporter code of a new live desk.", 10)),
      pan: optional(text("PAN of a new live desk.", 10)),
    }),
    answer: IssuedKey,
    run: ({ ctx, actor }, asked) =>
      issueKey(
        ctx,
        {
          firmName: asked.firm,
          deskId: asked.desk_id,
          environment: asked.environment,
          scopes: asked.scopes,
          plan: asked.plan ?? "starter",
          buySide: asked.buy_side ?? false,
          name: asked.name ?? "root",
          iec: asked.iec,
          pan: asked.pan,
        },
        actor,
      ),
  }),
  operation({
    ...keys.act("revokeAnyKey", "/ops/keys/:key_id/revoke", "keys.write"),
    summary: "Revoke a key and its children from the next request on",
    answer: Key,
    run: ({ ctx, actor }, asked) => revokeKeyAsOperator(ctx, asked.key_id, actor),
  }),
  operation({
    ...keys.act("moveChildKeys", "/ops/keys/:key_id/move-children", "keys.write"),
    summary:
      "Give a root key's children to another root key of its desk; none gets more than it had",
    body: body({ to_key_id: id("The root key that has them from now on.") }),
    answer: Keys,
    run: ({ ctx, actor }, asked) => moveChildKeys(ctx, actor, asked),
  }),
  operation({
    ...keys.read("listPlans", "/ops/plans"),
    summary: "List the plans that keys are metered by",
    answer: Plans,
    run: async ({ ctx }) => ({ plans: await listPlans(ctx) }),
  }),
  operation({
    ...keys.act("setPlan", "/ops/plans/:name", "plans.write", "PUT"),
    summary: "Make or change a plan; its keys follow from their next call",
    body: body({
      per_minute: paise("Calls per 60-second sliding window."),
      monthly_quota: paise("The calls allowed in an IST month."),
      child_keys_max: optional(natural("Child keys of a desk at a time.")),
      unfunded_max_paise: optional(natural("Deals of a firm that may wait for money.")),
      unfunded_desk_max_paise: optional(natural("The same of all firms of a desk together.")),
      unpaid_days: optional(
        natural("Working days for which a deal that was not paid counts against its buyer."),
      ),
    }),
    answer: Plan,
    run: ({ ctx, actor }, asked) =>
      setPlan(
        ctx,
        {
          name: asked.name,
          perMinute: asked.per_minute,
          monthlyQuota: asked.monthly_quota,
          childKeysMax: asked.child_keys_max,
          unfundedMaxPaise: asked.unfunded_max_paise,
          unfundedDeskMaxPaise: asked.unfunded_desk_max_paise,
          unpaidDays: asked.unpaid_days,
        },
        actor,
      ),
  }),
  operation({
    ...firms.read("listAllFirms", "/ops/firms"),
    summary: "List the firms of every desk, newest first",
    list: deskSearch({
      name: "firms",
      of: FirmOfDesk,
      order: "The newest first.",
      query: {
        connection_state: optional(closedEnum(firmStates, { description: "Only in this state." })),
      },
      read: (ctx, { connection_state: connectionState, ...search }) =>
        listAllFirms(ctx, { ...search, connectionState }),
      listFirmIds: ({ firm }) => [firm.firm_id],
    }),
  }),
  operation({
    ...firms.read("nameFirms", "/ops/firm-names"),
    summary: "Name firms by their ids",
    query: query({
      ids: Type.String({
        minLength: 1,
        maxLength: idsLengthMax,
        description: "Ids of firms, with commas between them.",
      }),
    }),
    answer: FirmNames,
    run: async ({ ctx }, asked) => ({ names: await findNames(ctx.db, asked.ids.split(",")) }),
  }),
  operation({
    ...firms.read("readAnyFirm", "/ops/firms/:firm_id"),
    summary: "Read a firm with its checks and holds; account numbers stay masked",
    answer: Firm,
    run: async ({ ctx }, { firm_id }) => viewFirm(await requireAnyFirm(ctx.db, firm_id), ctx.now()),
  }),
  operation({
    ...firms.act("verifyAnyFirm", "/ops/firms/:firm_id/verify", "firms.write"),
    summary: "Ask the registry and the bank about a firm",
    answer: Firm,
    run: async ({ ctx, actor }, { firm_id }) =>
      await verifyFirm(ctx, await toOperatorRequester(ctx, firm_id, actor), firm_id),
  }),
  operation({
    ...firms.act("authorizeAnyFirm", "/ops/firms/:firm_id/authorize", "firms.write"),
    summary: "Record a verified firm's mandate",
    body: body({
      signatory_name: text("Who signed for the firm.", 200),
      reference: text("Where the signed mandate is found.", 200),
      valid_until: text("Last day (YYYY-MM-DD, IST) or ISO 8601 time.", 40),
      transfers: optional(
        closedEnum(transferInitiators, {
          description: "Who initiates the firm's transfers at customs; the house unless given.",
        }),
      ),
    }),
    answer: Firm,
    run: async ({ ctx, actor }, { firm_id: firmId, ...mandate }) => {
      const requester = await toOperatorRequester(ctx, firmId, actor);
      return await authorizeFirm(ctx, requester, { firmId, mandate });
    },
  }),
  operation({
    ...firms.act("suspendAnyFirm", "/ops/firms/:firm_id/suspend", "firms.write"),
    summary: "Stop trading for a firm; only an operator can resume it",
    body: body({ reason: text("The reason in words, which the desk sees.") }),
    answer: Firm,
    run: async ({ ctx, actor }, { firm_id: firmId, reason }) => {
      const requester = await toOperatorRequester(ctx, firmId, actor);
      return await suspendFirm(ctx, requester, { firmId, reason });
    },
  }),
  operation({
    ...firms.act("resumeAnyFirm", "/ops/firms/:firm_id/resume", "firms.write"),
    summary: "End a firm's suspension, whoever made it",
    answer: Firm,
    run: async ({ ctx, actor }, { firm_id }) =>
      await resumeFirm(ctx, await toOperatorRequester(ctx, firm_id, actor), firm_id),
  }),
  operation({
    ...firms.read("showAnyStatement", "/ops/firms/:firm_id/statements/:period"),
    summary: "Show a firm's statement of a month",
    answer: Statement,
    run: ({ ctx, wiring: { letterhead } }, { firm_id: firmId, period }) =>
      showStatement(ctx, { firmId, period, letterhead }),
  }),
  operation({
    ...firms.read("listRegister", "/ops/statements"),
    summary: "List the final statements of a month, one for each firm, by the firm's id",
    query: query({
      environment,
      period: Type.String({
        pattern: "^\\d{4}-\\d{2}$",
        description: "The month, YYYY-MM, in IST.",
      }),
      limit: listQuery.limit,
      cursor,
    }),
    answer: Register,
    run: ({ ctx }, { cursor: after, ...asked }) =>
      readQueue("statements", asked.limit, {
        list: (limit) => listRegister(ctx, { ...asked, after, limit }),
        findId: (row) => row.firm_id,
      }),
  }),
  operation({
    ...desks.act("setCommission", "/ops/desks/:firm_id/commission", "desks.write", "PUT"),
    summary: "Set what a desk earns on its clients' deals that settle from now on",
    body: body({ bps: natural("Basis points of face, 0 to 100.", 10_000) }),
    answer: Commission,
    run: ({ ctx, actor }, { firm_id: firmId, bps }) => setCommission(ctx, actor, { firmId, bps }),
  }),
  operation({
    ...desks.act("payCommission", "/ops/desks/:firm_id/commission-payments", "commissions.pay"),
    summary: "Say that a desk was paid its commission; large sums take two people",
    body: body({
      amount_paise: paise("The amount in paise."),
      utr: id("The bank's reference (UTR)."),
    }),
    answer: CommissionPayment,
    run: (
      { ctx, actor, wiring: { twoFromPaise } },
      { firm_id: firmId, amount_paise: paise, utr },
    ) => payOutCommission(ctx, actor, { firmId, paise, utr, twoFromPaise }),
  }),
];

const support = under("Support");

export const webhookOperations: readonly Operation[] = [
  operation({
    ...support.read("listAllWebhooks", "/ops/webhooks"),
    summary: "List the webhooks of every desk, without their secrets",
    query: query({
      environment: optional(environment),
      desk_id: searchQuery.desk_id,
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    }),
    answer: Webhooks,
    run: async ({ ctx }, asked) => ({
      webhooks: await listAllWebhooks(ctx, await resolveSearch(ctx, asked)),
    }),
  }),
  operation({
    ...support.read("listAllFailures", "/ops/webhooks/failures"),
    summary: "List the newest dead-lettered deliveries of every desk",
    query: query({
      webhook_id: optional(id("Only of this webhook.")),
      limit: listQuery.limit,
      cursor,
      desk_id: searchQuery.desk_id,
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    }),
    answer: Failures,
    run: ({ ctx }, asked) =>
      readQueue("failures", asked.limit, {
        list: async (limit) => {
          const search = await resolveSearch(ctx, asked);
          const { webhook_id: webhookId = null, cursor: before } = asked;
          return await listAllFailures(ctx, { ...search, webhookId, before, limit });
        },
        findId: (row) => row.delivery_id,
      }),
  }),
  operation({
    ...support.act("replayAnyDeliveries", "/ops/webhooks/replay", "webhooks.write"),
    summary: "Send dead-lettered deliveries of a webhook again, with the same ids and bytes",
    body: body({ webhook_id: id("Those of this webhook.") }),
    answer: Replay,
    run: ({ ctx, actor }, asked) =>
      replayAsOperator(ctx, { webhookId: asked.webhook_id, deliveryId: null, event: null }, actor),
  }),
];
