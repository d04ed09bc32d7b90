import type { Db } from "../platform/postgres.ts";
import type { PayoutKind } from "./rules.ts";
import { listLines, listPayoutsById } from "./store.ts";

/** What the money of a payout comes from, to the order. */
export type ExplainedPayout = {
  readonly payout_id: string;
  readonly kind: PayoutKind;
  /** Null for a withdrawal. */
  readonly settlement_id: string | null;
  readonly paise: number;
  /** The order or cross that sold each credit; a withdrawal has none. */
  readonly lines: readonly {
    readonly order_id: string;
    readonly scrip_no: string;
    readonly paise: number;
  }[];
};

/** By payout. */
export async function explainPayouts(
  db: Db,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, ExplainedPayout>> {
  if (payoutIds.length === 0) return new Map();
  const rows = await listPayoutsById(db, payoutIds);
  const lines = Map.groupBy(await listLines(db, payoutIds), ({ payout_id }) => payout_id);
  return new Map(
    rows.map(({ payout_id, kind, settlement_id, paise }) => [
      payout_id,
      {
        payout_id,
        kind,
        settlement_id,
        paise,
        lines: (lines.get(payout_id) ?? []).map(({ payout_id: _id, ...line }) => line),
      },
    ]),
  );
}
