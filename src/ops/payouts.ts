import { Type } from "typebox";

import { revealAccount } from "../firms/bank-accounts.ts";
import { refuseOwnForm } from "../operators/machine-rules.ts";
import { listFiles, readFile, showFile } from "../payouts/read-files.ts";
import { makeFiles, previewFiles, viewPreview } from "../payouts/make-files.ts";
import { columnFields, dayForms, fileStates, parseFileFormat } from "../payouts/file-rules.ts";
import { voidFile } from "../payouts/answer-files.ts";
import { listAllPayouts, readAnyPayout } from "../payouts/read-payouts.ts";
import { releasePayout, resendPayout, sendPayout } from "../payouts/send-payout.ts";
import { returnPayout } from "../payouts/recall-payouts.ts";
import { payoutStates } from "../payouts/rules.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { type Operation, operation, type OperatorCall } from "../platform/http/operation.ts";
import { body, closedEnum } from "../platform/http/wire.ts";
import { attest, reason, reference } from "./attest.ts";
import {
  FileBytes,
  FilePreview,
  MadeFiles,
  OpsPayout,
  PayoutFiles,
  ReleasedPayout,
  ResentPayout,
  ReturnedPayout,
  RevealedAccount,
  SentPayout,
  ShownFile,
  VoidedFile,
} from "./money-schema.ts";
import {
  cursor,
  deskSearch,
  environment,
  id,
  listQuery,
  optional,
  query,
  readQueue,
  spanQuery,
  takesMachines,
  text,
  under,
} from "./operation.ts";
import { Attested } from "./registry-schema.ts";

const payouts = under("Payouts");
const writing = "payouts.write";

const fileFormat = Type.Object(
  {
    name: text("What the form is called.", 100),
    has_header: optional(
      Type.Boolean({ description: "Whether the first line names the columns." }),
    ),
    day_form: optional(closedEnum(dayForms, { description: "How a day is written." })),
    columns: Type.Array(
      Type.Object(
        {
          header: Type.String({ maxLength: 100, description: "What the column is called." }),
          field: optional(closedEnum(columnFields, { description: "What it holds." })),
          text: optional(
            Type.String({ maxLength: 100, description: "Or the same in every line." }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 50, description: "The columns, in their order." },
    ),
  },
  {
    additionalProperties: false,
    description: "The bank's own form; the generic one when left out.",
  },
);

type Arrived = { readonly payout_id: string; readonly reference: string };

export async function confirmPayouts(call: OperatorCall, seen: readonly Arrived[]) {
  const answer = { outcome: "paid", reason: null } as const;
  const payouts = seen.map(({ payout_id: subjectId, ...one }) => ({ ...one, subjectId, answer }));
  return await attest(call, "payout", payouts);
}

export const payoutOperations: readonly Operation[] = [
  operation({
    ...payouts.read("listAllPayouts", "/ops/payouts"),
    summary: "List payouts, newest first; accounts by their last digits",
    list: deskSearch({
      name: "payouts",
      of: OpsPayout,
      order: "The newest first.",
      query: {
        order_id: optional(id("Only with money of this order.")),
        settlement_id: optional(id("Only of this settlement.")),
        status: optional(closedEnum(payoutStates, { description: "Only in this state." })),
      },
      read: (ctx, search) => listAllPayouts(ctx, search),
      listFirmIds: (row) => [row.desk_id, row.firm_id],
    }),
  }),
  operation({
    ...payouts.read("readAnyPayout", "/ops/payouts/:payout_id"),
    summary: "Read a payout with the orders that its money comes from",
    answer: OpsPayout,
    run: ({ ctx }, { payout_id }) => readAnyPayout(ctx.db, payout_id),
  }),
  operation({
    ...payouts.act("releasePayout", "/ops/payouts/:payout_id/release", writing),
    summary: "Ask that a large payout may leave; a second person approves it before it is sent",
    answer: ReleasedPayout,
    run: ({ ctx, actor }, { payout_id }) => releasePayout(ctx, actor, payout_id),
  }),
  operation({
    ...payouts.act("sendPayout", "/ops/payouts/:payout_id/send", writing),
    summary: "Say that money was sent, by the bank's reference",
    body: body({ utr: id("The bank's reference (UTR).") }),
    answer: SentPayout,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { payout_id: payoutId, utr }) =>
      sendPayout(ctx, actor, { payoutId, utr, twoFromPaise }),
  }),
  operation({
    ...payouts.act("confirmPayout", "/ops/payouts/:payout_id/confirm", writing),
    summary: "Say that money which was sent has arrived",
    body: body({ reference }),
    answer: Attested,
    run: (call, seen) => confirmPayouts(call, [seen]),
  }),
  operation({
    ...payouts.act("returnPayout", "/ops/payouts/:payout_id/return", writing),
    summary: "Say that money came back, or keep back what has not been sent",
    body: body({ reason }),
    answer: ReturnedPayout,
    run: ({ ctx, actor, wiring: { attesting: kind, twoFromPaise } }, { payout_id, reason: why }) =>
      returnPayout(ctx, actor, { payoutId: payout_id, reason: why, kind, twoFromPaise }),
  }),
  operation({
    ...payouts.act("resendPayout", "/ops/payouts/:payout_id/resend", writing),
    summary: "Put money that came back on its way again, as a new payout",
    answer: ResentPayout,
    run: ({ ctx, actor }, { payout_id }) => resendPayout(ctx, actor, payout_id),
  }),
  operation({
    ...payouts.read("listFiles", "/ops/payout-files"),
    summary: "List payout files, newest first",
    query: query({
      limit: listQuery.limit,
      cursor,
      status: optional(closedEnum(fileStates, { description: "Only in this state." })),
      ...spanQuery,
    }),
    answer: PayoutFiles,
    run: ({ ctx }, { status: state, cursor: before, ...asked }) =>
      readQueue("payout_files", asked.limit, {
        list: (limit) => listFiles(ctx, { state, before, limit, ...parseQuerySpan(asked) }),
        findId: (row) => row.file_id,
      }),
  }),
  operation({
    ...payouts.read("previewFiles", "/ops/payout-files/preview"),
    summary: "Preview the payout files that would be made now",
    query: query({ environment }),
    answer: FilePreview,
    run: async ({ ctx }, asked) => viewPreview(await previewFiles(ctx, asked.environment)),
  }),
  operation({
    ...payouts.read("readFileFacts", "/ops/payout-files/:file_id"),
    summary: "Read a file: each payee with its payouts; account numbers stay sealed",
    answer: ShownFile,
    run: ({ ctx }, { file_id }) => showFile(ctx, file_id),
  }),
  operation({
    ...payouts.act("makeFiles", "/ops/payout-files", writing),
    config: takesMachines,
    summary: "Put what is due and free into one file per rail; large files take two people",
    body: body({ environment, format: optional(fileFormat) }),
    answer: MadeFiles,
    run: async ({ ctx, actor, wiring: { twoFromPaise } }, { environment: of, format }) => {
      refuseOwnForm(actor, format);
      const payout_files = await makeFiles(ctx, actor, {
        environment: of,
        format: format && parseFileFormat(format),
        twoFromPaise,
      });
      return { payout_files };
    },
  }),
  operation({
    ...payouts.act("readFile", "/ops/payout-files/:file_id/bytes", writing),
    config: takesMachines,
    summary: "Read the bytes for the bank, with whole account numbers; who read them is on record",
    answer: FileBytes,
    run: ({ ctx, actor }, { file_id }) => readFile(ctx, actor, file_id),
  }),
  operation({
    ...payouts.act("voidFile", "/ops/payout-files/:file_id/void", writing),
    summary: "Say that the bank never got a file; a second person approves it",
    body: body({ reason }),
    answer: VoidedFile,
    run: ({ ctx, actor }, { file_id: fileId, reason: why }) =>
      voidFile(ctx, actor, { fileId, reason: why }),
  }),
  operation({
    ...payouts.act("revealAccount", "/ops/firms/:firm_id/reveal-account", "accounts.reveal"),
    summary: "Show a firm's whole account number; who looked and why is on record",
    body: body({ reason }),
    answer: RevealedAccount,
    run: ({ ctx, actor }, { firm_id: firmId, reason: why }) =>
      revealAccount(ctx, actor, { firmId, reason: why }),
  }),
];
