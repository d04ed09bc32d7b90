import { readCalendar } from "../calendar/read-calendar.ts";
import { beginTransfers, lockReserved } from "../credits/settle-credits.ts";
import { recordChanges } from "../events/record-changes.ts";
import { isPortUp } from "../inquiries/port-status.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/offenders.ts";
import type { Tx } from "../platform/postgres.ts";
import { claimFunded } from "./claim-store.ts";
import { askCustoms } from "./ask-customs.ts";
import { concludeLegs, holderOf, type Settling } from "./conclude-legs.ts";
import { beginTransfer, changesOfBeginning, failingLegs } from "./decide-legs.ts";
import {
  type LegRow,
  listEnvironmentsWith,
  listLegs,
  setLegs,
  setSettlements,
  type SettlementRow,
  yieldToCallers,
} from "./store.ts";

const setSizeMax = 200;
const initiator: Actor = { kind: "worker", id: "settlement", requestId: null };

/**
 * One set of funded settlements is taken to customs, a question for each credit. While customs is
 * away they wait.
 */
export async function initiateTransfers(
  ctx: Pick<Context, "db" | "now">,
  settling: Settling,
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
        const changes = await initiate(tx, { environment, settlements, settling, now });
        await recordChanges(tx, initiator, changes, now);
        return settlements.length;
      }),
    );
  }
  return claimed > 0 ? "more" : "idle";
}

type Initiation = {
  readonly environment: Environment;
  readonly settlements: readonly SettlementRow[];
  readonly settling: Settling;
  readonly now: Date;
};

/** A credit that its deal no longer has fails its leg; what is left of such a deal comes next. */
export async function initiate(tx: Tx, initiation: Initiation): Promise<readonly Change[]> {
  const { environment, settlements, settling, now } = initiation;
  const legs = await listLegs(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const legsById = Map.groupBy(legs, (leg) => leg.settlement_id);
  const deals = settlements.map((settlement) => {
    const all = legsById.get(settlement.settlement_id) ?? [];
    return { settlement, legs: all, open: all.filter((leg) => leg.state === "pending") };
  });
  await settling.lockCrosses(
    tx,
    settlements.map((row) => row.settlement_id),
  );
  const reserved = await lockReserved(
    tx,
    environment,
    deals.flatMap(({ settlement, open }) => open.map((leg) => holderOf(settlement, leg))),
  );
  const isLost = (leg: LegRow) => !reserved.has(leg.scrip_no);
  const whole = deals.filter(({ open }) => !open.some(isLost));
  await beginTransfers(
    tx,
    whole.flatMap(({ settlement, open }) =>
      open.flatMap((leg) => {
        const creditId = reserved.get(leg.scrip_no);
        return creditId ? { creditId, reservedFor: holderOf(settlement, leg).reservedFor } : [];
      }),
    ),
    now,
  );
  const begun = await begin(tx, environment, whole, now);
  const failed = await concludeLegs(tx, {
    environment,
    answers: deals
      .filter(({ open }) => open.some(isLost))
      .map((deal) => failingLegs(deal, (leg) => (isLost(leg) ? "credit_unavailable" : undefined))),
    actor: initiator,
    settling,
    now,
  });
  return [...begun, ...failed];
}

type Deal = {
  readonly settlement: SettlementRow;
  readonly legs: readonly LegRow[];
  readonly open: readonly LegRow[];
};

async function begin(
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
  await askCustoms(tx, environment, deals, now);
  return begun.flatMap(changesOfBeginning);
}
