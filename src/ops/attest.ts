// Shared by operations that attest to something outside, and the customs portal's reports of transfers,
// which attest to many at once. Only live deals are at the portal.

import { Type } from "typebox";

import {
  type Attested,
  attestWithApproval,
  findAttestations,
  type Observation,
} from "../outside/attest.ts";
import type { QuestionKind } from "../outside/question-rules.ts";
import { unprocessable } from "../kernel/failure.ts";
import { parseInstant } from "../kernel/time.ts";
import { openEnum, body, timestamp } from "../platform/http/wire.ts";
import { type Operation, operation, type OperatorCall } from "../platform/http/operation.ts";
import { refuseOwnForm } from "../operators/machine-rules.ts";
import { importLedgerReport, listLedgerReports } from "../settlement/ledger-report.ts";
import { moves, parseReportForm } from "../settlement/match-report.ts";
import { queueReasons } from "../settlement/rules.ts";
import {
  cursor,
  listQuery,
  optional,
  query,
  readQueue,
  reportFiles,
  takesMachines,
  text as limitedText,
} from "./operation.ts";
import {
  count,
  environment as shown,
  extend,
  flag,
  maybeCount,
  maybeText,
  pageList,
  text,
} from "./schema.ts";

const environment = "live";
const tag = "Settlements";

const heading = (what: string) => limitedText(`The heading of ${what}.`, 100);
const words = (what: string) => limitedText(`The words for ${what}, divided by |.`, 200);

const Form = Type.Object(
  {
    name: limitedText("What the form is called.", 100),
    since: limitedText("The first day on which the portal writes it, YYYY-MM-DD.", 10),
    scrip_no: heading("the scrip number"),
    face: heading("the amount in rupees"),
    from_iec: heading("the IEC of who transfers"),
    to_iec: heading("the IEC of who receives"),
    status: heading("the status"),
    initiated: heading("when it was initiated"),
    ended: optional(heading("when it was accepted or ended")),
    pending: words("what waits for its receiver"),
    transferred: words("what was transferred"),
    refused: words("what was refused"),
  },
  {
    additionalProperties: false,
    description: "The form of the report, where it is not the one that is known.",
  },
);

const QueuedRow = Type.Object({
  row: count("The row, as a spreadsheet counts."),
  scrip_no: maybeText("The credit that it names; null where it names none."),
  reason: openEnum(queueReasons, "Why nothing was concluded from it."),
  problem: maybeText("What cannot be read in the row; null when it was read."),
});

const counts = {
  as_of: timestamp("When the portal made it."),
  transferred: count("Transfers that it shows as done."),
  refused: count("Transfers that were refused."),
  pending: count("Transfers that wait for their receiver."),
  absent: count("Transfers that are not there although their holder's deadline is over: they end."),
  missing: count("Transfers that were claimed and are not there: their holders are asked again."),
  known: count("Rows of deals that have ended as they say."),
  queued: Type.Array(QueuedRow, { description: "Rows for a person." }),
};

const Imported = Type.Object(
  {
    outcome: openEnum(
      ["preview", "done", "proposed"],
      "Proposed is what waits for a second person; what is pending was noted all the same.",
    ),
    report_id: maybeText("The report's id; null for a preview."),
    approval_id: maybeText("The proposal's id; null when it took one person."),
    ...counts,
    moves: Type.Array(
      Type.Object({
        settlement_id: text("The settlement's id."),
        scrip_no: text("The credit's number."),
        face_paise: count("The credit's face value in paise."),
        row: maybeCount("The row; null where the report lacks it."),
        says: openEnum(moves, "What the report says."),
        late: maybeText("The side that it shows as late, sell or buy; null where it shows none."),
      }),
      { description: "What it says of our transfers, the first 2,000." },
    ),
  },
  { title: "ImportedLedgerReport", description: "What a report of the portal says." },
);

const Reports = pageList(
  "reports",
  extend(
    Type.Object({ report_id: text("The report's id."), environment: shown, ...counts }),
    {
      is_whole: flag("Whether it had all transfers of our deals."),
      imported_at: timestamp("When it was read."),
      imported_by: text("The name of whoever imported it."),
    },
    { title: "LedgerReport", description: "A report of the portal that was read." },
  ),
  "The newest first.",
);

const importBody = body({
  ...reportFiles,
  as_of: timestamp("When the portal made it."),
  is_whole: optional(
    Type.Boolean({
      description: "Whether it has all transfers of our deals: what it lacks is then not there.",
    }),
  ),
  form: optional(Form),
  preview: optional(Type.Boolean({ description: "Show what it would do, and do nothing." })),
});

function readTime(text: string): Date {
  const at = parseInstant(text);
  if (!at) throw unprocessable({ path: "as_of", problem: "must be ISO 8601 with an offset" });
  return at;
}

export const ledgerReportOperations: readonly Operation[] = [
  operation({
    id: "importLedgerReport",
    config: takesMachines,
    method: "POST",
    path: "/ops/ledger-reports",
    permission: "settlements.write",
    tag,
    summary:
      "Read the customs portal's report of transfers; what it confirms is attested, large faces take two",
    body: importBody,
    answer: Imported,
    run: async ({ ctx, actor, wiring }, { csv, xlsx, form, ...asked }) => {
      const { settlementHooks, attesting, twoFromPaise } = wiring;
      const { as_of, is_whole = false, preview = false } = asked;
      refuseOwnForm(actor, form);
      return await importLedgerReport(
        ctx,
        actor,
        {
          environment,
          file: { csv, xlsx },
          asOf: readTime(as_of),
          isWhole: is_whole,
          form: form && parseReportForm(form),
          preview,
        },
        { settlementHooks, attesting, twoFromPaise },
      );
    },
  }),
  operation({
    id: "listLedgerReports",
    method: "GET",
    path: "/ops/ledger-reports",
    permission: "read",
    tag,
    summary: "List the portal's reports that were read, with the rows that wait for a person",
    query: query({ limit: listQuery.limit, cursor }),
    answer: Reports,
    run: ({ ctx }, asked) =>
      readQueue("reports", asked.limit, {
        list: (limit) => listLedgerReports(ctx, { environment, after: asked.cursor, limit }),
        findId: (row) => row.report_id,
      }),
  }),
];

export const reference = limitedText(
  "What you saw: a ticket, a letter, a line of the bank's statement.",
  200,
);
export const reason = limitedText("The reason in words.");

/** Attests to subjects, all or none; large sums take two people. */
export async function attest<Kind extends QuestionKind>(
  { ctx, actor, wiring }: OperatorCall,
  kind: Kind,
  seen: readonly Observation<Kind>[],
): Promise<Attested> {
  const attestations = await findAttestations(ctx, { kind, seen });
  const { attesting, twoFromPaise } = wiring;
  return await attestWithApproval(ctx, actor, { attestations, kind: attesting, twoFromPaise });
}
