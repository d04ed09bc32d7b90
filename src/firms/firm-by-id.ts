import type { Db } from "../platform/postgres.ts";
import type { FirmOfDesk } from "./firm-of-desk.ts";
import { listFirmsById } from "./store.ts";

/** A firm that something of the service's own is about, whoever's desk it is on. */
export async function firmById(db: Db, firmId: string): Promise<FirmOfDesk> {
  const [firm] = await listFirmsById(db, [firmId]);
  if (!firm) throw new Error(`the books know ${firmId} and nobody else does`);
  return firm;
}
