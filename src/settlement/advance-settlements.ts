// The steps of a settlement from its deal to its end:
//
//   pending              the bank's answer about the buyer's money funds it (`applyFunding`)
//   funded               a worker tells the parties to begin, once customs can be asked (`initiateTransfers`)
//   transfer_initiated   the answers of customs conclude its legs (`applyTransfers`), also of legs of
//                        which nobody said that they were begun
//
// What the parties say in between is in `tasks.ts`. In the sandbox a caller can take the next step at once (`advanceSettlement`).

import { applyNews } from "../credits/registry-news.ts";
import { lockReservedCredits } from "../credits/settle-credits.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { type Actor, type Change, toActor } from "../kernel/actor.ts";
import type { Call, Environment } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Appliers } from "../outside/answer-questions.ts";
import { answerNow, findOutage, isPortUp } from "../outside/ask.ts";
import { findParties } from "../outside/scenarios.ts";
import { partyScenarios, transferScenarios } from "../outside/scenario-rules.ts";
import { readCalendar } from "../outside/calendar.ts";
import type { AnsweredQuestion, Simulators } from "../outside/question-rules.ts";
import { buildFundingReference } from "../payouts/rules.ts";
import type { NewDeposit } from "../payouts/deposits.ts";
import type { Context } from "../platform/context.ts";
import {
  noOffenders,
  type Offenders,
  workInParts,
  yieldToCallers,
} from "../platform/postgres/offenders.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import {
  type Answers,
  buildFailures,
  buildTransferAnswers,
  beginDeal,
  byPeople,
  type Playing,
  playSandbox,
} from "./decide-legs.ts";
import { endOverdueDeals, failOpenLegs } from "./fail-settlements.ts";
import { fundByDeposits } from "./fund-settlements.ts";
import { loadParties, viewSettlement } from "./read-settlements.ts";
import { findSettlement } from "./read-store.ts";
import { endOfTime, isOpen, isOpenLeg } from "./rules.ts";
import type { Settlement } from "./schema.ts";
import {
  claimFunded,
  type DealRows,
  type LegRow,
  listEnvironmentsWith,
  listLegs,
  lockSettlements,
  type SettlementRow,
} from "./store.ts";
import {
  beginUnannounced,
  concludeLegs,
  listDeskIds,
  type SettlementHooks,
  storeSteps,
  takeDealScenarios,
  toLegSubject,
  toReservation,
} from "./transfer-legs.ts";

const setSizeMax = 200;
const transferWorker: Actor = { kind: "worker", id: "settlement", requestId: null };

/** Begins one set of funded settlements. While customs is down they wait. */
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
        yieldToCallers(tx);
        const changes = await begin(tx, { environment, settlements, settlementHooks, now });
        await recordChanges(tx, transferWorker, changes, now);
        return settlements.length;
      }),
    );
  }
  return claimed > 0 ? "more" : "idle";
}

type FundingAnswer = AnsweredQuestion<"deal_funding">;
type AnsweredTransfer = AnsweredQuestion<"credit_transfer">;

type AnswerContext = { readonly settlementHooks: SettlementHooks; readonly now: Date };

/** Applies the bank's answers about awaited money. */
export async function applyFunding(
  tx: Tx,
  actor: Actor,
  answered: readonly FundingAnswer[],
  { settlementHooks, now }: AnswerContext,
): Promise<void> {
  const said = new Map(answered.map((question) => [question.subject_id, question]));
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

/** Applies the answers of customs about transfers. */
export async function applyTransfers(
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredTransfer[],
  { settlementHooks, now }: AnswerContext,
): Promise<void> {
  const said = new Map(answered.map((question) => [question.subject_id, question]));
  const locked = await lockSettlements(tx, [
    ...new Set(answered.map(({ facts }) => facts.settlement_id)),
  ]);
  const moving = locked.filter((row) => isOpen(row.state) && row.state !== "pending");
  settlementHooks.lockCrosses(
    tx,
    moving.map((row) => row.settlement_id),
  );
  const changes: Change[] = [];
  for (const [environment, rows] of Map.groupBy(moving, (row) => row.environment)) {
    const legs = await listLegs(
      tx,
      rows.map((row) => row.settlement_id),
    );
    if (environment === "live") refuseBegunSince(legs, said);
    const counted = await countFromOutage(tx, environment, said);
    const answers = answerTransfers({ settlements: rows, legs, said: counted }, now);
    const suspended = answers.flatMap(({ outcomes }) =>
      [...outcomes].flatMap(([scripNo, { reason }]) =>
        reason === "credit_suspended" ? [{ scripNo, news: "suspend" as const, reason }] : [],
      ),
    );
    await beginUnannounced(tx, environment, answers, now);
    changes.push(
      ...(await concludeLegs(tx, { environment, answers, actor, settlementHooks, said, now })),
    );
    // After the deal has let go of the credit: news does not reach one whose transfer may be open.
    changes.push(...(await applyNews(tx, environment, suspended, now)).changes);
  }
  await recordChanges(tx, actor, changes, now);
}

/** What a step of the sandbox needs: the simulated bank and customs, and what applies their answers. */
export type Simulation = {
  readonly simulators: Simulators;
  readonly appliers: Appliers;
  readonly settlementHooks: SettlementHooks;
};

/** Takes a sandbox settlement one step further at once, without waiting for its time. */
export async function advanceSettlement(
  { db, now: toNow, ...simulation }: Pick<Context, "db" | "now"> & Simulation,
  call: Call,
  settlementId: string,
): Promise<Settlement> {
  const visible = visibleTo(call.caller);
  const now = toNow();
  return await db.transaction(
    async (tx) => {
      const known = isId("stl", settlementId)
        ? await findSettlement(tx, visible, settlementId)
        : undefined;
      if (known?.environment !== "sandbox") throw notFound("settlement_id");
      const [locked] = await lockSettlements(tx, [settlementId]);
      if (!locked) throw new Error("a settlement that was found stays");
      await takeNextStep(tx, locked, { actor: toActor(call), simulation, now });
      const after = await findSettlement(tx, visible, settlementId);
      if (!after) throw new Error("a settlement that was found stays");
      const legs = await listLegs(tx, [settlementId]);
      const parties = await loadParties(tx, [after], { legs, now });
      return viewSettlement(after, legs, { visible, parties, now });
    },
    { rollBack: call.dryRun },
  );
}

type BeginInput = {
  readonly environment: Environment;
  readonly settlements: readonly SettlementRow[];
  readonly settlementHooks: SettlementHooks;
  readonly now: Date;
};

/**
 * Tells the parties of funded deals to begin; the simulated ones do at once. A credit that is no longer
 * reserved for its deal fails its leg; the rest of such a deal begins with the next set.
 */
export async function begin(tx: Tx, beginning: BeginInput): Promise<readonly Change[]> {
  const { environment, settlements, settlementHooks, now } = beginning;
  const ids = settlements.map((row) => row.settlement_id);
  const legsById = Map.groupBy(await listLegs(tx, ids), (leg) => leg.settlement_id);
  const deals = settlements.map((settlement) => {
    const legs = legsById.get(settlement.settlement_id) ?? [];
    return { settlement, legs, open: legs.filter((leg) => leg.state === "pending") };
  });
  settlementHooks.lockCrosses(tx, ids);
  const reserved = await lockReservedCredits(
    tx,
    environment,
    deals.flatMap(({ settlement, open }) => open.map((leg) => toReservation(settlement, leg))),
  );
  const isLost = (leg: LegRow) => !reserved.has(leg.scrip_no);
  const whole = deals.filter(({ open }) => !open.some(isLost));
  const when = { now, calendar: await readCalendar(tx) };
  const findPlaying = await decidePlaying(tx, environment, whole);
  const stepped = whole.map((deal) => beginDeal(deal, (leg) => findPlaying(deal, leg), when));
  const begun = await storeSteps(tx, environment, stepped, { reserved, now });
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

/** Which steps of these deals happen by themselves: in live none. */
async function decidePlaying(
  tx: Tx,
  environment: Environment,
  deals: readonly DealRows[],
): Promise<(deal: DealRows, leg: LegRow) => Playing> {
  if (environment === "live") return () => byPeople;
  const findScenario = await tx.run(
    takeDealScenarios(environment, deals, [...transferScenarios, ...partyScenarios]),
  );
  const { manual } = await tx.run(findParties(environment, deals.flatMap(listDeskIds)));
  return ({ settlement }, leg) => {
    const scenario = findScenario(settlement.settlement_id);
    return playSandbox(settlement, leg, { scenario, manual });
  };
}

/** The amount that was asked for, also when a part of the deal has failed meanwhile. */
function buildDeposit(row: SettlementRow, question: FundingAnswer | undefined): NewDeposit {
  return {
    environment: row.environment,
    reference: question?.answer.reference ?? buildFundingReference(row.settlement_id),
    deskId: row.buyer_desk_id,
    firmId: row.buyer_firm_id,
    paise: question?.facts.paise ?? row.buyer_paise,
    settlementId: row.settlement_id,
  };
}

/** What customs does not show while it is down, it does not show since before. */
async function countFromOutage(
  tx: Tx,
  environment: Environment,
  said: ReadonlyMap<string, AnsweredTransfer>,
): Promise<ReadonlyMap<string, AnsweredTransfer>> {
  const outage = await findOutage(tx, environment, "registry");
  if (!outage) return said;
  return new Map(
    [...said].map(([subject, answered]) => {
      const as_of = answered.as_of < outage.since ? answered.as_of : outage.since;
      return [subject, { ...answered, as_of }];
    }),
  );
}

function answerTransfers(
  {
    settlements,
    legs,
    said,
  }: {
    readonly settlements: readonly SettlementRow[];
    readonly legs: readonly LegRow[];
    readonly said: ReadonlyMap<string, AnsweredTransfer>;
  },
  now: Date,
): Answers[] {
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  return settlements.map((settlement) =>
    buildTransferAnswers(
      { settlement, legs: legsById.get(settlement.settlement_id) ?? [] },
      (leg) => said.get(toLegSubject(leg)),
      now,
    ),
  );
}

/** What customs showed before a transfer was begun does not end it: it may be open there now. */
function refuseBegunSince(
  legs: readonly LegRow[],
  said: ReadonlyMap<string, AnsweredTransfer>,
): void {
  for (const leg of legs) {
    const answered = said.get(toLegSubject(leg));
    if (!answered || answered.answer.outcome === "transferred" || !isOpenLeg(leg.state)) continue;
    if (leg.initiated_at === null || leg.initiated_at <= answered.as_of) continue;
    throw new Failure("conflict", `the transfer of ${leg.scrip_no} was begun after this was seen`, {
      detail: { reason: "begun_since", scrip_no: leg.scrip_no },
    });
  }
}

/** How far the transfers of deals have come and when a report last showed them, by their questions' subjects. */
export async function readTransferSteps(
  db: Db,
  settlementIds: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const legs = await listLegs(db, settlementIds);
  return new Map(
    legs.map((leg) => {
      const { state, initiated_at, missing_at, pending_until } = leg;
      const [initiated, missing, seen] = [initiated_at, missing_at, pending_until].map(
        (at) => at && istTimestamp(at),
      );
      return [toLegSubject(leg), { state, initiated, missing, seen }];
    }),
  );
}

type StepContext = { readonly actor: Actor; readonly simulation: Simulation; readonly now: Date };

async function takeNextStep(tx: Tx, known: SettlementRow, stepping: StepContext): Promise<void> {
  const { actor, simulation, now } = stepping;
  const { simulators, appliers } = simulation;
  const about = { subjectId: known.settlement_id, simulators, appliers, now };
  switch (known.state) {
    case "pending":
      await answerNow(tx, actor, { ...about, kind: "deal_funding" });
      return;
    case "funded":
    case "transfer_initiated": {
      const { environment } = known;
      const { settlementHooks } = simulation;
      if (!known.begun) {
        const beginning = { environment, settlements: [known], settlementHooks, now };
        await recordChanges(tx, actor, await begin(tx, beginning), now);
        return;
      }
      if ((await answerNow(tx, actor, { ...about, kind: "credit_transfer" })) > 0) return;
      // Nobody says anything before the deadline: the next event is what becomes of it then.
      return await endOverdueDeals(tx, {
        environment,
        overdue: [known],
        actor,
        settlementHooks,
        now,
        until: endOfTime,
      });
    }
    default:
      throw wrongState(`a settlement that is ${known.state} goes no further`, {
        state: known.state,
      });
  }
}
