import { type Operation, operation } from "../platform/http/operation.ts";
import { readFunding } from "./virtual-accounts.ts";
import { Funding, FundingParams } from "./schema.ts";

export const fundingOperations: readonly Operation[] = [
  operation({
    id: "readFunding",
    method: "GET",
    path: "/v1/firms/:firm_id/funding",
    demand: "orders:read",
    tag: "Settlements",
    summary: "Read where a firm pays ahead",
    description:
      "What comes from a confirmed account of the firm becomes its balance and funds its deals. " +
      "Read it anew before you pay, and trust no account that comes by mail: we never send ours " +
      "that way. While the house has no account yet it is a conflict (`house_incomplete`).",
    params: FundingParams,
    answer: Funding,
    run: ({ ctx, caller }, { firm_id }) => readFunding(ctx, caller, firm_id),
  }),
];
