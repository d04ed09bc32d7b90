import { payoutOperations } from "../src/ops/payouts.ts";
import { attestSeen } from "./attest.ts";
import { command, printOne } from "./command.ts";
import { deriveFrom, sumUp } from "./derived.ts";
import { collectRows, operatorOption, required, withOperator } from "./operators.ts";

const derive = deriveFrom(payoutOperations);

const confirm = command({
  name: "payouts confirm",
  summary: "say that money which was sent has arrived",
  operand: "PAYOUT_ID",
  operandOptional: true,
  options: {
    reference: { help: "what you saw: the bank's statement, a ticket" },
    csv: { help: "a file with the columns payout_id, reference" },
    ...operatorOption,
  },
  async run(options, payoutId) {
    const rows = await collectRows(payoutId, {
      csv: options.csv,
      idColumn: "payout_id",
      columns: { reference: options.reference },
    });
    const seen = rows.map((row) => ({
      subjectId: row.id,
      answer: { outcome: "paid" as const, reason: null },
      reference: required("reference", row.reference),
    }));
    const act = { permission: "payouts.write", about: rows.map(({ id }) => id) } as const;
    const attested = await withOperator(options, act, ({ ctx, actor }) =>
      attestSeen(ctx, actor, { kind: "payout", seen }),
    );
    printOne(attested, options);
  },
});

export const payoutCommands = [
  derive("listAllPayouts", "payouts list", {
    columns: "payout_id env firm_id kind amount_paise rail ifsc last4 status reason utr created_at",
  }),
  derive("readAnyPayout", "payouts show"),
  derive("releasePayout", "payouts release", {
    csv: true,
    columns: "payout_id outcome approval_id",
    act: { named: true },
  }),
  derive("sendPayout", "payouts send", {
    csv: true,
    columns: "payout_id outcome approval_id",
    example: "npx scripdesk payouts send pay_… --utr HDFCR52026111500012345 --operator asha",
  }),
  confirm,
  derive("returnPayout", "payouts return", { csv: true, sum: sumUp("returned", "proposed") }),
  derive("resendPayout", "payouts resend", { csv: true, columns: "payout_id resend_of status" }),
];
