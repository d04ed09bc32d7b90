import type { Environment } from "../kernel/caller.ts";
import { type IstDay, istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Letterhead } from "../platform/pdf.ts";
import type { Db, Query } from "../platform/postgres/postgres.ts";
import {
  findCurrentHouse,
  firmIsHouse,
  type HouseInLaw,
  houseIncomplete,
  isOfHouse,
  listMissingParticulars,
  type NeededParticular,
} from "./rules.ts";
import { findHouseRow, type HouseRow, listHouseRows } from "./store.ts";

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

/** The head of papers of a day: the house's, or the one in the settings until the house is set. */
export async function findLetterhead(
  db: Db,
  { environment, on }: { readonly environment: Environment; readonly on: IstDay },
  inSettings: Letterhead,
): Promise<Letterhead> {
  const house = await findHouse(db, environment, on);
  if (!house) return inSettings;
  return { name: house.legal_name, address: house.address, gstin: house.gstin, cin: house.cin };
}

type ShownHouse = {
  readonly environment: Environment;
  readonly house: HouseInLaw | null;
  readonly missing: readonly NeededParticular[];
  readonly versions: readonly HouseInLaw[];
};

/** Who the house is now, what it lacks, and every version. */
export async function showHouse(
  { db, now }: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<ShownHouse> {
  const versions = await listHouses(db, environment);
  const house = findCurrentHouse(versions, istDay(now())) ?? null;
  const missing = listMissingParticulars(house ?? undefined);
  return { environment, house, missing, versions };
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

/** Every version, the latest first. */
export async function listHouses(db: Db, environment: Environment): Promise<HouseInLaw[]> {
  return (await listHouseRows(db, environment)).map(toHouse);
}

/** Refuses a firm that is the house, or will be by particulars that are set for a later day. */
export async function refuseHouse(
  db: Db,
  environment: Environment,
  { firm, on }: { readonly firm: Parameters<typeof isOfHouse>[1]; readonly on: IstDay },
): Promise<void> {
  const versions = await listHouses(db, environment);
  const current = findCurrentHouse(versions, on);
  const isOne = versions.some(
    (house) => (house === current || house.effective_from > on) && isOfHouse(house, firm),
  );
  if (isOne) throw firmIsHouse();
}

export function toHouseRow({ bank, ...house }: HouseInLaw): HouseRow {
  return {
    ...house,
    bank_beneficiary: bank?.beneficiary ?? null,
    bank_account_no: bank?.account_no ?? null,
    bank_ifsc: bank?.ifsc ?? null,
    bank_name: bank?.bank ?? null,
  };
}

function toHouse({
  bank_beneficiary: beneficiary,
  bank_account_no: account_no,
  bank_ifsc: ifsc,
  bank_name: bank,
  ...house
}: HouseRow): HouseInLaw {
  const isWhole = beneficiary !== null && account_no !== null && ifsc !== null && bank !== null;
  return { ...house, bank: isWhole ? { beneficiary, account_no, ifsc, bank } : null };
}
