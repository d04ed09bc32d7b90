import { recordChanges } from "../journal/record-changes.ts";
import { wrongState } from "../kernel/lifecycle.ts";
import { visibleTo } from "../kernel/visibility.ts";
import type { Appliers } from "../outside/answer-inquiries.ts";
import { answerNow } from "../outside/ask.ts";
import type { Simulators } from "../outside/inquiry-rules.ts";
import { type Actor, toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { concludeLegs, type SettlementHooks } from "./conclude-legs.ts";
import { failOpenLegs } from "./fail-settlements.ts";
import { initiate } from "./transfer-credits.ts";
import { findSettlement } from "./read-store.ts";
import type { Settlement } from "./schema.ts";
import { listLegs, lockSettlements, type SettlementRow } from "./store.ts";
import { viewSettlement } from "./read-settlements.ts";

/** What a step of the sandbox needs: the simulated bank and customs, and what applies their answers. */
export type Simulation = {
  readonly simulators: Simulators;
  readonly appliers: Appliers;
  readonly settlementHooks: SettlementHooks;
};

/** Takes a sandbox settlement one step further at once, without waiting for its time. */
export async function advanceSettlement(
  ctx: Pick<Context, "db" | "now">,
  call: Call,
  { settlementId, simulation }: { readonly settlementId: string; readonly simulation: Simulation },
): Promise<Settlement> {
  const visible = visibleTo(call.caller);
  const now = ctx.now();
  return await ctx.db.transaction(
    async (tx) => {
      const known = isId("stl", settlementId)
        ? await findSettlement(tx, visible, settlementId)
        : undefined;
      if (known?.environment !== "sandbox") throw notFound();
      const [locked] = await lockSettlements(tx, [settlementId]);
      if (!locked) throw new Error("a settlement that was found stays");
      await takeNextStep(tx, locked, { actor: toActor(call), simulation, now });
      const after = await findSettlement(tx, visible, settlementId);
      if (!after) throw new Error("a settlement that was found stays");
      return viewSettlement(after, await listLegs(tx, [settlementId]), visible);
    },
    { rollBack: call.dryRun },
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
      return await moveOn(tx, known, stepping, "initiate");
    case "transfer_initiated":
      if ((await answerNow(tx, actor, { ...about, kind: "credit_transfer" })) > 0) return;
      // No inquiry is open, so no answer will come: the next event is the deadline.
      return await moveOn(tx, known, stepping, "fail");
    default:
      throw wrongState(`a settlement that is ${known.state} goes no further`, {
        state: known.state,
      });
  }
}

async function moveOn(
  tx: Tx,
  settlement: SettlementRow,
  { actor, simulation: { settlementHooks }, now }: StepContext,
  action: "initiate" | "fail",
): Promise<void> {
  const { environment } = settlement;
  const settlements = [settlement];
  const changes =
    action === "initiate"
      ? await initiate(tx, { environment, settlements, settlementHooks, now })
      : await concludeLegs(tx, {
          environment,
          answers: await failOpenLegs(tx, settlements, "timeout"),
          actor,
          settlementHooks,
          now,
        });
  await recordChanges(tx, actor, changes, now);
}
