import { Type } from "typebox";

import { addDay, importDays, listCalendar, removeDay } from "../outside/calendar.ts";
import { applyRegistryNews } from "../credits/registry-news.ts";
import { importCreditsAsOperator } from "../credits/declare-credits.ts";
import { listAllCredits, readAnyCredit } from "../credits/read-credits.ts";
import { creditStates } from "../credits/rules.ts";
import { requireAnyFirm } from "../firms/find-firms.ts";
import { attestWithApproval, toAttestations } from "../outside/attest.ts";
import { readOpenQuestions, setOutage } from "../outside/ask.ts";
import { moveTaskDeadlines } from "../settlement/tasks.ts";
import { checkNames, ports } from "../outside/question-rules.ts";
import { Failure } from "../kernel/failure.ts";
import { offices } from "../kernel/working-days.ts";
import { resolveSearch } from "../overview/desks.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  optional,
  query,
  readQueue,
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
  Calendar,
  ImportedDays,
  ImportResults,
  Questions,
  News,
  OpsCredit,
  OpsCreditWithUses,
  PortState,
  RemovedDay,
} from "./registry-schema.ts";
import { type Operation, operation } from "../platform/http/operation.ts";

const registry = under("Registry");
const calendar = under("Calendar");

const office = closedEnum(offices, { description: "Whose day it is." });
const day = text("The day, YYYY-MM-DD.", 10);
const newsWords = ["suspend", "lift", "cancel"] as const;

export const registryOperations: readonly Operation[] = [
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
      readQueue("questions", asked.limit, {
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
];

function worksText({ works = false }: { readonly works?: boolean }): string {
  return works ? "yes" : "no";
}
