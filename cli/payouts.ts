import { confirmPayouts, payoutOperations } from "../src/ops/payouts.ts";
import { deriveFrom, sumUp, viewAttested } from "./derived.ts";

const derive = deriveFrom(payoutOperations);

export const payoutCommands = [
  derive("listAllPayouts", "payouts list", {
    columns: "payout_id env firm_id kind amount_paise rail ifsc last4 status reason utr created_at",
  }),
  derive("readAnyPayout", "payouts show"),
  derive("releasePayout", "payouts release", {
    csv: "payout_id",
    columns: "payout_id outcome approval_id",
    act: { named: true },
  }),
  derive("sendPayout", "payouts send", {
    csv: "payout_id utr",
    columns: "payout_id outcome approval_id",
    example: "npx scripdesk payouts send pay_… --utr HDFCR52026111500012345 --operator asha",
  }),
  derive("confirmPayout", "payouts confirm", {
    csv: "payout_id reference",
    set: confirmPayouts,
    view: viewAttested,
  }),
  derive("returnPayout", "payouts return", {
    csv: "payout_id reason",
    sum: sumUp("returned", "proposed"),
  }),
  derive("resendPayout", "payouts resend", {
    csv: "payout_id",
    columns: "payout_id resend_of status",
  }),
];
