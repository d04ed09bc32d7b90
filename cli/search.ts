// What commands that list things over all desks share.

import { environments } from "../src/kernel/caller.ts";
import type { DeskSearch } from "../src/kernel/desk-search.ts";
import type { Leaf, PageQuery } from "../src/kernel/page.ts";
import { findNames, type Narrowing, resolveSearch } from "../src/overview/desks.ts";
import type { Context } from "../src/platform/context.ts";
import { parseChoice, wholeNumber } from "./command.ts";
import type { Act } from "./operators.ts";
import { withOperator } from "./operators.ts";
import { print } from "./print.ts";

const rowsMost = 10_000;

export const pageOptions = {
  limit: { default: "100", help: "how many at most" },
  cursor: { help: "go on after the last page, which said this" },
} as const;

export const spanOptions = {
  from: { help: "only from this day (YYYY-MM-DD, IST) or time on" },
  to: { help: "only up to this day, or before this time" },
} as const;

export const searchOptions = {
  env: { help: "only live or only sandbox" },
  desk: { help: "only of this desk, by its id" },
  firm: { help: "only of this firm, by its id" },
  ...spanOptions,
  ...pageOptions,
} as const;

type SearchValues = {
  readonly env?: string | undefined;
  readonly desk?: string | undefined;
  readonly firm?: string | undefined;
  readonly order?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: string;
  readonly cursor?: string | undefined;
  readonly json: boolean;
};

export function parsePage({ limit, cursor }: Pick<SearchValues, "limit" | "cursor">): PageQuery {
  return { limit: Math.min(wholeNumber("limit", limit), rowsMost), cursor };
}

type NarrowingValues = Omit<SearchValues, "limit" | "cursor" | "json">;

export function parseNarrowing(values: NarrowingValues): Narrowing {
  const { env, desk, firm, order, from, to } = values;
  const environment = env === undefined ? undefined : parseChoice("env", env, environments);
  return { environment, desk_id: desk, firm_id: firm, order_id: order, from, to };
}

/** Whoever may read it: what is all of the sandbox asks nobody. */
export function toReading(values: NarrowingValues): Act {
  const { environment, desk_id, firm_id, order_id } = parseNarrowing(values);
  const about = [desk_id, firm_id, order_id].filter((id) => id !== undefined);
  return { permission: "read", environment, ...(about.length > 0 && { about }) };
}

/** Lists over all desks, as whoever may read them, and prints a table with the firms' names. */
export async function printSearch<Row>(
  values: SearchValues,
  {
    list,
    listFirmIds,
    toRow,
  }: {
    readonly list: (ctx: Context, search: DeskSearch & PageQuery) => Promise<Leaf<Row>>;
    readonly listFirmIds: (row: Row) => readonly (string | null)[];
    readonly toRow: (row: Row) => Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const narrowing = parseNarrowing(values);
  const page = parsePage(values);
  const act = toReading(values);
  const { rows, nextCursor, names } = await withOperator(values, act, async ({ ctx }) => {
    const leaf = await list(ctx, { ...(await resolveSearch(ctx, narrowing)), ...page });
    return { ...leaf, names: await findNames(ctx.db, leaf.rows.flatMap(listFirmIds)) };
  });
  print(rows.map(toRow), { json: values.json, names });
  if (nextCursor !== null && !values.json) {
    process.stderr.write(`scripdesk: there are more: add --cursor ${nextCursor}\n`);
  }
}

/** One of the known words, or nothing. */
export function readOptionalWord<const Allowed extends readonly string[]>(
  name: string,
  text: string | undefined,
  allowed: Allowed,
): Allowed[number] | undefined {
  return text === undefined ? undefined : parseChoice(name, text, allowed);
}
