import { applyNews } from "../credits/registry-news.ts";
import { beginTransfers, lockReservedCredits } from "../credits/settle-credits.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { isPortUp } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { Answered } from "../outside/inquiry-rules.ts";
import { buildFundingReference } from "../payouts/deposit-rules.ts";
import type { Deposit } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { askCustoms, findCustomsFacts } from "./ask-customs.ts";
import { claimFunded } from "./claim-store.ts";
import {
  concludeLegs,
  toReservation,
  type SettlementHooks,
  toLegSubject,
} from "./conclude-legs.ts";
import {
  type Answers,
  beginTransfer,
  buildTransferChanges,
  buildFailures,
  buildTransferAnswers,
} from "./decide-legs.ts";
import { failOpenLegs } from "./fail-settlements.ts";
import { fundByDeposits } from "./fund-settlements.ts";
import {
  type LegRow,
  listEnvironmentsWith,
  listLegs,
  lockSettlements,
  setLegs,
  setSettlements,
  type SettlementRow,
} from "./store.ts";

const setSizeMax = 200;
const transferWorker: Actor = { kind: "worker", id: "settlement", requestId: null };

/**
 * Begins the transfer of one set of funded settlements: customs is asked about each credit. While
 * customs is down they wait.
 */
export async function initiateTransfers(
  ctx: Pick<Context, "db" | "now">,
  settlementHooks: SettlementHooks,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let claimed = 0;
  for (const environment of await listEnvironmentsWith(ctx.db, ["funded"])) {
    if (!(await isPortUp(ctx.db, environment, "registry"))) continue;
    const now = ctx.now();
    claimed += await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const settlements = await claimFunded(tx, environment, { limit: setSizeMax, ...choice });
        note(settlements.map((row) => row.settlement_id));
        if (settlements.length === 0) return 0;
        await yieldToCallers(tx);
        const changes = await initiate(tx, { environment, settlements, settlementHooks, now });
        await recordChanges(tx, transferWorker, changes, now);
        return settlements.length;
      }),
    );
  }
  return claimed > 0 ? "more" : "idle";
}

type InitiateInput = {
  readonly environment: Environment;
  readonly settlements: readonly SettlementRow[];
  readonly settlementHooks: SettlementHooks;
  readonly now: Date;
};

/**
 * Begins the transfer. A credit that is no longer reserved for its deal fails its leg; the rest of such
 * a deal begins with the next set.
 */
export async function initiate(tx: Tx, initiation: InitiateInput): Promise<readonly Change[]> {
  const { environment, settlements, settlementHooks, now } = initiation;
  const legs = await listLegs(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  const deals = settlements.map((settlement) => {
    const all = legsById.get(settlement.settlement_id) ?? [];
    return { settlement, legs: all, open: all.filter((leg) => leg.state === "pending") };
  });
  await settlementHooks.lockCrosses(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const reserved = await lockReservedCredits(
    tx,
    environment,
    deals.flatMap(({ settlement, open }) => open.map((leg) => toReservation(settlement, leg))),
  );
  const isLost = (leg: LegRow) => !reserved.has(leg.scrip_no);
  const whole = deals.filter(({ open }) => !open.some(isLost));
  await tx.run(
    beginTransfers(
      whole.flatMap(({ settlement, open }) =>
        open.flatMap((leg) => {
          const creditId = reserved.get(leg.scrip_no);
          return creditId
            ? { creditId, reservedFor: toReservation(settlement, leg).reservedFor }
            : [];
        }),
      ),
      now,
    ),
  );
  const begun = await storeBegun(tx, environment, whole, now);
  const failed = await concludeLegs(tx, {
    environment,
    answers: deals
      .filter(({ open }) => open.some(isLost))
      .map((deal) =>
        buildFailures(deal, (leg) => (isLost(leg) ? "credit_unavailable" : undefined)),
      ),
    actor: transferWorker,
    settlementHooks,
    now,
  });
  return [...begun, ...failed];
}

type Deal = {
  readonly settlement: SettlementRow;
  readonly legs: readonly LegRow[];
  readonly open: readonly LegRow[];
};

async function storeBegun(
  tx: Tx,
  environment: Environment,
  deals: readonly Deal[],
  now: Date,
): Promise<Change[]> {
  if (deals.length === 0) return [];
  const when = { now, calendar: await readCalendar(tx) };
  const begun = deals.map((deal) => beginTransfer(deal, when));
  await setSettlements(
    tx,
    begun.map(({ after }) => after),
  );
  await setLegs(
    tx,
    begun.flatMap(({ legs }) => legs.filter((leg) => leg.state === "transferring")),
  );
  const facts = await tx.run(findCustomsFacts(environment, deals));
  await tx.run(askCustoms(environment, deals, facts, now));
  return begun.flatMap(buildTransferChanges);
}

type Funding = Answered<"deal_funding">;
type AnsweredTransfer = Answered<"credit_transfer">;

type AnswerContext = { readonly settlementHooks: SettlementHooks; readonly now: Date };

/** Applies the bank's answers about awaited money. */
export async function applyFunding(
  tx: Tx,
  actor: Actor,
  answered: readonly Funding[],
  { settlementHooks, now }: AnswerContext,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry]));
  const locked = await lockSettlements(tx, [...said.keys()]);
  const waiting = locked.filter((row) => row.state === "pending");
  const isArrived = (row: SettlementRow) => said.get(row.settlement_id)?.answer.arrived === true;
  const arrived = waiting.filter(isArrived);
  const changes = [
    ...(await fundByDeposits(tx, {
      settlements: arrived,
      deposits: arrived.map((row) => buildDeposit(row, said.get(row.settlement_id))),
      now,
    })),
  ];
  const missing = waiting.filter((row) => !isArrived(row));
  for (const [environment, rows] of Map.groupBy(missing, (row) => row.environment)) {
    const answers = await failOpenLegs(tx, rows, "not_funded");
    changes.push(
      ...(await concludeLegs(tx, { environment, answers, actor, settlementHooks, now })),
    );
  }
  await recordChanges(tx, actor, changes, now);
}

/** The amount that was asked for, also when a part of the deal has failed meanwhile. */
function buildDeposit(row: SettlementRow, inquiry: Funding | undefined): Deposit {
  return {
    environment: row.environment,
    reference: inquiry?.answer.reference ?? buildFundingReference(row.settlement_id),
    deskId: row.buyer_desk_id,
    firmId: row.buyer_firm_id,
    paise: inquiry?.facts.paise ?? row.buyer_paise,
    settlementId: row.settlement_id,
  };
}

/** Applies the answers of customs about transfers. */
export async function applyTransfers(
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredTransfer[],
  { settlementHooks, now }: AnswerContext,
): Promise<void> {
  const said = new Map(answered.map((inquiry) => [inquiry.subject_id, inquiry]));
  const locked = await lockSettlements(tx, [
    ...new Set(answered.map(({ facts }) => facts.settlement_id)),
  ]);
  const moving = locked.filter((row) => row.state === "transfer_initiated");
  const changes: Change[] = [];
  for (const [environment, rows] of Map.groupBy(moving, (row) => row.environment)) {
    const answers = await loadAnswers(tx, rows, said);
    const suspended = answers.flatMap(({ outcomes }) =>
      [...outcomes].flatMap(([scripNo, { reason }]) =>
        reason === "credit_suspended" ? [{ scripNo, news: "suspend" as const, reason }] : [],
      ),
    );
    const settlementIds = rows.map((row) => row.settlement_id);
    if (suspended.length > 0) await settlementHooks.lockCrosses(tx, settlementIds);
    const heard = await applyNews(tx, environment, suspended, now);
    changes.push(...heard.changes);
    changes.push(
      ...(await concludeLegs(tx, { environment, answers, actor, settlementHooks, now })),
    );
  }
  await recordChanges(tx, actor, changes, now);
}

async function loadAnswers(
  tx: Tx,
  settlements: readonly SettlementRow[],
  said: ReadonlyMap<string, AnsweredTransfer>,
): Promise<Answers[]> {
  const legs = await listLegs(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return settlements.map((settlement) =>
    buildTransferAnswers(
      { settlement, legs: legsById.get(settlement.settlement_id) ?? [] },
      (leg) => said.get(toLegSubject(leg))?.answer.outcome,
    ),
  );
}
