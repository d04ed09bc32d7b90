import type { Caller } from "../kernel/caller.ts";
import { visibleTo } from "../kernel/visibility.ts";
import { sendDocument } from "../platform/http/documents.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { type PaperReader, readContractNote } from "./contract-notes.ts";
import { readEarnings } from "./positions.ts";
import { readBillOfSupply } from "./bills-of-supply.ts";
import { BillsOfSupplyAnswer, ContractNoteAnswer, NoteParams, NoteQuery } from "./note-schema.ts";
import { Earnings, EarningsQuery, Positions, PositionsQuery } from "./position-schema.ts";
import { readPositions } from "./positions.ts";
import { listStatements, readStatement } from "./read-statements.ts";
import {
  ListStatementsQuery,
  StatementAnswer,
  StatementList,
  StatementParams,
  StatementQuery,
} from "./statement-schema.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly letterhead: Letterhead;
  }
}

const readsOwn = (caller: Caller): PaperReader => ({
  environment: caller.environment,
  visible: visibleTo(caller),
});

const reading = { method: "GET", demand: "orders:read", tag: "Statements" } as const;

export const positionOperations: readonly Operation[] = [
  operation({
    id: "readPositions",
    method: "GET",
    path: "/v1/positions",
    demand: "orders:read",
    tag: "Orders",
    summary: "What your firms hold and have",
    description:
      "Credits by scheme and cash, all of one moment. As csv or xlsx, a row for each scheme and one for the cash.",
    config: { names: true },
    query: PositionsQuery,
    answer: Positions,
    send: sendDocument,
    run: ({ ctx, caller, gone }, asked) => readPositions(ctx, caller, { ...asked, gone: gone() }),
  }),
];

export const reportOperations: readonly Operation[] = [
  operation({
    id: "readEarnings",
    path: "/v1/earnings",
    ...reading,
    summary: "Read what your desk earned on its clients' deals",
    description:
      "Commission is a share of face, earned when a credit is delivered and taken back when that is reversed; none on crosses and on your own firm's deals. At most 366 days at once.",
    query: EarningsQuery,
    answer: Earnings,
    run: ({ ctx, caller }, asked) =>
      readAtReplica(ctx, (reading) => readEarnings(reading, caller, asked)),
  }),
  operation({
    id: "listStatements",
    path: "/v1/statements",
    ...reading,
    summary: "List the monthly statements of a firm",
    description: "The months for which a firm has a statement, newest first, without their lines.",
    config: { names: true },
    query: ListStatementsQuery,
    answer: StatementList,
    run: ({ ctx, caller }, asked) =>
      readAtReplica(ctx, (reading) => listStatements(reading, caller, asked)),
  }),
  operation({
    id: "readStatement",
    path: "/v1/statements/:period",
    ...reading,
    summary: "Read the statement of a month",
    description:
      "opening_paise and the lines sum to closing_paise, which the next month opens with. Final an hour after the month's end in IST; what is corrected later is in a later month. At most 20000 lines at once: longer ones are read in parts by after_line once they are final, as json, csv or xlsx.",
    config: { conflicts: true },
    params: StatementParams,
    query: StatementQuery,
    answer: StatementAnswer,
    send: sendDocument,
    run: ({ ctx, caller, wiring: { letterhead }, gone }, asked) =>
      readStatement(ctx, caller, { ...asked, letterhead, gone: gone() }),
  }),
  operation({
    id: "readContractNote",
    path: "/v1/settlements/:settlement_id/contract-note",
    ...reading,
    summary: "Read the contract note of a deal",
    description:
      "Of your own sides only: each credit with its price and value, fee and GST on it, and the bank's references once money has moved.",
    params: NoteParams,
    query: NoteQuery,
    answer: ContractNoteAnswer,
    send: sendDocument,
    run: ({ ctx, caller, wiring: { letterhead }, gone }, asked) =>
      readContractNote(ctx, readsOwn(caller), { ...asked, letterhead, gone: gone() }),
  }),
  operation({
    id: "readBillOfSupply",
    path: "/v1/settlements/:settlement_id/bill-of-supply",
    ...reading,
    summary: "Read the bills of supply of a deal",
    description:
      "Scrips are exempt goods, so whoever supplies them issues a bill of supply: the house, " +
      "numbered, for what it sold, and the seller for what a client sold, as a draft that the " +
      "seller numbers. One per supplier, recipient and day, of what was delivered and is yours; none " +
      "before (as PDF 409 `nothing_delivered`). What the house keeps is a fee: see the contract note.",
    params: NoteParams,
    query: NoteQuery,
    answer: BillsOfSupplyAnswer,
    send: sendDocument,
    run: ({ ctx, caller, wiring: { letterhead }, gone }, asked) =>
      readBillOfSupply(ctx, readsOwn(caller), { ...asked, letterhead, gone: gone() }),
  }),
];
