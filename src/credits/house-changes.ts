// The house's listed credits, for whoever keeps a copy of them: pages of what there is, then what
// changed. A change is found by the transaction that wrote it. All transactions below the horizon
// have ended, so whoever looks again from there misses nothing; what is above it and already visible
// is told at once, and told again by the next look.

import type { Environment } from "../kernel/caller.ts";
import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres.ts";
import {
  type HouseChangeRow,
  type HouseCreditRow,
  listHouseChanges,
  listHouseCredits,
} from "./store.ts";

export type HouseCredit = HouseCreditRow;

/** The oldest transaction that had not ended. */
export type Horizon = string;

export type HouseChange = {
  readonly scripNo: string;
  readonly scheme: Scheme;
  /** Undefined when the house does not sell it any more. */
  readonly listed: HouseCredit | undefined;
};

const pageSize = 5_000;

/** Everything the house has to sell, by rising number, in pages. */
export async function* houseCredits(
  db: Db,
  environment: Environment,
): AsyncGenerator<readonly HouseCredit[]> {
  let page: readonly HouseCredit[] = [];
  do {
    const after = page.at(-1)?.scrip_no ?? "";
    page = await listHouseCredits(db, environment, { after, limit: pageSize });
    yield page;
  } while (page.length === pageSize);
}

/** What changed since a horizon; nothing without one. */
export async function houseChanges(
  db: Db,
  environment: Environment,
  since: Horizon | null,
): Promise<{ readonly horizon: Horizon; readonly changes: readonly HouseChange[] }> {
  const rows = await listHouseChanges(db, environment, since);
  const [first] = rows;
  if (!first) throw new Error("there is always a horizon");
  return { horizon: first.horizon, changes: rows.flatMap((row) => changeOf(row) ?? []) };
}

function changeOf(row: HouseChangeRow): HouseChange | undefined {
  if (row.changed === null) return undefined;
  const listed = row.face_paise === null ? undefined : row;
  return { scripNo: row.changed, scheme: row.scheme, listed };
}
