import type { Scheme } from "../kernel/scheme.ts";
import type { Db } from "../platform/postgres.ts";
import type { IndexFigure } from "./rules.ts";
import { findLastFigure } from "./store.ts";

/** The figure of the last fixed day; undefined before there is one. */
export async function latestIndex(db: Db, scheme: Scheme): Promise<IndexFigure | undefined> {
  return await findLastFigure(db, scheme, null);
}
