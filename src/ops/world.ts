import { Type } from "typebox";

import { verifyChain } from "../journal/verify-chain.ts";
import { addDay, importDays, listCalendar, removeDay } from "../outside/calendar.ts";
import { applyRegistryNews } from "../credits/registry-news.ts";
import { importCreditsAsOperator } from "../credits/declare-credits.ts";
import { listAllCredits, readAnyCredit } from "../credits/read-credits.ts";
import { creditStates } from "../credits/rules.ts";
import { listAllFailures } from "../webhooks/read-deliveries.ts";
import { replayAsOperator } from "../webhooks/replay-deliveries.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import { attestWithApproval, toAttestations } from "../outside/attest.ts";
import { readOpenQuestions, setOutage } from "../outside/ask.ts";
import { moveTaskDeadlines } from "../settlement/tasks.ts";
import { checkNames, ports } from "../outside/question-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { offices } from "../kernel/working-days.ts";
import { checkLedger, recordVerdict } from "../ledger/check-ledger.ts";
import { resolveSearch } from "../overview/desks.ts";
import type { Context } from "../platform/context.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import { closeEnquiry, listEnquiries, showEnquiry } from "../market/answer-enquiries.ts";
import { enquiryStatuses } from "../market/public-rules.ts";
import { listAllWebhooks } from "../webhooks/read-webhooks.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  optional,
  query,
  readPage,
  reportFiles,
  scheme,
  searchQuery,
  spanQuery,
  takesMachines,
  text,
  under,
} from "./operation.ts";
import {
  AddedDay,
  Attested,
  AuditVerdict,
  Calendar,
  Enquiries,
  Enquiry,
  Failures,
  ImportedDays,
  ImportResults,
  Questions,
  LedgerVerdict,
  News,
  OpsCredit,
  OpsCreditWithUses,
  OpenedEnquiry,
  PortState,
  RemovedDay,
  Replay,
  Webhooks,
} from "./world-schema.ts";
import { type Operation, operation } from "../platform/http/operation.ts";

const registry = under("Registry");
const calendar = under("Calendar");
const proofs = under("Proofs");
const support = under("Support");

const office = closedEnum(offices, { description: "Whose day it is." });
const day = text("The day, YYYY-MM-DD.", 10);
const newsWords = ["suspend", "lift", "cancel"] as const;

export const worldOperations: readonly Operation[] = [
  operation({
    ...registry.read("listQuestions", "/ops/questions"),
    summary: "List the open questions to customs and banks, oldest first",
    query: query({
      ...listQuery,
      cursor,
      port: optional(closedEnum(ports, { description: "Only of this port." })),
      desk_id: searchQuery.desk_id,
      ...spanQuery,
    }),
    answer: Questions,
    run: ({ ctx }, asked) =>
      readPage("questions", asked.limit, {
        list: async (limit) => {
          const search = await resolveSearch(ctx, asked);
          const { port = null, cursor: after } = asked;
          return await readOpenQuestions(ctx, { ...search, port, after, limit });
        },
        findId: (row) => row.question_id,
      }),
  }),
  operation({
    ...registry.act("attestQuestions", "/ops/questions/attest", "registry.write"),
    summary: "Answer open questions with what you saw; large ones take two people",
    body: body({
      findings: Type.Array(
        Type.Object(
          {
            question_id: id("The question's id."),
            reference: text("What you saw: a ticket, a letter.", 200),
            held: optional(
              Type.Boolean({ description: "Whether the firm holds the credit, for a credit." }),
            ),
            failed: optional(
              Type.Array(
                Type.Object(
                  {
                    check: closedEnum(checkNames, { description: "The check that failed." }),
                    cure: optional(text("What the firm can do about it, in words.")),
                  },
                  { additionalProperties: false },
                ),
                { description: "The checks that failed; the others passed.", maxItems: 10 },
              ),
            ),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 500, description: "The answers; all count or none." },
      ),
    }),
    answer: Attested,
    run: async ({ ctx, actor, wiring: { attesting, twoFromPaise } }, asked) => {
      const findings = asked.findings.map(({ question_id, reference, held, failed = [] }) => ({
        questionId: question_id,
        reference,
        held,
        failed: failed.map(({ check, cure }) => ({ check, cure: cure ?? null })),
      }));
      const attestations = await toAttestations(ctx, findings);
      return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
    },
  }),
  operation({
    ...registry.act("setOutage", "/ops/ports/outage", "registry.write"),
    summary: "Say that a port is down, with a note, or up again, without one",
    body: body({
      environment,
      port: closedEnum(ports, { description: "registry (customs) or bank." }),
      note: optional(text("Why it is down; left out, it is up again.")),
    }),
    answer: PortState,
    run: async ({ ctx, actor }, { note, ...target }) => {
      await setOutage(ctx, target, note, actor, moveTaskDeadlines);
      return { ...target, state: note === undefined ? ("up" as const) : ("outage" as const) };
    },
  }),
  operation({
    ...registry.read("listAllCredits", "/ops/credits"),
    summary: "List credits of every desk, newest first",
    list: deskSearch({
      name: "credits",
      of: OpsCredit,
      order: "The newest first.",
      query: {
        scrip_no: optional(text("Only of this number, all on one page.", 64)),
        scheme: optional(scheme),
        status: optional(closedEnum(creditStates, { description: "Only in this state." })),
      },
      read: (ctx, { scrip_no: scripNo, ...search }) => listAllCredits(ctx, { ...search, scripNo }),
      listFirmIds: (row) => [row.desk_id, row.firm_id],
    }),
  }),
  operation({
    ...registry.read("readAnyCredit", "/ops/credits/:credit_id"),
    summary: "Read a credit of any desk with the duty that it paid",
    answer: OpsCreditWithUses,
    run: ({ ctx }, asked) => readAnyCredit(ctx.db, asked.credit_id),
  }),
  operation({
    ...registry.act("importAnyCredits", "/ops/firms/:firm_id/credits/import", "credits.write"),
    config: takesMachines,
    summary: "Import a report of the customs portal for a firm",
    body: body(reportFiles),
    answer: ImportResults,
    run: async ({ ctx, actor }, { firm_id: firmId, ...report }) => {
      const { desk_id: deskId } = await requireAnyFirm(ctx.db, firmId);
      return await importCreditsAsOperator(ctx, actor, { deskId, firmId }, report);
    },
  }),
  operation({
    ...registry.act("recordNews", "/ops/credits/news", "credits.write"),
    summary: "Record that customs suspended, lifted or cancelled a credit",
    body: body({
      environment,
      scrip_no: text("The credit's number.", 64),
      news: closedEnum(newsWords, { description: "What customs did with the credit." }),
      reason: text("The notice that says so."),
    }),
    answer: News,
    run: async ({ ctx, actor, wiring: { onLost } }, asked) => {
      const { environment: where, scrip_no: scripNo, news, reason } = asked;
      const heard = { environment: where, news: [{ scripNo, news, reason }], onLost };
      const [result] = await applyRegistryNews(ctx, actor, heard);
      if (!result?.ok) throw new Failure("conflict", `${scripNo}: ${result?.problem ?? ""}`);
      return result;
    },
  }),
  operation({
    ...calendar.read("listCalendar", "/ops/calendar"),
    summary: "List the days on which banks and customs differ from the week",
    query: query({
      office: optional(office),
      year: optional(
        Type.Integer({ minimum: 2000, maximum: 2200, description: "Only days of this year." }),
      ),
    }),
    answer: Calendar,
    run: async ({ ctx }, asked) => ({
      days: await listCalendar(ctx, { office: asked.office ?? null, year: asked.year ?? null }),
    }),
  }),
  operation({
    ...calendar.act("importCalendar", "/ops/calendar", "calendar.write"),
    summary: "Take over a list of days; starting rows of its years that it lacks go",
    body: body({
      days: Type.Array(
        Type.Object(
          {
            office,
            day,
            name: text("What the day is called.", 200),
            works: optional(Type.Boolean({ description: "Whether the office works on it." })),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 1_000, description: "The days to set." },
      ),
    }),
    answer: ImportedDays,
    run: ({ ctx, actor }, asked) =>
      importDays(
        ctx,
        actor,
        asked.days.map((given) => ({ ...given, works: worksText(given) })),
      ),
  }),
  operation({
    ...calendar.act("addCalendarDay", "/ops/calendar/add", "calendar.write"),
    summary: "Add or confirm one day",
    body: body({
      office,
      day,
      name: text("What the day is called.", 200),
      works: optional(Type.Boolean({ description: "Whether the office works on it." })),
    }),
    answer: AddedDay,
    run: async ({ ctx, actor }, asked) => {
      await addDay(ctx, actor, { ...asked, works: worksText(asked) });
      return asked;
    },
  }),
  operation({
    ...calendar.act("removeCalendarDay", "/ops/calendar/remove", "calendar.write"),
    summary: "Remove one day, which then is what the week says",
    body: body({ office, day }),
    answer: RemovedDay,
    run: async ({ ctx, actor }, asked) => {
      await removeDay(ctx, actor, asked);
      return { ...asked, removed: true };
    },
  }),
  operation({
    ...proofs.read("checkLedger", "/ops/ledger/check"),
    summary: "Prove that the books hold, or name the first place where they do not",
    answer: LedgerVerdict,
    run: ({ ctx }) =>
      shareRun("ledger", ctx, async () => {
        const verdict = await checkLedger(ctx);
        await recordVerdict(ctx.db, verdict);
        return verdict;
      }),
  }),
  operation({
    ...proofs.read("verifyAudit", "/ops/audit/verify"),
    summary: "Prove that the audit trail is whole, or name the first place where it is not",
    answer: AuditVerdict,
    run: ({ ctx }) => shareRun("audit", ctx, async () => await verifyChain(ctx)),
  }),
  operation({
    ...support.read("listEnquiries", "/ops/enquiries", "enquiries.read"),
    summary: "List what the public asks, with who sent it",
    query: query({
      status: optional(closedEnum(enquiryStatuses, { description: "Only in this state." })),
      limit: listQuery.limit,
      cursor,
      ...spanQuery,
    }),
    answer: Enquiries,
    run: ({ ctx }, asked) =>
      readPage("enquiries", asked.limit, {
        list: (limit) => {
          const { status = null, cursor: before } = asked;
          return listEnquiries(ctx, { status, before, limit, ...parseQuerySpan(asked) });
        },
        findId: (row) => row.enquiry_ref,
      }),
  }),
  operation({
    ...support.read("readEnquiry", "/ops/enquiries/:enquiry_ref", "enquiries.read"),
    summary: "Read an enquiry, with who sent it and how to reach them",
    answer: OpenedEnquiry,
    run: ({ ctx }, asked) => showEnquiry(ctx, asked.enquiry_ref),
  }),
  operation({
    ...support.act("closeEnquiry", "/ops/enquiries/:enquiry_ref/close", "enquiries.write"),
    summary: "Close an enquiry; it is deleted 30 days later",
    body: body({ outcome: text("What came of the enquiry, in words.") }),
    answer: Enquiry,
    run: ({ ctx, actor }, { enquiry_ref: enquiryRef, outcome }) =>
      closeEnquiry(ctx, actor, { enquiryRef, outcome }),
  }),
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
      readPage("failures", asked.limit, {
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
