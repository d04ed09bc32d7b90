// People whom the house's directory signs in. They have no password here, and no right but to look until
// two admins grant them a role; their directory's second factor stands for ours.

import { randomBytes } from "node:crypto";

import { recordChanges } from "../journal/record-changes.ts";
import { namedOperator, personKey } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { buildOperatorChange, newOperator } from "./manage-operators.ts";
import { isName, sessionHours } from "./rules.ts";
import { hashToken, tokenPrefix } from "./sign-in.ts";
import {
  findByDirectory,
  findOperator,
  hasOperators,
  insertOperator,
  insertSession,
  lockOperators,
  type OperatorRow,
} from "./store.ts";

type Confirmed = {
  readonly issuer: string;
  readonly subject: string;
  /** What the directory calls the person, the best first. */
  readonly names: readonly string[];
  readonly authAt: Date | undefined;
};

/** Signs in whom the directory has confirmed; who is new here becomes a viewer. */
export async function enterByDirectory(
  ctx: Pick<Context, "db" | "now">,
  confirmed: Confirmed,
  { isFresh, requestId }: { readonly isFresh: boolean; readonly requestId: string },
): Promise<{ readonly token: string }> {
  const now = ctx.now();
  const token = tokenPrefix + randomBytes(32).toString("base64url");
  await ctx.db.transaction(async (tx) => {
    await lockOperators(tx);
    const { issuer, subject } = confirmed;
    const known = await findByDirectory(tx, { issuer, subject });
    if (known && known.disabled_at !== null)
      throw refuseEntry("disabled", `${known.name} is disabled`);
    const person = known ?? (await addViewer(tx, confirmed, now));
    const actor = { ...namedOperator(person.name), requestId };
    const changes = [buildOperatorChange("sign_in", person)];
    if (!known) changes.unshift(buildOperatorChange("add", person));
    await insertSession(tx, {
      token_hash: hashToken(token),
      operator_id: person.operator_id,
      created_at: now,
      expires_at: new Date(now.getTime() + sessionHours * 3_600_000),
      proved_at: findProvedAt(confirmed.authAt, { isFresh, now }),
    });
    await recordChanges(tx, actor, changes, now);
  });
  return { token };
}

/** By our own clock where the directory was told to ask anew; a time to come counts as now. */
function findProvedAt(
  authAt: Date | undefined,
  { isFresh, now }: { readonly isFresh: boolean; readonly now: Date },
): Date {
  if (isFresh || (authAt && authAt > now)) return now;
  return authAt ?? new Date(0);
}

async function addViewer(tx: Tx, confirmed: Confirmed, now: Date): Promise<OperatorRow> {
  // Otherwise a first person who may only look would lock the house.
  if (!(await hasOperators(tx))) {
    throw refuseEntry("nobody_yet", "the first person is an admin, who is added on the machine");
  }
  const name = confirmed.names.map((one) => one.trim()).find(isName);
  if (name === undefined) {
    throw refuseEntry("no_name", `nobody here can be called ${confirmed.names.join(" or ")}`);
  }
  const other = await findOperator(tx, personKey(name));
  if (other) throw refuseEntry("name_taken", `${other.name} is somebody else here`);
  const row: OperatorRow = {
    ...newOperator({ name, role: "viewer", created_by: "directory" }, now),
    directory_issuer: confirmed.issuer,
    directory_subject: confirmed.subject,
  };
  await insertOperator(tx, [row]);
  return row;
}

function refuseEntry(reason: string, message: string): Failure {
  return new Failure("forbidden", message, { detail: { reason } });
}
