import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import type { BankLineRow, StatementRow } from "./store.ts";

/** What becomes of statements is the house's own business, and on its desk's record. */
export function changeOfStatement(
  action: "apply",
  before: StatementRow,
  after: StatementRow,
): Change {
  const facts = ({ statement_id, state, line_count, closing_paise }: StatementRow) => ({
    statement_id,
    state,
    line_count,
    closing_paise,
  });
  return {
    ...ofHouse(after),
    action: `bank_statement.${action}`,
    entity: {
      type: "bank_statement",
      id: after.statement_id,
      version: after.state === "applied" ? 2 : 1,
      href: `/ops/bank/statements/${after.statement_id}`,
    },
    before: facts(before),
    after: facts(after),
  };
}

export function changeOfLine(
  action: "assign" | "send_back",
  before: BankLineRow,
  after: BankLineRow,
): Change {
  const facts = ({ line_id, state, reason, firm_id, deal_id, back_utr, paise }: BankLineRow) => ({
    line_id,
    state,
    reason,
    firm_id,
    deal_id,
    back_utr,
    paise,
  });
  return {
    ...ofHouse(after),
    action: `bank_line.${action}`,
    entity: {
      type: "bank_line",
      id: after.line_id,
      version: after.version,
      href: `/ops/bank/queue/${after.line_id}`,
    },
    before: facts(before),
    after: facts(after),
  };
}

function ofHouse({ environment }: Pick<StatementRow, "environment">) {
  const house = houseFirmId[environment];
  return { environment, deskId: house, firmId: house };
}
