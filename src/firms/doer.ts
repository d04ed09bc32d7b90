// Who acts on a firm, and on which firms they may act.

import { type Actor, actorOf, operator } from "../kernel/actor.ts";
import type { Call, Caller } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import type { Db } from "../platform/postgres.ts";
import { findDeskOfFirm } from "./store.ts";

export type Doer = {
  readonly actor: Actor;
  readonly deskId: string;
  /** The only firm that exists for this doer; null when it is the whole desk. */
  readonly boundTo: string | null;
  readonly dryRun: boolean;
};

/** A sub_account key acts for one client firm, and no other is there for it. */
export function boundFirm({ kind, firmId }: Caller): string | null {
  return kind === "sub_account" ? firmId : null;
}

export function doerOf(call: Call): Doer {
  return {
    actor: actorOf(call),
    deskId: call.caller.deskId,
    boundTo: boundFirm(call.caller),
    dryRun: call.dryRun,
  };
}

/** The operator is on no desk and acts on the firm's own. */
export async function operatorOn(
  { db }: { readonly db: Db },
  firmId: string,
  actor = operator,
): Promise<Doer> {
  const deskId = (await findDeskOfFirm(db, firmId)) ?? "";
  return { actor, deskId, boundTo: null, dryRun: false };
}

/** What only a key of the whole desk may do. */
export function refuseBound({ boundTo }: Pick<Doer, "boundTo">, what: string): void {
  if (boundTo === null) return;
  throw new Failure("forbidden", `a sub_account key may not ${what}`, {
    detail: { reason: "sub_account_key" },
  });
}

/** What the operator suspended, only the operator resumes or lets go. */
export function refuseToOverrule(
  { actor }: Pick<Doer, "actor">,
  { suspended_by }: { readonly suspended_by: string | null },
): void {
  if (suspended_by !== "operator" || actor.kind === "operator") return;
  throw new Failure("forbidden", "the operator suspended this firm", {
    detail: { reason: "suspended_by_operator" },
  });
}
