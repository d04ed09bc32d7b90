// Rotates the master key while the service runs:
//
//   both     every process has both keys: it opens with either and seals with the new one
//   reseal   rows that are sealed with the old key are sealed again with the new one, in passes until one
//            finds none; after an interruption it starts again
//   retire   the database refuses processes that would seal with the old key

import { sealedDetails } from "./bankbook/list-queue.ts";
import { sealedPayingAccounts } from "./bankbook/paying-account.ts";
import { recordChanges } from "./journal/record-changes.ts";
import { sealedAccounts } from "./firms/bank-accounts.ts";
import type { Actor } from "./kernel/actor.ts";
import { Failure } from "./kernel/failure.ts";
import { houseFirmId } from "./kernel/ids.ts";
import type { MasterKeys } from "./open-context.ts";
import { sealedAuthenticators } from "./operators/sign-in.ts";
import { sealedFileLines } from "./payouts/read-files.ts";
import type { Context } from "./platform/context.ts";
import {
  masterKeyCheck,
  resealPlace,
  type ResealProgress,
  type SealedPlace,
} from "./platform/master-key.ts";
import { findMasterKeyChecks, retireMasterKey } from "./platform/master-key-store.ts";
import { sealedTerms } from "./secondkeys/proposals.ts";
import { sealedPersons } from "./market/enquiries.ts";
import { sealedWebhooks } from "./webhooks/signing-secrets.ts";

type Rotating = Pick<Context, "db" | "now" | "sealKey">;

/** Every sealed column. */
export function sealedPlaces(ctx: Rotating): SealedPlace[] {
  return [
    sealedAccounts(ctx),
    sealedFileLines(ctx),
    sealedDetails(ctx),
    sealedPayingAccounts(ctx),
    ...sealedWebhooks(ctx),
    sealedAuthenticators(ctx),
    sealedTerms(ctx),
    sealedPersons(ctx) as unknown as SealedPlace, // Its rows go to its own functions only.
  ];
}

type Rotated = {
  readonly looked: number;
  readonly resealed: number;
  readonly unreadable: readonly string[];
  readonly status: "replaced" | "was replaced";
};

const passesMax = 20;

export async function rotateMasterKey(
  ctx: Rotating,
  actor: Actor,
  {
    keys: { main, other },
    leaveUnreadable,
    onProgress,
  }: {
    readonly keys: MasterKeys;
    readonly leaveUnreadable: boolean;
    readonly onProgress: (progress: ResealProgress) => void;
  },
): Promise<Rotated> {
  if (!other) {
    throw new Failure(
      "conflict",
      "give the new key as MASTER_KEY and the old one as MASTER_KEY_OTHER",
    );
  }
  const checks = { from: masterKeyCheck(other), to: masterKeyCheck(main) };
  const kept = await findMasterKeyChecks(ctx.db);
  const isRetired = kept?.retired.some((check) => check.equals(checks.from)) ?? false;
  if (kept?.key_check.equals(checks.to) && !isRetired) {
    const message =
      "MASTER_KEY is the old key: give the new one as MASTER_KEY, this one as MASTER_KEY_OTHER";
    throw new Failure("conflict", message);
  }
  const done = await resealAll(ctx, { leaveUnreadable, onProgress });
  const now = ctx.now();
  const isNew = await ctx.db.transaction(async (tx) => {
    if (!(await retireMasterKey(tx, checks))) return false;
    const after = { resealed: done.resealed, unreadable: done.unreadable.length };
    await recordChanges(tx, actor, [toKeyChange(checks.to.toString("hex"), after)], now);
    return true;
  });
  return { ...done, status: isNew ? "replaced" : "was replaced" };
}

async function resealAll(
  ctx: Rotating,
  {
    leaveUnreadable,
    onProgress,
  }: { readonly leaveUnreadable: boolean; readonly onProgress: (progress: ResealProgress) => void },
): Promise<Omit<Rotated, "status">> {
  let resealed = 0;
  for (let pass = 0; pass < passesMax; pass++) {
    let [looked, found] = [0, 0];
    const unreadable: string[] = [];
    for (const place of sealedPlaces(ctx)) {
      let last: ResealProgress | undefined;
      for await (const progress of resealPlace(place, ctx.sealKey)) {
        onProgress(progress);
        last = progress;
      }
      looked += last?.looked ?? 0;
      found += last?.resealed ?? 0;
      unreadable.push(...(last?.unreadable ?? []).map((id) => `${place.name} ${id}`));
    }
    resealed += found;
    if (unreadable.length > 0 && !leaveUnreadable) throw unreadableRows(unreadable);
    if (found === 0) return { looked, resealed, unreadable };
  }
  throw new Failure(
    "conflict",
    "something still seals with the old key: see that every process has both",
  );
}

function unreadableRows(unreadable: readonly string[]): Failure {
  const shown = unreadable.slice(0, 5).join(", ");
  const message = `neither key opens ${unreadable.length} rows (${shown}): restore them, or leave them with --leave-unreadable`;
  return new Failure("conflict", message, { detail: { reason: "unreadable", unreadable } });
}

/** The audit record names the new key by a digest, never by the key itself. */
function toKeyChange(id: string, after: object) {
  const house = houseFirmId.live;
  return {
    environment: "live",
    deskId: house,
    firmId: house,
    action: "master_key.replace",
    entity: { type: "master_key", id: id.slice(0, 16), version: 1, href: "/v1/audit/keys" },
    before: null,
    after,
  } as const;
}
