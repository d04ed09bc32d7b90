import { type Operation, operation } from "../platform/http/operation.ts";
import { acceptCross, declineCross } from "./answer-cross.ts";
import { cancelCross } from "./end-crosses.ts";
import { fundCross } from "./fund-cross.ts";
import { proposeCross } from "./propose-cross.ts";
import { type CrossLimits, quoteCross } from "./quote-cross.ts";
import { crossesOfDesk, readCross } from "./read-crosses.ts";
import { releaseCross } from "./release-cross.ts";
import {
  AcceptCrossBody,
  Cross,
  CrossParams,
  CrossQuote,
  FundCrossBody,
  NoFields,
  ProposeCrossBody,
  QuoteCrossBody,
} from "./schema.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring extends CrossLimits {}
}

const reading = { method: "GET", demand: "orders:read", tag: "Cross" } as const;
const acting = { method: "POST", demand: "orders:write", tag: "Cross" } as const;

export const crossOperations: readonly Operation[] = [
  operation({
    id: "quoteCross",
    method: "POST",
    path: "/v1/cross/quote",
    demand: "quote",
    tag: "Cross",
    summary: "Take the terms of a block or an intra-group transfer",
    description:
      "A quote reserves nothing and tells nobody. A block has a least face. When there is no " +
      "market, or the seller of your desk has nothing of the kind, the answer is no_quote and " +
      "its reason, and nothing else.",
    body: QuoteCrossBody,
    answer: CrossQuote,
    run: (call, asked) => quoteCross({ ...call.ctx, ...call.wiring }, call, asked),
  }),
  operation({
    id: "proposeCross",
    path: "/v1/cross",
    ...acting,
    summary: "Propose a cross on a quote",
    description:
      "Between two firms of your desk it is agreed at once, with its credits reserved. Any " +
      "other waits for the answer of the firm with that IEC, whichever desk acts for it, and " +
      "expires without one.",
    body: ProposeCrossBody,
    creates: true,
    answer: Cross,
    run: (call, body) => proposeCross(call.ctx, call, body),
  }),
  operation({
    id: "listCrosses",
    path: "/v1/cross",
    ...reading,
    summary: "List the crosses your desk has a side in, or is to answer",
    description:
      "Crosses in which a firm of yours has a side, newest first, and proposals that name an IEC of yours.",
    list: crossesOfDesk,
  }),
  operation({
    id: "readCross",
    path: "/v1/cross/:cross_id",
    ...reading,
    summary: "Read a cross",
    description: "Your side of it. A desk that is on both sides sees both of them.",
    params: CrossParams,
    answer: Cross,
    run: ({ ctx, caller }, { cross_id }) => readCross(ctx, caller, cross_id),
  }),
  operation({
    id: "acceptCross",
    path: "/v1/cross/:cross_id/accept",
    ...acting,
    summary: "Agree to the terms of a cross",
    description:
      "For the side that did not propose. The seller's credits are reserved with it, all of " +
      "them or none; when one is not available, it is a conflict.",
    params: CrossParams,
    body: AcceptCrossBody,
    answer: Cross,
    run: (call, asked) => acceptCross(call.ctx, call, asked),
  }),
  operation({
    id: "declineCross",
    path: "/v1/cross/:cross_id/decline",
    ...acting,
    summary: "Decline a cross that was proposed to you",
    description: "Refuses a proposal. It ends for both sides; declining twice is no conflict.",
    params: CrossParams,
    body: NoFields,
    takesNoBody: true,
    answer: Cross,
    run: (call, { cross_id }) => declineCross(call.ctx, call, cross_id),
  }),
  operation({
    id: "fundCross",
    path: "/v1/cross/:cross_id/fund",
    ...acting,
    summary: "Put the money of a cross into escrow",
    description:
      "For the buyer. Your balance is held when it reaches. Otherwise the money is waited for, " +
      "which the sandbox's bank brings at once. The same payment_ref again changes nothing.",
    params: CrossParams,
    body: FundCrossBody,
    answer: Cross,
    run: (call, asked) => fundCross(call.ctx, call, asked),
  }),
  operation({
    id: "releaseCross",
    path: "/v1/cross/:cross_id/release",
    ...acting,
    summary: "Let the credits of a funded cross go",
    description: "For the seller. From here on its settlement delivers credit against money.",
    params: CrossParams,
    body: NoFields,
    takesNoBody: true,
    answer: Cross,
    run: (call, { cross_id }) => releaseCross(call.ctx, call, cross_id),
  }),
  operation({
    id: "cancelCross",
    path: "/v1/cross/:cross_id/cancel",
    ...acting,
    summary: "Call a cross off",
    description:
      "The proposer while it is proposed, either side while it is agreed, and the seller while " +
      "it is funded: then the buyer's money goes back.",
    params: CrossParams,
    body: NoFields,
    takesNoBody: true,
    answer: Cross,
    run: (call, { cross_id }) => cancelCross(call.ctx, call, cross_id),
  }),
];
