import type { Context } from "../platform/context.ts";
import { countDesks as countRows } from "./store.ts";

export async function countDesks({ db }: Pick<Context, "db">): Promise<number> {
  return await countRows(db);
}
