import { Type } from "typebox";

import { payOutCommission, setCommission } from "../settlement/commissions.ts";
import { authorizeFirm, verifyFirm } from "../firms/check-firm.ts";
import {
  listAllFirms,
  requireAnyFirm,
  toOperatorRequester,
  viewFirm,
} from "../firms/find-firms.ts";
import { findNames } from "../overview/desks.ts";
import { resumeFirm, suspendFirm } from "../firms/change-firm.ts";
import { firmStates } from "../firms/rules.ts";
import { issueKey } from "../access/issue-keys.ts";
import { listAllKeys } from "../access/read-keys.ts";
import { revokeKeyAsOperator } from "../access/revoke-keys.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { listRegister } from "../reports/month-end.ts";
import { showStatement } from "../reports/read-statements.ts";
import { listPlans, setPlan } from "../access/plans.ts";
import {
  Commission,
  CommissionPayment,
  Firm,
  FirmNames,
  Firms,
  IssuedKey,
  Key,
  Keys,
  Plan,
  Plans,
  Register,
  Statement,
} from "./desks-schema.ts";
import {
  act,
  cursor,
  environment,
  id,
  listQuery,
  natural,
  optional,
  paise,
  read,
  readPage,
  searchDesks,
  searchQuery,
  text,
} from "./operation.ts";
import type { Operation } from "../platform/http/operation.ts";

const keys = { tag: "Keys" } as const;
const firms = { tag: "Firms" } as const;
const desks = { tag: "Desks" } as const;

/** Ids of a page of any list fit. */
const idsLengthMax = 20_000;

export const deskOperations: readonly Operation[] = [
  read("listAllKeys", "/ops/keys", {
    ...keys,
    summary: "List the keys of every desk, without their secrets",
    query: searchQuery,
    answer: Keys,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "keys", {
        list: (search) => listAllKeys(ctx, search),
        listFirmIds: ({ key }) => [key.firm_id],
      }),
  }),
  act("issueKey", "/ops/keys", {
    ...keys,
    summary: "Issue a desk's root key; it is shown this once",
    permission: "keys.write",
    body: {
      firm: optional(text("Name of the desk; made when there is none of that name.", 200)),
      desk_id: optional(id("Or a desk that there is.")),
      environment,
      scopes: Type.Array(text("A scope.", 64), { minItems: 1, description: "What it may do." }),
      plan: optional(text("Plan of a live key. Default starter.", 64)),
      buy_side: optional(Type.Boolean({ description: "Whether it may buy." })),
      name: optional(text("What the key is for. Default root.", 100)),
      iec: optional(text("Importer-exporter code of a new live desk.", 10)),
      pan: optional(text("PAN of a new live desk.", 10)),
    },
    answer: IssuedKey,
    run: async ({ ctx, actor, body }) =>
      await issueKey(
        ctx,
        {
          firmName: body.firm,
          deskId: body.desk_id,
          environment: body.environment,
          scopes: body.scopes,
          plan: body.plan ?? "starter",
          buySide: body.buy_side ?? false,
          name: body.name ?? "root",
          iec: body.iec,
          pan: body.pan,
        },
        actor,
      ),
  }),
  act("revokeAnyKey", "/ops/keys/:key_id/revoke", {
    ...keys,
    summary: "Revoke a key and its children from the next request on",
    permission: "keys.write",
    answer: Key,
    run: async ({ ctx, actor, params }) =>
      await revokeKeyAsOperator(ctx, params["key_id"] ?? "", actor),
  }),
  read("listPlans", "/ops/plans", {
    ...keys,
    summary: "List the plans that keys are metered by",
    answer: Plans,
    run: async ({ ctx }) => ({ plans: await listPlans(ctx) }),
  }),
  act("setPlan", "/ops/plans/:name", {
    ...keys,
    method: "PUT",
    summary: "Make or change a plan; its keys follow from their next call",
    permission: "plans.write",
    body: {
      per_minute: paise("Calls per 60-second sliding window."),
      monthly_quota: paise("Calls per IST month."),
      child_keys_max: optional(natural("Child keys of a desk at a time.")),
      unfunded_max_paise: optional(natural("Deals of a firm that may wait for money.")),
      unfunded_desk_max_paise: optional(natural("The same of all firms of a desk together.")),
      unpaid_days: optional(
        natural("Working days for which a deal that was not paid counts against its buyer."),
      ),
    },
    answer: Plan,
    run: async ({ ctx, actor, params, body }) =>
      await setPlan(
        ctx,
        {
          name: params["name"] ?? "",
          perMinute: body.per_minute,
          monthlyQuota: body.monthly_quota,
          childKeysMax: body.child_keys_max,
          unfundedMaxPaise: body.unfunded_max_paise,
          unfundedDeskMaxPaise: body.unfunded_desk_max_paise,
          unpaidDays: body.unpaid_days,
        },
        actor,
      ),
  }),
  read("listAllFirms", "/ops/firms", {
    ...firms,
    summary: "List the firms of every desk, newest first",
    query: {
      ...searchQuery,
      connection_state: optional(closedEnum(firmStates, { description: "Only in this state." })),
    },
    answer: Firms,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "firms", {
        list: (search) => listAllFirms(ctx, { ...search, connectionState: query.connection_state }),
        listFirmIds: ({ firm }) => [firm.firm_id],
      }),
  }),
  read("nameFirms", "/ops/firm-names", {
    ...firms,
    summary: "Name firms by their ids",
    query: {
      ids: Type.String({
        minLength: 1,
        maxLength: idsLengthMax,
        description: "Ids of firms, with commas between them.",
      }),
    },
    answer: FirmNames,
    run: async ({ ctx, query }) => ({ names: await findNames(ctx.db, query.ids.split(",")) }),
  }),
  read("readAnyFirm", "/ops/firms/:firm_id", {
    ...firms,
    summary: "Read a firm with its checks and holds; account numbers stay masked",
    answer: Firm,
    run: async ({ ctx, params }) => {
      const firmId = params["firm_id"] ?? "";
      return viewFirm(await requireAnyFirm(ctx.db, firmId), ctx.now());
    },
  }),
  act("verifyAnyFirm", "/ops/firms/:firm_id/verify", {
    ...firms,
    summary: "Ask the registry and the bank about a firm",
    permission: "firms.write",
    answer: Firm,
    run: async ({ ctx, actor, params }) => {
      const firmId = params["firm_id"] ?? "";
      return await verifyFirm(ctx, await toOperatorRequester(ctx, firmId, actor), firmId);
    },
  }),
  act("authorizeAnyFirm", "/ops/firms/:firm_id/authorize", {
    ...firms,
    summary: "Record a verified firm's mandate",
    permission: "firms.write",
    body: {
      signatory_name: text("Who signed for the firm.", 200),
      reference: text("Where the signed mandate is found.", 200),
      valid_until: text("Last day (YYYY-MM-DD, IST) or ISO 8601 time.", 40),
    },
    answer: Firm,
    run: async ({ ctx, actor, params, body: mandate }) => {
      const firmId = params["firm_id"] ?? "";
      const requester = await toOperatorRequester(ctx, firmId, actor);
      return await authorizeFirm(ctx, requester, { firmId, mandate });
    },
  }),
  act("suspendAnyFirm", "/ops/firms/:firm_id/suspend", {
    ...firms,
    summary: "Stop trading for a firm; only an operator can resume it",
    permission: "firms.write",
    body: { reason: text("Why; the desk sees it.") },
    answer: Firm,
    run: async ({ ctx, actor, params, body: { reason } }) => {
      const firmId = params["firm_id"] ?? "";
      return await suspendFirm(ctx, await toOperatorRequester(ctx, firmId, actor), {
        firmId,
        reason,
      });
    },
  }),
  act("resumeAnyFirm", "/ops/firms/:firm_id/resume", {
    ...firms,
    summary: "End a firm's suspension, whoever made it",
    permission: "firms.write",
    answer: Firm,
    run: async ({ ctx, actor, params }) => {
      const firmId = params["firm_id"] ?? "";
      return await resumeFirm(ctx, await toOperatorRequester(ctx, firmId, actor), firmId);
    },
  }),
  read("showAnyStatement", "/ops/firms/:firm_id/statements/:period", {
    ...firms,
    summary: "Show a firm's statement of a month",
    answer: Statement,
    run: async ({ ctx, params, wiring: { letterhead } }) =>
      await showStatement(ctx, {
        firmId: params["firm_id"] ?? "",
        period: params["period"] ?? "",
        letterhead,
      }),
  }),
  read("listRegister", "/ops/statements", {
    ...firms,
    summary: "List the final statements of a month, one for each firm, by the firm's id",
    query: {
      environment,
      period: Type.String({
        pattern: "^\\d{4}-\\d{2}$",
        description: "The month, YYYY-MM, in IST.",
      }),
      limit: listQuery.limit,
      cursor,
    },
    answer: Register,
    run: async ({ ctx, query }) =>
      await readPage("statements", query.limit, {
        list: async (limit) =>
          await listRegister(ctx, {
            environment: query.environment,
            period: query.period,
            after: query.cursor,
            limit,
          }),
        findId: (row) => row.firm_id,
      }),
  }),
  act("setCommission", "/ops/desks/:firm_id/commission", {
    ...desks,
    method: "PUT",
    summary: "Set what a desk earns on its clients' deals that settle from now on",
    permission: "desks.write",
    body: { bps: natural("Basis points of face, 0 to 100.", 10_000) },
    answer: Commission,
    run: async ({ ctx, actor, params, body: { bps } }) =>
      await setCommission(ctx, actor, { firmId: params["firm_id"] ?? "", bps }),
  }),
  act("payCommission", "/ops/desks/:firm_id/commission-payments", {
    ...desks,
    summary: "Say that a desk was paid its commission; large sums take two people",
    permission: "commissions.pay",
    body: { amount_paise: paise("How much."), utr: id("The bank's reference.") },
    answer: CommissionPayment,
    run: async ({ ctx, actor, params, body, wiring: { twoFromPaise } }) =>
      await payOutCommission(ctx, actor, {
        firmId: params["firm_id"] ?? "",
        paise: body.amount_paise,
        utr: body.utr,
        twoFromPaise,
      }),
  }),
];
