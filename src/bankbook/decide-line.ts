// An operator decides about a line in the queue: whose money it is, or that it goes back. Both take two
// people over the limit, and so does taking an assignment back (`undo-assignment.ts`).

import { refuseOffboarded, noFirm } from "../firms/find-firms.ts";
import { type Actor, type Change, refuseBadReason } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId, isId, refuseBadUtr } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { rupeesText } from "../kernel/money.ts";
import { writeBooks } from "../ledger/write-books.ts";
import { actWithApproval, tellOutcome, type ProposedAct } from "../operators/act-with-approval.ts";
import {
  type ApprovalKind,
  type Prepared,
  type ShownPart,
  validHoursUsual,
} from "../operators/approval-kind.ts";
import { dropQuestions } from "../outside/ask.ts";
import { findDepositsByReference } from "../payouts/deposits.ts";
import { twoPeopleFromPaise } from "../operators/approval-rules.ts";
import { utrUsed } from "../payouts/rules.ts";
import type { Context } from "../platform/context.ts";
import { type Tx, violatedConstraint } from "../platform/postgres/postgres.ts";
import { assertHoldsWritten } from "../settlement/open-settlements.ts";
import { findBuyer, isMoneyMoved } from "./fund-deal.ts";
import { refuseEnteredByHand } from "./hand-entries.ts";
import { buildUnmatchedEntry } from "./apply-lines.ts";
import { lockReceivers, takeMoney } from "./receive-money.ts";
import { buildReference } from "./repeat-rules.ts";
import { bankLineLifecycle } from "./rules.ts";
import {
  type BankLineRow,
  findLine,
  insertExplained,
  lockLines,
  setLines,
  type StatementRow,
} from "./store.ts";

type Decision = {
  readonly lineId: string;
  readonly reason: string;
  readonly twoFromPaise?: number | undefined;
};

type AssignLine = Decision & {
  /** The firm or the deal that the money is for; the house's own when it is left out. */
  readonly to: string | null;
};

/** Assigns a queued line to a firm, a deal, or the house (bank charges, for example). */
export async function assignLine(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { lineId, to, reason, twoFromPaise = twoPeopleFromPaise }: AssignLine,
): Promise<ProposedAct | { readonly outcome: "assigned" }> {
  refuseBadReason(reason);
  const line = await findBankLine(ctx, lineId);
  const acted = await actWithApproval(ctx, operator, {
    kind: lineAssignment,
    environment: line.environment,
    subjectId: lineId,
    terms: { to, reason },
    people: line.paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  return tellOutcome(acted, "assigned");
}

export async function findBankLine(
  { db }: Pick<Context, "db">,
  lineId: string,
): Promise<BankLineRow> {
  const line = await findLine(db, lineId);
  if (!line) throw noBankLine(lineId);
  return line;
}

export const lineAssignment: ApprovalKind<{
  readonly to: string | null;
  readonly reason: string;
}> = {
  name: "bank.assign",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  isPassing: isMoneyMoved,
  async prepare(tx, { subjectId, terms: { to, reason } }, now): Promise<Prepared> {
    const line = await lockBankLine(tx, subjectId);
    const { environment, paise } = line;
    const state = advance(bankLineLifecycle, line.state, "assign");
    await refuseEnteredByHand(tx, line);
    if (to === null) return prepareHouseAssignment(tx, { line, state, reason, now });
    refuseDebit(line, "money that left is the house's own, or a payout's");
    const firmId = isId("frm", to) ? to : (await findBuyer(tx, to)).firmId;
    const dealId = to === firmId ? null : to;
    const locked = await lockReceivers(tx, [{ firmId, dealId }]);
    const firm = locked.firms.get(firmId);
    if (!firm) throw noFirm(firmId);
    refuseOffboarded(firm);
    return {
      summary: `${rupeesText(paise)} rupees that came in on ${line.day} are ${to}'s: ${reason}`,
      valuePaise: paise,
      facts: { line_id: subjectId, paise, to, firm_id: firmId, version: line.version },
      shows: [showLine(line, { firm_id: firmId, deal_id: dealId })],
      async carryOut(actor) {
        const reference = await chooseReference(tx, line);
        const from = { kind: "unmatched_cash" } as const;
        const received = [{ firmId, dealId, paise, reference, lineId: subjectId, from }];
        const taken = await takeMoney(tx, locked, { environment, received, now });
        const written = await writeBooks(tx, { entries: taken.entries }, now);
        assertHoldsWritten(written.entries);
        const after = applyDecision(line, { state, reason, by: actor, now });
        const row = { ...after, firm_id: firmId, deal_id: dealId };
        await setLines(tx, [row]);
        const explained = { environment, kind: "deposit", subject: reference, line_id: subjectId };
        await insertExplained(tx, [explained]);
        await dropQuestions(tx, { deal_funding: taken.fundedIds });
        return { changes: [...taken.changes, buildLineChange("assign", row)] };
      },
    };
  },
};

export function showLine(line: BankLineRow, decided: object): ShownPart {
  const { line_id, day, direction, paise: amount_paise, utr, reason } = line;
  return {
    title: "The bank's line",
    rows: [{ line_id, day, direction, amount_paise, utr, reason, ...decided }],
  };
}

export const house = { kind: "house_cash" } as const;
export const nobodys = { kind: "unmatched_cash" } as const;

type HouseLine = {
  readonly line: BankLineRow;
  readonly state: BankLineRow["state"];
  readonly reason: string;
  readonly now: Date;
};

function prepareHouseAssignment(tx: Tx, { line, state, reason, now }: HouseLine): Prepared {
  const { environment, line_id: subject, paise, direction } = line;
  const [from, to] = direction === "credit" ? [nobodys, house] : [house, nobodys];
  const flow = direction === "credit" ? "came in" : "left";
  return {
    summary: `${rupeesText(paise)} rupees that ${flow} on ${line.day} are the house's own: ${reason}`,
    valuePaise: paise,
    facts: { line_id: subject, paise, to: null, version: line.version },
    shows: [showLine(line, { to: "the house" })],
    async carryOut(actor) {
      // Ordinal 0 is the line's own entry; each decision about it has the version that it made.
      const name = { environment, kind: "fee", subject, ordinal: line.version + 1 } as const;
      const entry = { ...name, phase: "posted", movements: [{ from, to, paise }] } as const;
      assertHoldsWritten((await writeBooks(tx, { entries: [entry] }, now)).entries);
      const after = applyDecision(line, { state, reason, by: actor, now });
      await setLines(tx, [after]);
      return { changes: [buildLineChange("assign", after)] };
    },
  };
}

/** The bank's UTR, unless a deposit had it: another line's, or one of this line that was taken back. */
async function chooseReference(
  tx: Tx,
  { environment, utr, line_id, version }: BankLineRow,
): Promise<string> {
  const own = buildReference(line_id);
  const last = buildReference(`${line_id} ${version}`);
  const tried = [...(utr === null ? [] : [utr]), own];
  const taken = await findDepositsByReference(tx, environment, tried);
  return tried.find((reference) => !taken.has(reference)) ?? last;
}

type SendBack = Decision & { readonly utr: string };

/** Records that queued money was sent back under a UTR; the bank's debit line confirms it. */
export async function sendLineBack(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { lineId, utr, reason, twoFromPaise = twoPeopleFromPaise }: SendBack,
): Promise<ProposedAct | { readonly outcome: "returning" }> {
  refuseBadReason(reason);
  refuseBadUtr("utr", utr);
  const line = await findBankLine(ctx, lineId);
  const acting = actWithApproval(ctx, operator, {
    kind: lineReturn,
    environment: line.environment,
    subjectId: lineId,
    terms: { utr, reason },
    people: line.paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  const acted = await acting.catch((error: unknown) => {
    if (violatedConstraint(error) !== "bank_lines_back") throw error;
    throw utrUsed(`${utr} sent back other money`);
  });
  return tellOutcome(acted, "returning");
}

export const lineReturn: ApprovalKind<{ readonly utr: string; readonly reason: string }> = {
  name: "bank.return",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId, terms: { utr, reason } }, now): Promise<Prepared> {
    const line = await lockBankLine(tx, subjectId);
    const { paise } = line;
    refuseDebit(line, "only money that came in goes back");
    const state = advance(bankLineLifecycle, line.state, "send_back");
    await refuseEnteredByHand(tx, line);
    return {
      summary: `${rupeesText(paise)} rupees that came in on ${line.day} go back as ${utr}: ${reason}`,
      valuePaise: paise,
      facts: { line_id: subjectId, paise, utr, version: line.version },
      shows: [showLine(line, { back_utr: utr })],
      async carryOut(actor) {
        const after = { ...applyDecision(line, { state, reason, by: actor, now }), back_utr: utr };
        await setLines(tx, [after]);
        return { changes: [buildLineChange("send_back", after)] };
      },
    };
  },
};

/** Says that a queued line is the one that an earlier file had: its money counts once. */
export async function repeatLine(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { lineId, reason, twoFromPaise = twoPeopleFromPaise }: Decision,
): Promise<ProposedAct | { readonly outcome: "repeated" }> {
  refuseBadReason(reason);
  const line = await findBankLine(ctx, lineId);
  const acted = await actWithApproval(ctx, operator, {
    kind: lineRepetition,
    environment: line.environment,
    subjectId: lineId,
    terms: { reason },
    people: line.paise >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise,
  });
  return tellOutcome(acted, "repeated");
}

export const lineRepetition: ApprovalKind<{ readonly reason: string }> = {
  name: "bank.repeat",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { subjectId, terms: { reason } }, now): Promise<Prepared> {
    const line = await lockBankLine(tx, subjectId);
    const { environment, paise, direction, repeats_line_id: other } = line;
    const state = advance(bankLineLifecycle, line.state, "repeat");
    if (other === null) throw noRepetition(subjectId);
    return {
      summary: `${rupeesText(paise)} rupees of ${line.day} are those of ${other}, which counted before: ${reason}`,
      valuePaise: paise,
      facts: { line_id: subjectId, paise, other, version: line.version },
      shows: [showLine(line, { repeats: other })],
      async carryOut(actor) {
        // Takes back what the line was booked as while it waited.
        const kind = direction === "credit" ? "refund" : "deposit";
        const entry = buildUnmatchedEntry(
          { environment, paise, direction: direction === "credit" ? "debit" : "credit" },
          { kind, subject: subjectId },
        );
        assertHoldsWritten((await writeBooks(tx, { entries: [entry] }, now)).entries);
        await insertExplained(tx, [{ environment, kind, subject: subjectId, line_id: subjectId }]);
        const after = applyDecision(line, { state, reason, by: actor, now });
        await setLines(tx, [after]);
        return { changes: [buildLineChange("repeat", after)] };
      },
    };
  },
};

function noRepetition(lineId: string): Failure {
  return new Failure("conflict", `no earlier file had a line like ${lineId}`, {
    detail: { reason: "no_repetition" },
  });
}

export async function lockBankLine(tx: Tx, lineId: string): Promise<BankLineRow> {
  const [line] = await lockLines(tx, [lineId]);
  if (!line) throw noBankLine(lineId);
  return line;
}

export function noBankLine(lineId: string): Failure {
  return new Failure("not_found", `no bank line ${lineId}`);
}

function refuseDebit({ direction }: BankLineRow, message: string): void {
  if (direction !== "debit") return;
  throw new Failure("conflict", message, { detail: { reason: "is_debit" } });
}

export function applyDecision(
  line: BankLineRow,
  {
    state,
    reason,
    by,
    now,
  }: {
    readonly state: BankLineRow["state"];
    readonly reason: string;
    readonly by: Actor;
    readonly now: Date;
  },
): BankLineRow {
  return {
    ...line,
    state,
    reason,
    decided_by: by.id,
    decided_at: now,
    version: line.version + 1,
  };
}

/** Statements belong to the house: their changes are recorded on its desk. */
export function buildStatementChange(action: "apply", after: StatementRow): Change {
  const { statement_id, state, line_count, closing_paise } = after;
  return {
    ...toHouseDesk(after),
    action: `bank_statement.${action}`,
    entity: {
      type: "bank_statement",
      id: after.statement_id,
      version: after.state === "applied" ? 2 : 1,
      href: `/ops/bank/statements/${after.statement_id}`,
    },
    after: { statement_id, state, line_count, closing_paise },
  };
}

export function buildLineChange(
  action: "assign" | "undo" | "send_back" | "repeat",
  after: BankLineRow,
): Change {
  const { line_id, state, reason, firm_id, deal_id, back_utr, paise } = after;
  return {
    ...toHouseDesk(after),
    action: `bank_line.${action}`,
    entity: {
      type: "bank_line",
      id: after.line_id,
      version: after.version,
      href: `/ops/bank/queue/${after.line_id}`,
    },
    after: { line_id, state, reason, firm_id, deal_id, back_utr, paise },
  };
}

function toHouseDesk({ environment }: Pick<StatementRow, "environment">) {
  const house = houseFirmId[environment];
  return { environment, deskId: house, firmId: house };
}
