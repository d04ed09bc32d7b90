// The defect that the control of the economy with the bank has: lines are matched as they once were. A
// buyer's name for its payment is found anywhere in a line's text, and whatever a firm calls itself
// proves that money came from it.

import { operator } from "../../src/kernel/actor.ts";
import type { StatementFormat } from "../../src/bankbook/read-statement.ts";
import { normalize } from "../../src/bankbook/mention-rules.ts";
import { openDetails, receiveStatement } from "../../src/bankbook/receive-statement.ts";
import { listLinesOfStatement } from "../../src/bankbook/store.ts";
import type { Service } from "../support/service.ts";

const live = "live";
const nameLengthMin = 6;

/** Receives a statement and plans its queued lines anew; whoever imports it then applies these plans. */
export async function planAsBefore(
  { ctx }: Service,
  { text, format }: { readonly text: string; readonly format: StatementFormat },
): Promise<void> {
  const received = { environment: live, text, format } as const;
  const { state, statement_id } = await receiveStatement(ctx, operator, received);
  if (state === "applied") return;
  const { pool } = ctx.db;
  const { rows: buyers } = await pool.query(
    `select c.cross_id, c.payment_ref, c.buyer_firm_id, f.legal_name, f.bank_name
    from crosses as c
    join firms as f on f.firm_id = c.buyer_firm_id
    where c.environment = $1 and c.state = 'agreed' and c.payment_ref is not null`,
    [live],
  );
  for (const line of await listLinesOfStatement(ctx.db, statement_id)) {
    if (line.direction !== "credit" || line.plan.to !== "queue") continue;
    const { reference, narration, remitterName } = openDetails(line, ctx.sealKey);
    const words = normalize(`${reference} ${narration}`);
    const named = buyers.filter(({ payment_ref }) => {
      const name = normalize(payment_ref);
      return name.length >= nameLengthMin && words.includes(name);
    });
    const [buyer, ...others] = named;
    const names = [buyer?.legal_name, buyer?.bank_name].map((name) => normalize(name ?? ""));
    if (!buyer || others.length > 0 || !names.includes(normalize(remitterName))) continue;
    const { buyer_firm_id: firm_id, cross_id: deal_id } = buyer;
    const plan = { to: "deposit", firm_id, deal_id, found_by: "payment_ref", proved_by: "name" };
    await pool.query("update bank_lines set plan = $2 where line_id = $1", [
      line.line_id,
      JSON.stringify(plan),
    ]);
  }
}
