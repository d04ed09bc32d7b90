// How much face the house takes on in one IST day, for one scheme, across every node. Orders decide
// under the lock of their market, on the day's figure that comes with the card, and note here what
// they made the house take on. A binding quote is honoured beyond the limit, so the figure may pass
// it; what a failed deal had taken is not given back: the limit is on what the house agrees to.

import type { Tx } from "../platform/postgres.ts";
import type { IstDay } from "../kernel/time.ts";
import { addToHouseDays, type HouseTaking } from "./store.ts";

export async function noteHouseTaken(
  tx: Tx,
  day: IstDay,
  takings: readonly HouseTaking[],
): Promise<void> {
  await addToHouseDays(tx, day, takings);
}
