// Money that lines of a statement bring becomes the balance of the firm that it came from, and funds the
// deals that it is for.
//
// The bank's time of a line decides whether money came in time, not when its statement is imported. So a
// deal that is past its deadline and waits for the statement is funded by what came before.

import { findTradingRefusal } from "../firms/rules.ts";
import type { TradingFirm } from "../firms/find-firms.ts";
import type { Environment } from "../kernel/caller.ts";
import { findDepositsByReference, findReversed } from "../payouts/deposits.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { listPastDue } from "../settlement/unpaid-deals.ts";
import { claimUtrs, type HandEntry, listCreditUtrs } from "./hand-entries.ts";
import { filterByPlan, type LineOutcome, requeue, type RequeuedLine } from "./line-outcomes.ts";
import {
  type AwaitedDeal,
  findAwaited,
  type LockedReceivers,
  lockReceivers,
  type ReceivedMoney,
  takeMoney,
} from "./receive-money.ts";
import { buildReference } from "./repeat-rules.ts";
import type { LineReason, QueueReason } from "./rules.ts";
import type { BankLineRow } from "./store.ts";

/** Takes the deposits of lines; the queue gets those that nothing takes any more. */
export async function applyDeposits(
  tx: Tx,
  environment: Environment,
  lines: readonly BankLineRow[],
  now: Date,
) {
  const planned = filterByPlan(lines, "deposit");
  const named = planned.map(({ plan }) => ({ firmId: plan.firm_id, dealId: plan.deal_id }));
  const firmIds = named.map(({ firmId }) => firmId);
  const overdue = await listPastDue(tx, environment, { dueUntil: now, firmIds });
  const locked = await lockReceivers(tx, [...named, ...overdue]);
  const awaited = await findAwaited(tx, locked);
  const entered = matchHandEntries(lines, await claimUtrs(tx, environment, lines));
  const own = filterByPlan(entered.rest, "deposit");
  const known = await findDepositsByReference(tx, environment, own.map(toReference));
  // The UTR of a deposit that was reversed stays with it.
  const reversed = await findReversed(tx, environment, [...known.keys()]);
  const taken = new Set([...known.keys()].filter((reference) => !reversed.has(reference)));
  const outcomes: LineOutcome[] = [...entered.outcomes];
  const refused: RequeuedLine[] = [...entered.refused];
  const received: TimedMoney[] = [];
  const paid = new Set<string>();
  for (const line of own) {
    const { firm_id: firmId, deal_id: dealId, found_by: foundBy } = line.plan;
    const isReversed = reversed.has(toReference(line));
    const reference = isReversed ? buildReference(line.line_id) : toReference(line);
    const deal = dealId === null ? undefined : awaited.get(dealId);
    const isLate = deal !== undefined && deal.dueAt < line.value_at;
    const isWhole = deal?.paise === line.paise && !isLate && !paid.has(dealId ?? "");
    const obstacle = taken.has(reference)
      ? "reference_used"
      : findObstacle(locked.firms.get(firmId), isWhole, now);
    if (obstacle) {
      refused.push(requeue(line, obstacle));
      continue;
    }
    taken.add(reference);
    if (isWhole && dealId !== null) paid.add(dealId);
    const { paise, line_id: lineId, value_at: valueAt } = line;
    received.push({ firmId, dealId, paise, reference, lineId, valueAt });
    const reason: LineReason = isLate ? "late" : foundBy;
    const explains = [{ kind: "deposit", subject: reference }];
    outcomes.push({ line, state: "matched", reason, firmId, dealId, explains });
  }
  const inTime = selectInTime(locked, awaited, received);
  const money = await takeMoney(tx, inTime, { environment, received, now });
  const queued = filterByPlan(entered.rest, "queue");
  return { ...money, outcomes, refused: [...queued, ...refused] };
}

/**
 * Why this firm's money waits for a person. What a deal waits for is taken in every state but two;
 * other money only while the firm may trade.
 */
function findObstacle(
  firm: TradingFirm | undefined,
  isForDeal: boolean,
  now: Date,
): QueueReason | undefined {
  if (!firm) throw new Error("who a line names is a firm");
  if (firm.connection_state === "offboarded") return "firm_left";
  if (firm.connection_state === "rejected") return "firm_rejected";
  if (isForDeal) return undefined;
  return findTradingRefusal(firm, now) && "firm_may_not_trade";
}

type TimedMoney = ReceivedMoney & { readonly valueAt: Date };

/** The deals for which money came before their deadline, by name or as balance of their buyer. */
function selectInTime(
  { settlements, crosses, firms }: LockedReceivers,
  awaited: ReadonlyMap<string, AwaitedDeal>,
  received: readonly TimedMoney[],
): LockedReceivers {
  const isInTime = (dealId: string, isFor: (money: TimedMoney) => boolean) => {
    const deal = awaited.get(dealId);
    return (
      deal !== undefined &&
      received.some((money) => isFor(money) && money.valueAt.getTime() <= deal.dueAt.getTime())
    );
  };
  return {
    settlements: settlements.filter(({ settlement_id: id, buyer_firm_id }) =>
      isInTime(
        id,
        ({ dealId, firmId }) => dealId === id || (dealId === null && firmId === buyer_firm_id),
      ),
    ),
    crosses: crosses.filter(({ cross_id: id }) => isInTime(id, ({ dealId }) => dealId === id)),
    firms,
  };
}

/** Lines whose money a person has entered already explain it and add nothing. */
function matchHandEntries(lines: readonly BankLineRow[], entered: Map<string, HandEntry>) {
  const outcomes: LineOutcome[] = [];
  const refused: RequeuedLine[] = [];
  const rest: BankLineRow[] = [];
  for (const line of lines) {
    const { plan } = line;
    const entries = listCreditUtrs(line).flatMap((utr) => entered.get(utr) ?? []);
    const entry = entries.find(({ paise }) => paise === line.paise) ?? entries[0];
    if (!entry || (plan.to !== "deposit" && plan.to !== "queue")) {
      rest.push(line);
    } else if (plan.to === "deposit" && plan.firm_id !== entry.firm_id) {
      refused.push(requeue(line, "reference_used"));
    } else if (line.paise !== entry.paise) {
      refused.push(requeue(line, "amount_differs"));
    } else {
      entered.delete(entry.reference);
      const dealId = plan.to === "deposit" ? plan.deal_id : null;
      const explains = [{ kind: "deposit", subject: entry.reference }];
      const firmId = entry.firm_id;
      outcomes.push({ line, state: "matched", reason: "known", firmId, dealId, explains });
    }
  }
  return { outcomes, refused, rest };
}

function toReference({ utr, line_id }: BankLineRow): string {
  return utr ?? buildReference(line_id);
}
