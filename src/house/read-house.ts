import type { Environment } from "../kernel/caller.ts";
import type { IstDay } from "../kernel/time.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import { type HouseInLaw, houseIncomplete, listMissingParticulars } from "./rules.ts";
import { findHouseRow, type HouseRow } from "./store.ts";

/** Who the house is on a day; undefined before anybody has said it. */
export async function findHouse(
  db: Db,
  environment: Environment,
  on: IstDay,
): Promise<HouseInLaw | undefined> {
  return await db.run(loadHouse(environment, on));
}

/** The same for a statement that travels with others. */
export function loadHouse(environment: Environment, on: IstDay): Query<HouseInLaw | undefined> {
  return findHouseRow(environment, on).map((row) => row && toHouse(row));
}

/** Refuses what takes a house that others can deal with. */
export async function refuseIncompleteHouse(
  db: Db,
  environment: Environment,
  on: IstDay,
): Promise<void> {
  const missing = listMissingParticulars(await findHouse(db, environment, on));
  if (missing.length > 0) throw houseIncomplete(missing);
}

export function toHouse({
  bank_beneficiary: beneficiary,
  bank_account_no: account_no,
  bank_ifsc: ifsc,
  bank_name: bank,
  ...house
}: HouseRow): HouseInLaw {
  const isWhole = beneficiary !== null && account_no !== null && ifsc !== null && bank !== null;
  return { ...house, bank: isWhole ? { beneficiary, account_no, ifsc, bank } : null };
}
