import { recordChanges } from "../events/record-changes.ts";
import { type Actor, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import { changeOfOperator, type OperatorView, viewOperator } from "./change-of-operator.ts";
import {
  findOperator,
  listOperators as listRows,
  lockOperators,
  type OperatorRow,
  revokeSessions,
  setOperator,
} from "./store.ts";

/**
 * Ends a person's sessions at once. One admin is enough, because it may have to be quick; letting
 * them in again takes two.
 */
export async function disableOperator(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  name: string,
): Promise<OperatorView> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    await lockOperators(tx);
    const before = await findOperator(tx, personKey(name));
    if (!before) throw new Failure("not_found", `nobody is called ${name}`);
    if (before.disabled_at !== null) return viewOperator(before);
    refuseLastAdmin(before, await listRows(tx));
    const after: OperatorRow = {
      ...before,
      enrol_hashes: null,
      enrol_until: null,
      disabled_at: now,
      version: before.version + 1,
    };
    await setOperator(tx, after);
    await revokeSessions(tx, before.operator_id, now);
    await recordChanges(tx, actor, [changeOfOperator("disable", before, after)], now);
    return viewOperator(after);
  });
}

/** Without an admin nobody could let anybody in. */
function refuseLastAdmin(person: OperatorRow, everybody: readonly OperatorRow[]): void {
  const isAdmin = ({ role, disabled_at, password_hash }: OperatorRow) =>
    role === "admin" && disabled_at === null && password_hash !== null;
  if (!isAdmin(person) || everybody.filter(isAdmin).length > 1) return;
  throw new Failure("conflict", `${person.name} is the last admin`, {
    detail: { reason: "last_admin" },
  });
}

export async function listOperators(ctx: Pick<Context, "db">): Promise<OperatorView[]> {
  return (await listRows(ctx.db)).map(viewOperator);
}
