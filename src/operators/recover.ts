// Letting an admin in on the machine, where nobody is left who could do it: the record of it goes to every
// admin, by mail and on their page of the day.
//
//   an admin who can be invited or enrolled   loses password, authenticator and sessions, and enrols anew
//   somebody new, or a disabled admin         only while fewer than two admins can sign in with a password;
//                                             others are lost with their directory
//
// Whoever may run commands on the machine holds the database and its keys, so this opens nothing to them;
// it keeps the house from being locked out, and is loud.

import { recordChanges } from "../journal/record-changes.ts";
import { operator, personKey, refuseBadReason } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import {
  buildEnrolment,
  buildOperatorChange,
  hashCode,
  isAdmin,
  newCode,
  newOperator,
  refuseOfDirectory,
  type OperatorView,
  viewOperator,
} from "./manage-operators.ts";
import { adminsMin, cleanName, recoverHours } from "./rules.ts";
import {
  findOperator,
  insertOperator,
  listOperatorRows,
  lockOperators,
  type OperatorRow,
  revokeSessions,
  setOperator,
  setRecoveryCodes,
} from "./store.ts";

type Recovered = {
  readonly operator: OperatorView;
  /** Enrols the person once, within a day. */
  readonly code: string;
};

export async function recoverAdmin(
  ctx: Pick<Context, "db" | "now">,
  {
    name: given,
    reason,
    by,
  }: {
    readonly name: string;
    readonly reason: string;
    /** The user of the machine, as `root@desk-1`. */
    readonly by: string;
  },
): Promise<Recovered> {
  const now = ctx.now();
  const name = cleanName(given);
  refuseBadReason(reason);
  const code = newCode();
  return await ctx.db.transaction(async (tx) => {
    await lockOperators(tx);
    const before = await findOperator(tx, personKey(name));
    refuseOthers(before, (await listOperatorRows(tx)).filter(isLocalAdmin).length);
    const after: OperatorRow = {
      ...(before ?? newOperator({ name, role: "admin", created_by: operator.id }, now)),
      password_hash: null,
      totp_sealed: null,
      ...buildEnrolment([hashCode(code)], now, recoverHours),
      disabled_at: null,
      recovered_at: now,
      version: (before?.version ?? 0) + 1,
    };
    if (before) {
      await setOperator(tx, after);
      await setRecoveryCodes(tx, after.operator_id, []);
      await revokeSessions(tx, after.operator_id, { now });
    } else await insertOperator(tx, [after]);
    const event = {
      name: "operator.recovered",
      from: null,
      to: null,
      data: { name: after.name, by, reason, recovered_at: istTimestamp(now) },
    };
    await recordChanges(tx, operator, [{ ...buildOperatorChange("recover", after), event }], now);
    return { operator: viewOperator(after), code };
  });
}

function isLocalAdmin(person: OperatorRow): boolean {
  return isAdmin(person) && person.directory_subject === null;
}

function refuseOthers(person: OperatorRow | undefined, admins: number): void {
  if (person) refuseOfDirectory(person);
  if (person && person.role !== "admin") {
    throw new Failure("conflict", `${person.name} is no admin: an admin resets them`, {
      detail: { reason: "not_admin", role: person.role },
    });
  }
  if (person?.disabled_at === null || admins < adminsMin) return;
  const what = person ? `${person.name} is disabled` : "nobody is called so";
  throw new Failure("conflict", `${what}, and there are admins who let people in`, {
    detail: { reason: "admins_left", admins },
  });
}
