// Fails settlements: at their deadline, on news about a credit, or by the operator or the desk. None of
// these ends a leg whose transfer may be open at customs. Customs ends it, which in live an operator
// attests; in the sandbox the simulated customs says at the deadline of customs, some time after a
// receiver is late, or when its desk gives up, that nothing is pending. What nobody has begun is ended by
// the portal's report, or by the clock some days later.

import type { LostCredit, LostCreditHook } from "../credits/registry-news.ts";
import type { Blocker } from "../firms/offboard-firm.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { advance } from "../kernel/lifecycle.ts";
import {
  type ClockAdvance,
  type Cursor,
  type MovedSet,
  toMovedSet,
} from "../kernel/clock-advance.ts";
import { lateUntil } from "../kernel/working-days.ts";
import { isPortUp, listKindsBehind } from "../outside/ask.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { QuestionKind, Port } from "../outside/question-rules.ts";
import { type AttestationKind, attestWithApproval, findAttestations } from "../outside/attest.ts";
import type { ProposedAct } from "../operators/act-with-approval.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  moveSettlementsEarlier,
  claimOverdue,
  type DealRows,
  type LegRow,
  listByCredits,
  listEnvironmentsWith,
  listLegs,
  lockSettlements,
  lockWithin,
  type SettlementRow,
} from "./store.ts";
import { buildLateChanges, listLateTasks } from "./read-tasks.ts";
import {
  followLegs,
  stepLeg,
  type Answers,
  buildFailures,
  buildSimulatedEnd,
} from "./decide-legs.ts";
import { concludeLegs, type SettlementHooks, storeSteps } from "./transfer-legs.ts";
import { readAnySettlement } from "./read-settlements.ts";
import { listOpenByFirm } from "./read-store.ts";
import { type BankWatch, judgeOverdue, listPastDue } from "./unpaid-deals.ts";
import {
  type FailureReason,
  findLegEndsAt,
  findOffice,
  type OpenState,
  openStates,
  settlementLifecycle,
  noSettlement,
  transferOpen,
} from "./rules.ts";

const setSizeMax = 200;
/**
 * For so many working days after its deadline a live deal that nobody has begun waits for the portal's
 * report, which ends it and says whose fault it is. The clock ends it then, and it is nobody's.
 */
const unseenWorkingDays = 2;
/** How long after its deadline a settlement of the sandbox fails when the simulation is behind. */
const simulationGraceMs = 600_000;
const deadlineWorker: Actor = { kind: "worker", id: "clock", requestId: null };

/** The port that each state waits for. While it is down, no settlement in that state is overdue. */
const portByState = {
  pending: "bank",
  funded: "registry",
  transfer_initiated: "registry",
} as const satisfies Record<OpenState, Port>;

/** What each state waits for; in the sandbox it is the simulation that answers. */
const questionByState = {
  pending: "deal_funding",
  funded: "credit_transfer",
  transfer_initiated: "credit_transfer",
} as const satisfies Record<OpenState, QuestionKind>;

type DeadlineHooks = {
  readonly settlementHooks: SettlementHooks;
  readonly bankWatch: BankWatch;
};

/** Fails one set of overdue settlements. */
export async function failOverdue(
  ctx: Pick<Context, "db" | "now" | "log">,
  { settlementHooks, bankWatch }: DeadlineHooks,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  let failed = 0;
  for (const environment of await listEnvironmentsWith(ctx.db, openStates, ctx.now())) {
    const up = {
      bank: await isPortUp(ctx.db, environment, "bank"),
      registry: await isPortUp(ctx.db, environment, "registry"),
    };
    const now = ctx.now();
    const findLateUntil = await loadLateUntil(ctx.db, environment, now);
    const states = openStates
      .filter((state) => up[portByState[state]])
      .map((state) => ({ state, lateUntil: findLateUntil(state) }));
    const { mayEnd, tell } = await judgeOverdue(ctx, bankWatch, {
      environment,
      lateUntil: findLateUntil("pending"),
      now,
      list: async (dueUntil) => await listPastDue(ctx.db, environment, { dueUntil }),
    });
    failed += await workInParts(offenders, (choice, note) =>
      ctx.db.transaction(async (tx) => {
        const late = { environment, states, mayEnd, limit: setSizeMax, ...choice };
        const overdue = await claimOverdue(tx, late);
        note(overdue.map((row) => row.settlement_id));
        if (overdue.length === 0) return 0;
        yieldToCallers(tx);
        const ending = { environment, overdue, actor: deadlineWorker, settlementHooks, now };
        await endOverdueDeals(tx, { ...ending, until: findLateUntil("funded") });
        tell(overdue.map((row) => row.settlement_id));
        const unseen = overdue.filter(({ state }) => state !== "pending");
        if (environment === "live" && unseen.length > 0) {
          const deals = unseen.map((row) => row.settlement_id);
          ctx.log.error(
            { deals },
            "deals ended, and no report of the portal shows whether they began",
          );
        }
        return overdue.length;
      }),
    );
  }
  return failed > 0 ? "more" : "idle";
}

/**
 * Ends what the clock ends of locked settlements by this time, and tells first what was late. In live
 * these are legs that nobody has begun; in the sandbox the simulated customs says that nothing is
 * pending, and a receiver that accepts late does.
 */
export async function endOverdueDeals(
  tx: Tx,
  {
    overdue,
    until,
    ...ending
  }: {
    readonly environment: Environment;
    readonly overdue: readonly SettlementRow[];
    readonly actor: Actor;
    readonly settlementHooks: SettlementHooks;
    readonly now: Date;
    readonly until: Date;
  },
): Promise<void> {
  const { environment, actor, settlementHooks, now } = ending;
  const isOver = (leg: LegRow) => {
    const endsAt = findLegEndsAt(leg);
    return leg.state === "pending" || (endsAt !== null && endsAt <= until);
  };
  const accepts = (leg: LegRow) => leg.state === "to_accept" && leg.scenario === "accepts_late";
  const deals = await loadDeals(tx, overdue);
  settlementHooks.lockCrosses(
    tx,
    overdue.map((row) => row.settlement_id),
  );
  const late = deals.flatMap((deal) =>
    buildLateChanges(
      deal,
      listLateTasks(deal, now).filter(({ leg }) => leg === null || isOver(leg)),
    ),
  );
  const when = { now, calendar: await readCalendar(tx) };
  const accepting = deals.filter(({ legs }) => legs.some((leg) => accepts(leg) && isOver(leg)));
  const stepped = accepting.map((deal) => {
    const legs = deal.legs.map((leg) =>
      accepts(leg) && isOver(leg) ? stepLeg(leg, { move: "accept", reference: null }, when) : leg,
    );
    return followLegs(deal, legs, now);
  });
  const accepted = await storeSteps(tx, environment, stepped, { now });
  const ended = deals.filter((deal) => !accepting.includes(deal));
  const answers = ended.map((deal) =>
    environment === "sandbox"
      ? buildSimulatedEnd(deal, "timeout", isOver)
      : buildFailures(deal, (leg) => (isOver(leg) ? "timeout" : undefined)),
  );
  const failed = await concludeLegs(tx, { environment, answers, actor, settlementHooks, now });
  await recordChanges(tx, actor, [...late, ...accepted, ...failed], now);
}

/**
 * The latest deadline whose deals end, by state. In the sandbox deadlines wait while the simulation is
 * behind with the answers that they are about: what we have not applied yet is not late. They do not
 * wait for ever, because an answer that cannot be applied stays due.
 */
async function loadLateUntil(
  db: Db,
  environment: Environment,
  now: Date,
): Promise<(state: OpenState) => Date> {
  if (environment === "live") {
    const calendar = await readCalendar(db);
    return (state) =>
      lateUntil(now, findOffice(state), calendar, state === "pending" ? 0 : unseenWorkingDays);
  }
  const behind = await listKindsBehind(db, now);
  return (state) =>
    behind.includes(questionByState[state]) ? new Date(now.getTime() - simulationGraceMs) : now;
}

/** Fails the legs of credits that customs suspends, cancels or uses before their transfer has begun. */
export function hookLostCredits(settlementHooks: SettlementHooks): LostCreditHook {
  return {
    list: async (db, { environment, scripNos }) => await listByCredits(db, environment, scripNos),
    async lock(tx, settlementIds) {
      await lockSettlements(tx, settlementIds);
      settlementHooks.lockCrosses(tx, settlementIds);
    },
    async follow(tx, actor, { environment, credits }, now) {
      const lost = new Map(credits.map((credit) => [credit.scripNo, toFailureReason(credit)]));
      const settlementIds = await listByCredits(tx, environment, [...lost.keys()]);
      if (settlementIds.length === 0) return [];
      const settlements = await lockSettlements(tx, settlementIds);
      const answers = await answerDeals(tx, settlements, (deal) =>
        buildFailures(deal, (leg) => lost.get(leg.scrip_no)),
      );
      return await concludeLegs(tx, { environment, answers, actor, settlementHooks, now });
    },
  };
}

/**
 * Fails what is open of a settlement by order of an operator. Where a transfer may be open, this is an
 * attestation that nothing is pending at customs.
 */
export async function failSettlement(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { settlementId, reference, settlementHooks, attesting }: Failing,
): Promise<ProposedAct | { readonly outcome: "failed" }> {
  const { state } = await readAnySettlement(ctx.db, settlementId);
  if (state === "transfer_initiated") {
    if (reference === undefined) throw transferOpen(settlementId);
    const answer = { outcome: "nothing_pending" } as const;
    const seen = [{ subjectId: settlementId, answer, reference }];
    const attestations = await findAttestations(ctx, { kind: "credit_transfer", seen });
    const attested = await attestWithApproval(ctx, operator, { attestations, ...attesting });
    return attested.outcome === "done" ? { outcome: "failed" } : attested;
  }
  const now = ctx.now();
  await ctx.db.transaction(async (tx) => {
    const [settlement] = await lockSettlements(tx, [settlementId]);
    if (!settlement) throw noSettlement(settlementId);
    if (settlement.state === "transfer_initiated") throw transferOpen(settlementId);
    advance(settlementLifecycle, settlement.state, "fail");
    const answers = await failOpenLegs(tx, [settlement], "by_operator");
    const { environment } = settlement;
    const conclusion = { environment, answers, actor: operator, settlementHooks, now };
    await recordChanges(tx, operator, await concludeLegs(tx, conclusion), now);
  });
  return { outcome: "failed" };
}

type Failing = {
  readonly settlementId: string;
  /** What the operator saw at customs; needed where a transfer may be open. */
  readonly reference: string | undefined;
  readonly settlementHooks: SettlementHooks;
  readonly attesting: { readonly kind: AttestationKind; readonly twoFromPaise?: number };
};

/** Fails, for one reason, every open leg whose transfer has not begun. */
export async function failOpenLegs(
  db: Db,
  settlements: readonly SettlementRow[],
  reason: FailureReason,
): Promise<Answers[]> {
  return await answerDeals(db, settlements, (deal) => buildFailures(deal, () => reason));
}

/** The same for every open leg, in the sandbox. */
async function endSimulated(
  db: Db,
  settlements: readonly SettlementRow[],
  reason: FailureReason,
): Promise<Answers[]> {
  if (settlements.some(({ environment }) => environment !== "sandbox")) {
    throw new Error("only the simulated customs answers at once");
  }
  return await answerDeals(db, settlements, (deal) => buildSimulatedEnd(deal, reason));
}

/** Fails the open legs of the next settlements between the firms of a desk that resets and the house. */
export async function giveUpSettlements(
  tx: Tx,
  {
    actor,
    settlementHooks,
    now,
    ...desk
  }: {
    readonly environment: Environment;
    readonly deskId: string;
    readonly actor: Actor;
    readonly settlementHooks: SettlementHooks;
    readonly now: Date;
  },
  cursor: Cursor,
): Promise<{ readonly ids: readonly string[]; readonly changes: readonly Change[] }> {
  const settlements = await lockWithin(tx, desk, cursor);
  const ids = settlements.map((row) => row.settlement_id);
  settlementHooks.lockCrosses(tx, ids);
  const answers = await endSimulated(tx, settlements, "by_desk");
  const { environment } = desk;
  const conclusion = { environment, answers, actor, settlementHooks, now };
  return { ids, changes: await concludeLegs(tx, conclusion) };
}

/** Brings deadlines nearer, only between the desk's own firms and the house: others keep theirs. */
export async function moveSettlementDeadlines(
  tx: Tx,
  clockAdvance: ClockAdvance,
  cursor: Cursor,
): Promise<MovedSet> {
  const open = await lockWithin(tx, clockAdvance, cursor);
  const older = open.filter(({ created_at }) => created_at <= clockAdvance.now);
  await moveSettlementsEarlier(
    tx,
    older.map((row) => row.settlement_id),
    clockAdvance,
  );
  const set = toMovedSet(
    open.map((row) => row.settlement_id),
    cursor,
  );
  return { ...set, count: older.length };
}

/** The open settlements, which keep a firm from leaving. */
export async function listOpenSettlements(
  tx: Tx,
  deskId: string,
  firmId: string,
): Promise<Blocker[]> {
  const rows = await listOpenByFirm(tx, deskId, firmId);
  return rows.map(({ settlement_id }) => ({
    type: "settlement",
    id: settlement_id,
    href: `/v1/settlements/${settlement_id}`,
  }));
}

function toFailureReason({ news }: LostCredit): FailureReason {
  if (news === "suspend") return "credit_suspended";
  return news === "cancel" ? "credit_cancelled" : "credit_used";
}

async function answerDeals(
  db: Db,
  settlements: readonly SettlementRow[],
  answer: (deal: DealRows) => Answers,
): Promise<Answers[]> {
  return (await loadDeals(db, settlements)).map(answer);
}

async function loadDeals(db: Db, settlements: readonly SettlementRow[]): Promise<DealRows[]> {
  const legs = await listLegs(
    db,
    settlements.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return settlements.map((settlement) => ({
    settlement,
    legs: legsById.get(settlement.settlement_id) ?? [],
  }));
}
