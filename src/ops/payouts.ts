import { Type } from "typebox";

import { revealAccount } from "../firms/bank-accounts.ts";
import { listFiles, readFile, showFile } from "../payouts/read-files.ts";
import { makeFiles, previewFiles, viewPreview } from "../payouts/make-files.ts";
import { columnFields, dayForms, fileStates, parseFileFormat } from "../payouts/file-rules.ts";
import { voidFile } from "../payouts/answer-files.ts";
import { listAllPayouts, readAnyPayout } from "../payouts/read-payouts.ts";
import { releasePayout, resendPayout, sendPayout } from "../payouts/send-payout.ts";
import { returnPayout } from "../payouts/recall-payouts.ts";
import { payoutStates } from "../payouts/rules.ts";
import { parseQuerySpan } from "../kernel/query-time.ts";
import { closedEnum } from "../platform/http/wire.ts";
import { attest, reason, reference } from "./attest.ts";
import {
  FileBytes,
  FilePreview,
  MadeFiles,
  OpsPayout,
  PayoutFiles,
  Payouts,
  ReleasedPayout,
  ResentPayout,
  ReturnedPayout,
  RevealedAccount,
  SentPayout,
  ShownFile,
  VoidedFile,
} from "./money-schema.ts";
import {
  act,
  cursor,
  environment,
  id,
  listQuery,
  type Operation,
  optional,
  read,
  readPage,
  searchDesks,
  searchQuery,
  spanQuery,
  text,
} from "./operation.ts";
import { Attested } from "./world-schema.ts";

const payouts = { tag: "Payouts" } as const;

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
      { minItems: 1, maxItems: 50, description: "In their order." },
    ),
  },
  {
    additionalProperties: false,
    description: "The bank's own form; the generic one when left out.",
  },
);

export const payoutOperations: readonly Operation[] = [
  read("listAllPayouts", "/ops/payouts", {
    ...payouts,
    summary: "List payouts, newest first; accounts by their last digits",
    query: {
      ...searchQuery,
      order_id: optional(id("Only with money of this order.")),
      settlement_id: optional(id("Only of this settlement.")),
      status: optional(closedEnum(payoutStates, { description: "Only in this state." })),
    },
    answer: Payouts,
    run: async ({ ctx, query }) =>
      await searchDesks({ ctx, query }, "payouts", {
        list: (search) =>
          listAllPayouts(ctx, {
            ...search,
            status: query.status,
            orderId: query.order_id,
            settlementId: query.settlement_id,
          }),
        listFirmIds: (row) => [row.desk_id, row.firm_id],
      }),
  }),
  read("readAnyPayout", "/ops/payouts/:payout_id", {
    ...payouts,
    summary: "Read a payout with the orders that its money comes from",
    answer: OpsPayout,
    run: async ({ ctx, params }) => await readAnyPayout(ctx.db, params["payout_id"] ?? ""),
  }),
  act("releasePayout", "/ops/payouts/:payout_id/release", {
    ...payouts,
    summary: "Ask that a large payout may leave; a second person approves it before it is sent",
    permission: "payouts.write",
    answer: ReleasedPayout,
    run: async ({ ctx, actor, params }) =>
      await releasePayout(ctx, actor, params["payout_id"] ?? ""),
  }),
  act("sendPayout", "/ops/payouts/:payout_id/send", {
    ...payouts,
    summary: "Say that money was sent, by the bank's reference",
    permission: "payouts.write",
    body: { utr: id("The bank's reference.") },
    answer: SentPayout,
    run: async ({ ctx, actor, params, body: { utr }, wiring: { twoFromPaise } }) =>
      await sendPayout(ctx, actor, {
        payoutId: params["payout_id"] ?? "",
        utr,
        twoFromPaise,
      }),
  }),
  act("confirmPayout", "/ops/payouts/:payout_id/confirm", {
    ...payouts,
    summary: "Say that money which was sent has arrived",
    permission: "payouts.write",
    body: { reference },
    answer: Attested,
    run: async (call) =>
      await attest(call, "payout", {
        subjectId: call.params["payout_id"] ?? "",
        answer: { outcome: "paid", reason: null },
        reference: call.body.reference,
      }),
  }),
  act("returnPayout", "/ops/payouts/:payout_id/return", {
    ...payouts,
    summary: "Say that money came back, or keep back what has not been sent",
    permission: "payouts.write",
    body: { reason },
    answer: ReturnedPayout,
    run: async ({ ctx, actor, params, body, wiring }) =>
      await returnPayout(ctx, actor, {
        payoutId: params["payout_id"] ?? "",
        reason: body.reason,
        kind: wiring.attesting,
        twoFromPaise: wiring.twoFromPaise,
      }),
  }),
  act("resendPayout", "/ops/payouts/:payout_id/resend", {
    ...payouts,
    summary: "Put money that came back on its way again, as a new payout",
    permission: "payouts.write",
    answer: ResentPayout,
    run: async ({ ctx, actor, params }) =>
      await resendPayout(ctx, actor, params["payout_id"] ?? ""),
  }),
  read("listFiles", "/ops/payout-files", {
    ...payouts,
    summary: "List payout files, newest first",
    query: {
      limit: listQuery.limit,
      cursor,
      status: optional(closedEnum(fileStates, { description: "Only in this state." })),
      ...spanQuery,
    },
    answer: PayoutFiles,
    run: async ({ ctx, query }) =>
      await readPage("payout_files", query.limit, {
        list: async (limit) =>
          await listFiles(ctx, {
            state: query.status,
            before: query.cursor,
            limit,
            ...parseQuerySpan(query),
          }),
        findId: (row) => row.file_id,
      }),
  }),
  read("previewFiles", "/ops/payout-files/preview", {
    ...payouts,
    summary: "Show what the files of this moment would hold",
    query: { environment },
    answer: FilePreview,
    run: async ({ ctx, query }) => viewPreview(await previewFiles(ctx, query.environment)),
  }),
  read("readFileFacts", "/ops/payout-files/:file_id", {
    ...payouts,
    summary: "Read a file: each payee with its payouts; account numbers stay sealed",
    answer: ShownFile,
    run: async ({ ctx, params }) => await showFile(ctx, params["file_id"] ?? ""),
  }),
  act("makeFiles", "/ops/payout-files", {
    ...payouts,
    summary: "Put what is due and free into one file per rail; large files take two people",
    permission: "payouts.write",
    body: { environment, format: optional(fileFormat) },
    answer: MadeFiles,
    run: async ({ ctx, actor, body, wiring: { twoFromPaise } }) => ({
      payout_files: await makeFiles(ctx, actor, {
        environment: body.environment,
        format: body.format && parseFileFormat(body.format),
        twoFromPaise,
      }),
    }),
  }),
  act("readFile", "/ops/payout-files/:file_id/bytes", {
    ...payouts,
    summary: "Read the bytes for the bank, with whole account numbers; who read them is on record",
    permission: "payouts.write",
    answer: FileBytes,
    run: async ({ ctx, actor, params }) => await readFile(ctx, actor, params["file_id"] ?? ""),
  }),
  act("voidFile", "/ops/payout-files/:file_id/void", {
    ...payouts,
    summary: "Say that the bank never got a file; a second person approves it",
    permission: "payouts.write",
    body: { reason },
    answer: VoidedFile,
    run: async ({ ctx, actor, params, body }) =>
      await voidFile(ctx, actor, {
        fileId: params["file_id"] ?? "",
        reason: body.reason,
      }),
  }),
  act("revealAccount", "/ops/firms/:firm_id/reveal-account", {
    ...payouts,
    summary: "Show a firm's whole account number; who looked and why is on record",
    permission: "accounts.reveal",
    body: { reason },
    answer: RevealedAccount,
    run: async ({ ctx, actor, params, body }) =>
      await revealAccount(ctx, actor, { firmId: params["firm_id"] ?? "", reason: body.reason }),
  }),
];
