// Idempotency keys. A unique index binds the key of a creating request to the created resource, in
// the transaction of the creation:
//
//   first       the key is free: it is claimed, the work is done, both commit together
//   twin        a concurrent call with the same key waits on the index until the first commits,
//               then finds its row; when the first rolls back, the twin becomes the first
//   retry       finds the row: same request, same resource
//   reuse       finds the row, but the request differs: a conflict that names the fields
//
// A failed request binds nothing, so a corrected request may use the same key.
//
// A key belongs to the firm of a sub_account key, otherwise to the desk. The same key of another owner
// is another key, so no caller learns what others created.

import { createHash } from "node:crypto";

import type { Call } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { exactJson, canonicalJson, type JsonObject } from "../../kernel/json.ts";
import { idempotencyOwner } from "../../kernel/visibility.ts";
import { sql, type Tx } from "../postgres/postgres.ts";

type IdempotencyClaim = {
  readonly call: Call;
  /** The operation, so that one key may be used once per kind of request. */
  readonly operation: string;
  readonly body: JsonObject;
  /** The field of the answer that names the resource, for the conflict's detail. */
  readonly idField: string;
  /** The id of the resource that this request creates if the key is free. */
  readonly newId: string;
  /** Whether the caller may know of the resource of the key; by default it may. */
  readonly mayKnow?: (resourceId: string) => Promise<boolean>;
  readonly now: Date;
};

/** The id of the resource that this key created earlier; undefined when the key was free. */
export async function claimIdempotencyKey(
  tx: Tx,
  claim: IdempotencyClaim,
): Promise<string | undefined> {
  const { call, operation, idField } = claim;
  if (call.idempotencyKey === undefined) return undefined;
  const binding: Binding = {
    scope: `${call.caller.environment}:${idempotencyOwner(call.caller)}:${operation}`,
    idempotencyKey: call.idempotencyKey,
    resourceId: claim.newId,
    fingerprint: computeFingerprint(claim.body),
  };
  if (await insertBinding(tx, binding, claim.now)) return undefined;
  const bound = await findBinding(tx, binding);
  if (!bound) throw new Error("a conflicting binding is visible to the next statement");
  const differs = differences(bound.fingerprint, binding.fingerprint);
  if (differs.length === 0) return bound.resource_id;
  const isNamed = claim.mayKnow === undefined || (await claim.mayKnow(bound.resource_id));
  throw keyReused("request", { ...(isNamed && { [idField]: bound.resource_id }), differs });
}

/** The conflict of a key that was used for another request; the detail names what it created. */
export function keyReused(
  what: "request" | "order",
  detail: { readonly [idField: string]: string | readonly string[]; differs: readonly string[] },
): Failure {
  return new Failure("conflict", `this idempotency key was used for a different ${what}`, {
    detail: { reason: "idempotency_key_reused", ...detail },
  });
}

/** The conflict of a retry whose resource is gone: a retry never creates a second one. */
export function createdWasDeleted(
  noun: "group" | "requirement" | "webhook",
  resourceId: string,
): Failure {
  return new Failure("conflict", `the ${noun} this idempotency key created has been deleted`, {
    detail: { reason: "deleted", [`${noun}_id`]: resourceId },
  });
}

type Fingerprint = Readonly<Record<string, string>>;

type Binding = {
  readonly scope: string;
  readonly idempotencyKey: string;
  readonly resourceId: string;
  readonly fingerprint: Fingerprint;
};

/** A short digest per field: enough to compare fields, and the values cannot be read back. */
export function computeFingerprint(body: JsonObject): Fingerprint {
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const digest = createHash("sha256").update(canonicalJson(value)).digest("base64url");
      return [name, digest.slice(0, 22)];
    }),
  );
}

export function differences(bound: Fingerprint, asked: Fingerprint): string[] {
  const names = new Set([...Object.keys(bound), ...Object.keys(asked)]);
  return [...names].filter((name) => bound[name] !== asked[name]).toSorted();
}

/** Waits for a concurrent holder of the same key to commit or roll back. */
async function insertBinding(tx: Tx, binding: Binding, now: Date): Promise<boolean> {
  const inserted = await tx.rows(sql`
    insert into idempotency_keys (scope, idempotency_key, resource_id, fingerprint, created_at)
    values (
      ${binding.scope}, ${binding.idempotencyKey}, ${binding.resourceId},
      ${exactJson(binding.fingerprint)}::jsonb, ${now}
    )
    on conflict (scope, idempotency_key) do nothing
    returning 1`);
  return inserted.length > 0;
}

/** A second statement, because the snapshot of the first may be older than the conflicting row. */
async function findBinding(
  tx: Tx,
  { scope, idempotencyKey }: Binding,
): Promise<{ resource_id: string; fingerprint: Fingerprint } | undefined> {
  const [row] = await tx.rows<{ resource_id: string; fingerprint: Fingerprint }>(sql`
    select resource_id, fingerprint
    from idempotency_keys
    where scope = ${scope} and idempotency_key = ${idempotencyKey}`);
  return row;
}
