import { Type } from "typebox";

import { verifyChain } from "../journal/verify-chain.ts";
import { addDay, importDays, listCalendar, removeDay } from "../outside/calendar.ts";
import { applyRegistryNews } from "../credits/registry-news.ts";
import { importCreditsAsOperator } from "../credits/declare-credits.ts";
import { listAllCredits } from "../credits/read-credits.ts";
import { creditStates } from "../credits/rules.ts";
import { listAllFailures } from "../webhooks/read-deliveries.ts";
import { replayAsOperator } from "../webhooks/replay-deliveries.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import { attestWithApproval, toAttestations } from "../outside/attest.ts";
import { readOpenInquiries, setOutage } from "../outside/ask.ts";
import { checkNames, ports } from "../outside/inquiry-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { offices } from "../kernel/working-days.ts";
import { checkLedger, recordVerdict } from "../ledger/check-ledger.ts";
import { resolveSearch } from "../overview/desks.ts";
import type { Context } from "../platform/context.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { closeEnquiry, listEnquiries, showEnquiry } from "../market/answer-enquiries.ts";
import { enquiryStatuses } from "../market/public-rules.ts";
import { listAllWebhooks } from "../webhooks/read-webhooks.ts";
import {
  act,
  cursor,
  environment,
  id,
  listQuery,
  optional,
  read,
  readPage,
  scheme,
  searchDesks,
  searchQuery,
  spanQuery,
  text,
  reportFiles,
} from "./operation.ts";
import {
  AddedDay,
  Attested,
  AuditVerdict,
  Calendar,
  Credits,
  Enquiries,
  Enquiry,
  Failures,
  ImportedDays,
  ImportResults,
  Inquiries,
  LedgerVerdict,
  News,
  OpenedEnquiry,
  PortState,
  RemovedDay,
  Replay,
  Webhooks,
} from "./world-schema.ts";
import type { Operation } from "../platform/http/operation.ts";

const registry = { tag: "Registry" } as const;
const calendar = { tag: "Calendar" } as const;
const proofs = { tag: "Proofs" } as const;
const support = { tag: "Support" } as const;

const office = closedEnum(offices, { description: "Whose day it is." });
const day = text("The day, YYYY-MM-DD.", 10);
const newsWords = ["suspend", "lift", "cancel"] as const;

export const worldOperations: readonly Operation[] = [
  read("listInquiries", "/ops/inquiries", {
    ...registry,
    summary: "List the open questions to customs and banks, oldest first",
    query: {
      ...listQuery,
      cursor,
      port: optional(closedEnum(ports, { description: "Only of this port." })),
      desk_id: searchQuery.desk_id,
      ...spanQuery,
    },
    answer: Inquiries,
    run: async ({ ctx, query }) =>
      await readPage("inquiries", query.limit, {
        list: async (limit) =>
          await readOpenInquiries(ctx, {
            ...(await resolveSearch(ctx, query)),
            port: query.port ?? null,
            after: query.cursor,
            limit,
          }),
        findId: (row) => row.inquiry_id,
      }),
  }),
  act("attestInquiries", "/ops/inquiries/attest", {
    ...registry,
    summary: "Answer open questions with what you saw; large ones take two people",
    permission: "registry.write",
    body: {
      findings: Type.Array(
        Type.Object(
          {
            inquiry_id: id("The question."),
            reference: text("What you saw: a ticket, a letter.", 200),
            held: optional(
              Type.Boolean({ description: "Whether the firm holds the credit, for a credit." }),
            ),
            failed: optional(
              Type.Array(
                Type.Object(
                  {
                    check: closedEnum(checkNames, { description: "The check that failed." }),
                    cure: optional(text("What the firm can do.")),
                  },
                  { additionalProperties: false },
                ),
                { description: "The checks that failed; the others passed.", maxItems: 10 },
              ),
            ),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 500, description: "All or none." },
      ),
    },
    answer: Attested,
    run: async ({ ctx, actor, body, wiring: { attesting, twoFromPaise } }) => {
      const findings = body.findings.map(({ inquiry_id, reference, held, failed = [] }) => ({
        inquiryId: inquiry_id,
        reference,
        held,
        failed: failed.map(({ check, cure }) => ({ check, cure: cure ?? null })),
      }));
      const attestations = await toAttestations(ctx, findings);
      return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
    },
  }),
  act("setOutage", "/ops/ports/outage", {
    ...registry,
    summary: "Say that a port is down, with a note, or up again, without one",
    permission: "registry.write",
    body: {
      environment,
      port: closedEnum(ports, { description: "Which." }),
      note: optional(text("Why it is down; left out, it is up again.")),
    },
    answer: PortState,
    run: async ({ ctx, actor, body: { note, ...target } }) => {
      await setOutage(ctx, target, note, actor);
      return { ...target, state: note === undefined ? ("up" as const) : ("outage" as const) };
    },
  }),
  read("listAllCredits", "/ops/credits", {
    ...registry,
    summary: "List credits of every desk, newest first",
    query: {
      ...searchQuery,
      scrip_no: optional(text("Only of this number, all on one page.", 64)),
      scheme: optional(scheme),
      status: optional(closedEnum(creditStates, { description: "Only in this state." })),
    },
    answer: Credits,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "credits", {
        list: (search) =>
          listAllCredits(ctx, {
            ...search,
            scripNo: query.scrip_no,
            scheme: query.scheme,
            status: query.status,
          }),
        listFirmIds: (row) => [row.desk_id, row.firm_id],
      }),
  }),
  act("importAnyCredits", "/ops/firms/:firm_id/credits/import", {
    ...registry,
    summary: "Import a report of the customs portal for a firm",
    permission: "credits.write",
    body: reportFiles,
    answer: ImportResults,
    run: async ({ ctx, actor, params, body }) => {
      const firmId = params["firm_id"] ?? "";
      const { desk_id: deskId } = await requireAnyFirm(ctx.db, firmId);
      return await importCreditsAsOperator(ctx, actor, { deskId, firmId }, body);
    },
  }),
  act("recordNews", "/ops/credits/news", {
    ...registry,
    summary: "Record that customs suspended, lifted or cancelled a credit",
    permission: "credits.write",
    body: {
      environment,
      scrip_no: text("The credit's number.", 64),
      news: closedEnum(newsWords, { description: "What customs did." }),
      reason: text("The notice that says so."),
    },
    answer: News,
    run: async ({ ctx, actor, body, wiring: { onLost } }) => {
      const { environment: where, scrip_no: scripNo, news, reason } = body;
      const heard = { environment: where, news: [{ scripNo, news, reason }], onLost };
      const [result] = await applyRegistryNews(ctx, actor, heard);
      if (!result?.ok) throw new Failure("conflict", `${scripNo}: ${result?.problem ?? ""}`);
      return result;
    },
  }),
  read("listCalendar", "/ops/calendar", {
    ...calendar,
    summary: "List the days on which banks and customs differ from the week",
    query: {
      office: optional(office),
      year: optional(Type.Integer({ minimum: 2000, maximum: 2200, description: "Only of it." })),
    },
    answer: Calendar,
    run: async ({ ctx, query }) => ({
      days: await listCalendar(ctx, { office: query.office ?? null, year: query.year ?? null }),
    }),
  }),
  act("importCalendar", "/ops/calendar", {
    ...calendar,
    summary: "Take over a list of days; starting rows of its years that it lacks go",
    permission: "calendar.write",
    body: {
      days: Type.Array(
        Type.Object(
          {
            office,
            day,
            name: text("What the day is.", 200),
            works: optional(Type.Boolean({ description: "Whether the office works on it." })),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 1_000, description: "The days." },
      ),
    },
    answer: ImportedDays,
    run: async ({ ctx, actor, body }) =>
      await importDays(
        ctx,
        actor,
        body.days.map((given) => ({ ...given, works: worksText(given) })),
      ),
  }),
  act("addCalendarDay", "/ops/calendar/add", {
    ...calendar,
    summary: "Add or confirm one day",
    permission: "calendar.write",
    body: {
      office,
      day,
      name: text("What the day is.", 200),
      works: optional(Type.Boolean({ description: "Whether the office works on it." })),
    },
    answer: AddedDay,
    run: async ({ ctx, actor, body }) => {
      await addDay(ctx, actor, { ...body, works: worksText(body) });
      return body;
    },
  }),
  act("removeCalendarDay", "/ops/calendar/remove", {
    ...calendar,
    summary: "Remove one day, which then is what the week says",
    permission: "calendar.write",
    body: { office, day },
    answer: RemovedDay,
    run: async ({ ctx, actor, body }) => {
      await removeDay(ctx, actor, body);
      return { ...body, removed: true };
    },
  }),
  read("checkLedger", "/ops/ledger/check", {
    ...proofs,
    summary: "Prove that the books hold, or name the first place where they do not",
    answer: LedgerVerdict,
    run: async ({ ctx }) =>
      await shareRun("ledger", ctx, async () => {
        const verdict = await checkLedger(ctx);
        await recordVerdict(ctx.db, verdict);
        return verdict;
      }),
  }),
  read("verifyAudit", "/ops/audit/verify", {
    ...proofs,
    summary: "Prove that the audit trail is whole, or name the first place where it is not",
    answer: AuditVerdict,
    run: async ({ ctx }) => await shareRun("audit", ctx, async () => await verifyChain(ctx)),
  }),
  read("listEnquiries", "/ops/enquiries", {
    ...support,
    summary: "List what the public asks, with who sent it",
    permission: "enquiries.read",
    query: {
      status: optional(closedEnum(enquiryStatuses, { description: "Only in this state." })),
      limit: listQuery.limit,
      cursor,
      ...spanQuery,
    },
    answer: Enquiries,
    run: async ({ ctx, query }) =>
      await readPage("enquiries", query.limit, {
        list: async (limit) =>
          await listEnquiries(ctx, {
            status: query.status ?? null,
            before: query.cursor,
            limit,
            ...parseQuerySpan(query),
          }),
        findId: (row) => row.enquiry_ref,
      }),
  }),
  read("readEnquiry", "/ops/enquiries/:enquiry_ref", {
    ...support,
    summary: "Read an enquiry, with who sent it and how to reach them",
    permission: "enquiries.read",
    answer: OpenedEnquiry,
    run: async ({ ctx, params }) => await showEnquiry(ctx, params["enquiry_ref"] ?? ""),
  }),
  act("closeEnquiry", "/ops/enquiries/:enquiry_ref/close", {
    ...support,
    summary: "Close an enquiry; it is deleted 30 days later",
    permission: "enquiries.write",
    body: { outcome: text("What came of it.") },
    answer: Enquiry,
    run: async ({ ctx, actor, params, body: { outcome } }) =>
      await closeEnquiry(ctx, actor, { enquiryRef: params["enquiry_ref"] ?? "", outcome }),
  }),
  read("listAllWebhooks", "/ops/webhooks", {
    ...support,
    summary: "List the webhooks of every desk, without their secrets",
    query: {
      environment: optional(environment),
      desk_id: searchQuery.desk_id,
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    },
    answer: Webhooks,
    run: async ({ ctx, query }) => ({
      webhooks: await listAllWebhooks(ctx, await resolveSearch(ctx, query)),
    }),
  }),
  read("listAllFailures", "/ops/webhooks/failures", {
    ...support,
    summary: "List the newest dead-lettered deliveries of every desk",
    query: {
      webhook_id: optional(id("Only of this webhook.")),
      limit: listQuery.limit,
      cursor,
      desk_id: searchQuery.desk_id,
      firm_id: searchQuery.firm_id,
      ...spanQuery,
    },
    answer: Failures,
    run: async ({ ctx, query }) =>
      await readPage("failures", query.limit, {
        list: async (limit) =>
          await listAllFailures(ctx, {
            ...(await resolveSearch(ctx, query)),
            webhookId: query.webhook_id ?? null,
            before: query.cursor,
            limit,
          }),
        findId: (row) => row.delivery_id,
      }),
  }),
  act("replayAnyDeliveries", "/ops/webhooks/replay", {
    ...support,
    summary: "Send dead-lettered deliveries of a webhook again, with the same ids and bytes",
    permission: "webhooks.write",
    body: { webhook_id: id("Those of this webhook.") },
    answer: Replay,
    run: async ({ ctx, actor, body }) =>
      await replayAsOperator(
        ctx,
        { webhookId: body.webhook_id, deliveryId: null, event: null },
        actor,
      ),
  }),
];

const running = new WeakMap<Context["db"], Map<string, Promise<object>>>();

/** A proof reads everything, so concurrent calls share one run. */
async function shareRun<Verdict extends object>(
  proof: "ledger" | "audit",
  { db }: Pick<Context, "db">,
  run: () => Promise<Verdict>,
): Promise<Verdict> {
  const underWay = running.get(db) ?? new Map<string, Promise<object>>();
  running.set(db, underWay);
  // Each proof has one type of verdict.
  const joined = underWay.get(proof) as Promise<Verdict> | undefined;
  const shared = joined ?? run().finally(() => underWay.delete(proof));
  underWay.set(proof, shared);
  return await shared;
}

function worksText({ works = false }: { readonly works?: boolean }): string {
  return works ? "yes" : "no";
}
