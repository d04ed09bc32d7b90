// Turns a netting into crosses between firms of one desk, all or none. Its facts are checked again
// under lock: the requirements are locked first, as everywhere before firms; opening the crosses locks
// the firms and reserves the credits, and the membership is read after that.

import { openCrosses } from "../crosses/open-crosses.ts";
import { recordChanges } from "../journal/record-changes.ts";
import { requireGroup } from "../firms/groups.ts";
import { toActor } from "../kernel/actor.ts";
import type { Call } from "../kernel/caller.ts";
import { Failure, notFound } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Creation } from "../platform/http/calls.ts";
import type { Context } from "../platform/context.ts";
import { claimIdempotencyKey } from "../platform/http/idempotency.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { groupLots } from "./figures.ts";
import type { NettingCrosses } from "./schema.ts";
import {
  listCrosses,
  listMembers,
  lockRun,
  type RunRow,
  setCrossed,
  lockRequirementsForShare,
} from "./store.ts";

type GroupNetting = { readonly group_id: string; readonly netting_ref: string };

export async function crossNetting(
  ctx: Context,
  call: Call,
  asked: GroupNetting,
): Promise<Creation<NettingCrosses>> {
  const now = ctx.now();
  const { caller } = call;
  refuseSubAccount(visibleTo(caller), "act for a group");
  return await ctx.db.transaction(
    async (tx): Promise<Creation<NettingCrosses>> => {
      const run = await lockRunOfGroup(tx, call, asked);
      const crossedBefore = await claimIdempotencyKey(tx, {
        call,
        operation: "crossNetting",
        body: asked,
        idField: "netting_ref",
        newId: asked.netting_ref,
        now,
      });
      if (crossedBefore) return { outcome: "replayed", resource: await viewCrosses(tx, run) };
      await refuseUnusable(tx, run, now);
      const iecs = await findMemberIecs(tx, run);
      await lockDuty(tx, run);
      const { changes } = await openCrosses(tx, caller, newCrosses(run, iecs), {
        pricedAt: run.created_at,
        now,
      });
      // The firms are locked, so members stay members.
      await findMemberIecs(tx, run);
      await setCrossed(tx, run.desk_id, { nettingRef: asked.netting_ref, now });
      const resource = await viewCrosses(tx, run);
      await recordChanges(tx, toActor(call), changes, now);
      return { outcome: call.dryRun ? "dry_run" : "created", resource };
    },
    { rollBack: call.dryRun },
  );
}

async function lockRunOfGroup(
  tx: Tx,
  { caller }: Call,
  { group_id: groupId, netting_ref: nettingRef }: GroupNetting,
): Promise<RunRow> {
  await requireGroup(tx, caller, groupId);
  const run = isId("net", nettingRef)
    ? await lockRun(tx, { deskId: caller.deskId, groupId }, nettingRef)
    : undefined;
  if (!run) throw notFound("netting_ref");
  return run;
}

/** By descending precedence: used, expired, empty. */
async function refuseUnusable(tx: Tx, run: RunRow, now: Date): Promise<void> {
  if (run.crossed_at) {
    const crosses = await listCrosses(tx, run.desk_id, run.netting_ref);
    throw new Failure("conflict", "the netting was turned into crosses already", {
      detail: { reason: "netting_used", cross_ids: crosses.map(({ cross_id }) => cross_id) },
    });
  }
  if (run.valid_until <= now) {
    throw new Failure("conflict", "the netting's time is over; ask for a new one", {
      detail: { reason: "netting_expired", valid_until: istTimestamp(run.valid_until) },
    });
  }
  if (run.proposals.length === 0) {
    throw new Failure("conflict", "the netting moves nothing", {
      detail: { reason: "nothing_to_cross" },
    });
  }
}

function newCrosses({ netting_ref, proposals }: RunRow, iecs: ReadonlyMap<string, string>) {
  return groupLots(proposals).map((lot) => ({
    kind: "intra_group" as const,
    seller: { firmId: lot.from_firm_id, iec: iecs.get(lot.from_firm_id) ?? "" },
    buyer: { firmId: lot.to_firm_id, iec: iecs.get(lot.to_firm_id) ?? "" },
    scheme: lot.scheme,
    scripNos: lot.scrip_nos,
    facePaise: lot.face_paise,
    priceBps: lot.price_bps,
    proposedBy: "sell" as const,
    nettingRef: netting_ref,
  }));
}

/** The IECs of the members; refuses when a firm of the netting has left the group. */
async function findMemberIecs(tx: Tx, run: RunRow): Promise<ReadonlyMap<string, string>> {
  const members = await listMembers(tx, { deskId: run.desk_id, groupId: run.group_id });
  const iecs = new Map(members.map(({ firm_id, iec }) => [firm_id, iec ?? ""]));
  const parties = run.proposals.flatMap((move) => [move.from_firm_id, move.to_firm_id]);
  if (parties.every((firmId) => iecs.has(firmId))) return iecs;
  throw nettingOutdated("members", "a firm of the netting has left the group");
}

async function lockDuty(tx: Tx, run: RunRow): Promise<void> {
  const versions = new Map(
    run.proposals.map((move) => [move.requirement_id, move.requirement_version]),
  );
  const owed = await lockRequirementsForShare(tx, run.desk_id, [...versions.keys()]);
  const isSame = owed.every((now) => versions.get(now.requirement_id) === now.version);
  if (isSame && owed.length === versions.size) return;
  throw nettingOutdated("requirements", "duty that the netting was to pay has changed");
}

function nettingOutdated(changed: "members" | "requirements", message: string): Failure {
  return new Failure("conflict", message, { detail: { reason: "netting_outdated", changed } });
}

async function viewCrosses(tx: Tx, run: RunRow): Promise<NettingCrosses> {
  const rows = await listCrosses(tx, run.desk_id, run.netting_ref);
  return {
    group_id: run.group_id,
    netting_ref: run.netting_ref,
    crosses: rows.map((row) => ({
      cross_id: row.cross_id,
      from_firm_id: row.seller_firm_id,
      to_firm_id: row.buyer_firm_id,
      scheme: row.scheme,
      scrip_nos: [...row.scrip_nos],
      face_paise: row.face_paise,
      price_bps: row.price_bps,
      all_in_paise: row.buyer_paise,
      status: row.state,
      version: row.version,
    })),
  };
}
