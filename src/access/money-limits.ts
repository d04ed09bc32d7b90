// What a key may commit per deal and per day. Everything that commits money or credits passes here.
// Orders are decided in sets, so they lock the day and add to it themselves; everything else calls
// `spendKeyLimits`. Lock order: firms, the key's day, credits.

import { aboveKeyLimit, type Caller, type Environment } from "../kernel/caller.ts";
import { asAmount, addPaise, type Paise } from "../kernel/money.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import { known, type Query, type Tx } from "../platform/postgres/postgres.ts";
import { findBrokenLimit, type MoneyLimits } from "./key-rules.ts";
import {
  addToKeyDays,
  listMoneyLimits,
  listUnfundedLimits,
  listUnpaidDays,
  lockKeyDays,
} from "./key-store.ts";

/** The limits of keys, those of their parents included; keys without a limit are left out. */
export function loadMoneyLimits(
  keyIds: readonly string[],
): Query<ReadonlyMap<string, MoneyLimits>> {
  return listMoneyLimits([...new Set(keyIds)]).map(
    (rows) => new Map(rows.map(({ key_id, ...limits }) => [key_id, limits])),
  );
}

/** How much of what a firm, and all firms of its desk, have bought may wait for money. */
export type UnfundedLimits = { readonly firmPaise: Paise; readonly deskPaise: Paise };

/** By key. */
export function loadUnfundedLimits(
  keyIds: readonly string[],
): Query<ReadonlyMap<string, UnfundedLimits>> {
  if (keyIds.length === 0) return known(new Map());
  return listUnfundedLimits([...new Set(keyIds)]).map(
    (rows) =>
      new Map(
        rows.map(({ key_id, unfunded_max_paise, unfunded_desk_max_paise }) => [
          key_id,
          { firmPaise: unfunded_max_paise, deskPaise: unfunded_desk_max_paise },
        ]),
      ),
  );
}

/** By desk, the working days for which a deal that was not paid counts. */
export function loadUnpaidDays(
  environment: Environment,
  deskIds: readonly string[],
): Query<ReadonlyMap<string, number>> {
  return listUnpaidDays(environment, deskIds).map(
    (rows) => new Map(rows.map((row) => [row.desk_id, row.unpaid_days])),
  );
}

/** What keys with a daily limit have committed today, locked. */
export function lockSpent(
  limits: ReadonlyMap<string, MoneyLimits>,
  today: IstDay,
): Query<Map<string, Paise>> {
  const limited = [...limits].flatMap(([keyId, limit]) =>
    limit.daily_notional_paise === null ? [] : [keyId],
  );
  if (limited.length === 0) return known(new Map());
  return lockKeyDays(today, limited).map(
    (rows) => new Map(rows.map((row) => [row.key_id, row.ordered_paise])),
  );
}

/** Adds to locked days. */
export function addSpent(
  today: IstDay,
  added: readonly { readonly keyId: string; readonly paise: Paise }[],
): Query<void> {
  return added.length > 0 ? addToKeyDays(today, added) : known(undefined);
}

/** Counts all of these deals, or refuses all of them. */
export async function spendKeyLimits(
  tx: Tx,
  { keyId }: Pick<Caller, "keyId">,
  { deals, now }: { readonly deals: readonly Paise[]; readonly now: Date },
): Promise<void> {
  const limits = await tx.run(loadMoneyLimits([keyId]));
  const limit = limits.get(keyId);
  if (!limit || deals.length === 0) return;
  const today = istDay(now);
  const before = (await tx.run(lockSpent(limits, today))).get(keyId) ?? 0;
  let spent = before;
  for (const paise of deals) {
    const broken = findBrokenLimit(limit, { paise, spent });
    if (broken) throw aboveKeyLimit(broken);
    spent = asAmount(addPaise(spent, paise));
  }
  if (limit.daily_notional_paise !== null) {
    await tx.run(addSpent(today, [{ keyId, paise: spent - before }]));
  }
}
