import type { Caller } from "../kernel/caller.ts";
import type { Paise } from "../kernel/money.ts";
import { istDay } from "../kernel/time.ts";
import { moneyLimits } from "../keys/money-limits.ts";
import type { Tx } from "../platform/postgres.ts";
import { aboveKeyLimit } from "./refusals.ts";
import { addToKeyDays, lockKeyDays } from "./store.ts";

/**
 * Counts a deal that is made without an order against what its key may do, or refuses it. To be
 * called after everything else that is locked, as orders do.
 */
export async function spendKeyLimits(
  tx: Tx,
  { keyId }: Pick<Caller, "keyId">,
  { paise, now }: { readonly paise: Paise; readonly now: Date },
): Promise<void> {
  const limits = (await moneyLimits(tx, [keyId])).get(keyId);
  if (!limits) return;
  const { max_order_paise: orderMax, daily_notional_paise: dayMax } = limits;
  if (orderMax !== null && paise > orderMax) throw aboveKeyLimit("max_order_paise");
  if (dayMax === null) return;
  const today = istDay(now);
  const [day] = await lockKeyDays(tx, today, [keyId]);
  if ((day?.ordered_paise ?? 0) + paise > dayMax) throw aboveKeyLimit("daily_notional_paise");
  await addToKeyDays(tx, today, [{ keyId, paise }]);
}
