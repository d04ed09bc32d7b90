// The keys of streams that stay open. A key that was let in is looked at again and again, and
// thousands of them at once, so the question is which of them changed since: only those go through
// the look-up of every request again, which says whether they would still be let in.

import type { Context } from "../platform/context.ts";
import type { Authenticate } from "./authenticate.ts";
import { parseApiKey } from "./rules.ts";
import { findChangedKeys, type WatchedKey } from "./store.ts";

/** Which of these keys would not be let in any more; a throw means that nobody can say now. */
export type WatchKeys = (headers: readonly string[]) => Promise<ReadonlySet<string>>;

export function keyWatcher(
  { db, now }: Pick<Context, "db" | "now">,
  authenticate: Authenticate,
): WatchKeys {
  let watched: ReadonlyMap<string, WatchedKey> = new Map();

  return async function deadAmong(headers) {
    const looked = new Map(
      headers.map((header) => [header, watched.get(header) ?? unseen(header)]),
    );
    const changed = await findChangedKeys(db, [...looked.values()], now());
    const changedById = new Map(changed.map((key) => [key.key_id, key]));
    const again = [...looked].filter(([, { key_id }]) => changedById.has(key_id));
    const found = again.length > 0 ? await authenticate(again.map(([header]) => header)) : [];
    for (const [header, { key_id }] of again) {
      looked.set(header, changedById.get(key_id) ?? unseen(header));
    }
    watched = looked;
    return new Set(again.flatMap(([header], at) => (found[at] ? [] : [header])));
  };
}

/** No key has this version, so a key that was never looked at has changed. */
function unseen(header: string): WatchedKey {
  return { key_id: parseApiKey(header)?.keyId ?? "", versions: 0 };
}
