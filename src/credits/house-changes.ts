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
} from "./house-store.ts";

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

export type HouseChanges = {
  readonly horizon: Horizon;
  /** Undefined when there are so many that reading everything anew is as good. */
  readonly changes: readonly HouseChange[] | undefined;
};

/** What changed since a horizon; nothing without one. */
export async function houseChanges(
  db: Db,
  environment: Environment,
  since: Horizon | null,
): Promise<HouseChanges> {
  const look = { horizon: since, limit: pageSize + 1 };
  const rows = await listHouseChanges(db, environment, look);
  const [first] = rows;
  if (!first) throw new Error("there is always a horizon");
  const isTold = rows.length <= pageSize;
  const changes = isTold ? rows.flatMap((row) => changeOf(row) ?? []) : undefined;
  return { horizon: first.horizon, changes };
}

function changeOf({ scrip_no, scheme, face_paise, expires_on }: HouseChangeRow) {
  if (scrip_no === null) return undefined;
  const listed = face_paise === null ? undefined : { scrip_no, scheme, face_paise, expires_on };
  return { scripNo: scrip_no, scheme, listed };
}
