import { hearNews } from "../credits/apply-registry-news.ts";
import { fundingReference } from "../deposits/rules.ts";
import type { Deposit } from "../deposits/take-deposits.ts";
import { recordChanges } from "../events/record-changes.ts";
import type { Answered } from "../inquiries/rules.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Tx } from "../platform/postgres.ts";
import { concludeLegs, type Settling, subjectOfLeg } from "./conclude-legs.ts";
import { type Answers, transferredLegs } from "./decide-legs.ts";
import { failingAll } from "./fail-settlements.ts";
import { fundByDeposits } from "./fund-settlements.ts";
import { listLegs, lockSettlements, type SettlementRow } from "./store.ts";

type Funding = Answered<"deal_funding">;
type Transfer = Answered<"credit_transfer">;

type Answering = { readonly settling: Settling; readonly now: Date };

/** What the bank says about money that was waited for. */
export async function applyFunding(
  tx: Tx,
  actor: Actor,
  answered: readonly Funding[],
  { settling, now }: Answering,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry]));
  const locked = await lockSettlements(tx, [...said.keys()]);
  const waiting = locked.filter((row) => row.state === "pending");
  const isArrived = (row: SettlementRow) => said.get(row.settlement_id)?.answer.arrived === true;
  const arrived = waiting.filter(isArrived);
  const changes = [
    ...(await fundByDeposits(tx, {
      settlements: arrived,
      deposits: arrived.map((row) => depositOf(row, said.get(row.settlement_id))),
      now,
    })),
  ];
  const missing = waiting.filter((row) => !isArrived(row));
  for (const [environment, rows] of Map.groupBy(missing, (row) => row.environment)) {
    const answers = await failingAll(tx, rows, "not_funded");
    changes.push(...(await concludeLegs(tx, { environment, answers, actor, settling, now })));
  }
  await recordChanges(tx, actor, changes, now);
}

/** What was asked for is what has arrived, also when part of the deal has failed meanwhile. */
function depositOf(row: SettlementRow, inquiry: Funding | undefined): Deposit {
  return {
    environment: row.environment,
    reference: inquiry?.answer.reference ?? fundingReference(row.settlement_id),
    deskId: row.buyer_desk_id,
    firmId: row.buyer_firm_id,
    paise: inquiry?.facts.paise ?? row.buyer_paise,
    settlementId: row.settlement_id,
  };
}

/** What customs says about credits that were to pass to their buyers. */
export async function applyTransfers(
  tx: Tx,
  actor: Actor,
  answered: readonly Transfer[],
  { settling, now }: Answering,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry]));
  const locked = await lockSettlements(tx, [
    ...new Set(answered.map(({ facts }) => facts.settlement_id)),
  ]);
  const moving = locked.filter((row) => row.state === "transfer_initiated");
  const changes: Change[] = [];
  for (const [environment, rows] of Map.groupBy(moving, (row) => row.environment)) {
    const answers = await answersTo(tx, rows, said);
    const suspended = answers.flatMap(({ outcomes }) =>
      [...outcomes].flatMap(([scripNo, { reason }]) =>
        reason === "credit_suspended" ? [{ scripNo, news: "suspend" as const, reason }] : [],
      ),
    );
    const settlementIds = rows.map((row) => row.settlement_id);
    if (suspended.length > 0) await settling.lockCrosses(tx, settlementIds);
    const heard = await hearNews(tx, environment, suspended, now);
    changes.push(...heard.changes);
    changes.push(...(await concludeLegs(tx, { environment, answers, actor, settling, now })));
  }
  await recordChanges(tx, actor, changes, now);
}

async function answersTo(
  tx: Tx,
  settlements: readonly SettlementRow[],
  said: ReadonlyMap<string, Transfer>,
): Promise<Answers[]> {
  const legs = await listLegs(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return settlements.map((settlement) =>
    transferredLegs(
      { settlement, legs: legsById.get(settlement.settlement_id) ?? [] },
      (leg) => said.get(subjectOfLeg(leg))?.answer.outcome,
    ),
  );
}
