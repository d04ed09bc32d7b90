// What operations of operators say alike: where they belong, and the vocabulary of their queries and bodies.

import { type Static, type TObject, type TProperties, Type } from "typebox";

import type { ApprovalKind } from "../operators/approval-kind.ts";
import type { LostCreditHook } from "../credits/registry-news.ts";
import type { HouseKind } from "../house/set-house.ts";
import type { AttestationKind } from "../outside/attest.ts";
import type { Permission } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { Letterhead } from "../platform/pdf.ts";
import { cutPage, type Leaf, pageSizeDefault, type PageQuery } from "../kernel/page.ts";
import { schemes } from "../kernel/scheme.ts";
import { findNames, type Narrowing, resolveSearch } from "../overview/desks.ts";
import type { InSettings } from "../overview/live-readiness.ts";
import type { Context } from "../platform/context.ts";
import type { Boards } from "../market/stream-board.ts";
import { type Fitting, type Listing, type OperatorCall } from "../platform/http/operation.ts";
import { closedEnum, pageQuery } from "../platform/http/wire.ts";
import { wrapPage } from "./schema.ts";
import type { SettlementHooks } from "../settlement/transfer-legs.ts";

/** What the composition root provides. */
export type OpsWiring = {
  readonly kinds: readonly ApprovalKind[];
  readonly attesting: AttestationKind;
  readonly houseSetting: HouseKind;
  readonly settlementHooks: SettlementHooks;
  readonly onLost: readonly LostCreditHook[];
  readonly letterhead: Letterhead;
  readonly twoFromPaise: number;
  readonly twoFromBps: number;
  readonly boards: Boards;
  /** What the settings and the house's files say, as they are now. */
  readonly readSettings: () => Promise<InSettings>;
  /** Whether notices go out by mail. */
  readonly sendsNotices: boolean;
};

declare module "../platform/http/operation.ts" {
  interface OperatorWiring extends OpsWiring {}
}

const closed = { additionalProperties: false } as const;

/** What reads and acts under one heading of the document say first; acts leave an audit record. */
export const under = <const Tag extends string>(tag: Tag) => ({
  read: <const Path extends string>(id: string, path: Path, permission: Permission = "read") => {
    return { id, method: "GET", path, permission, tag } as const;
  },
  act: <const Path extends string, Method extends "POST" | "PUT" = "POST">(
    id: string,
    path: Path,
    permission: Permission,
    method: Method = "POST" as Method,
  ) => ({ id, method, path, permission, tag }) as const,
});

/** Of an act that a machine may do, too. */
export const takesMachines = { machines: true } as const;

export const text = (description: string, maxLength = 500) =>
  Type.String({ minLength: 1, maxLength, description });
export const paise = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
export const natural = (description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 0, maximum, description });
export const id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description });
/** The text of a CSV file. */
const csvText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1_000_000, contentMediaType: "text/csv", description });
export const optional = Type.Optional;

/** A report of the customs portal: text, or a workbook within what a body can hold. */
export const reportFiles = {
  csv: optional(csvText("The report as CSV; amounts are rupees.")),
  xlsx: optional(
    Type.String({
      minLength: 1,
      maxLength: 1_048_576,
      contentMediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      contentEncoding: "base64",
      description: "The report as a workbook, in base64.",
    }),
  ),
};

export const environment = closedEnum(environments, { description: "live or sandbox." });
export const scheme = closedEnum(schemes, { description: "The scheme of the credits." });

/** Where a page of a queue begins: the id of the last row of the page before. */
export const cursor = optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: "The next_cursor of the previous page, with the same filters.",
  }),
);

/** The query of most lists. */
export const listQuery = {
  environment: optional(environment),
  limit: optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: "How many at most. Default 100." }),
  ),
};

const when = (description: string) =>
  optional(Type.String({ minLength: 10, maxLength: 40, description }));

/** The query of lists by time. */
export const spanQuery = {
  from: when("Only made on this day (YYYY-MM-DD, IST) or at this time (ISO 8601), or later."),
  to: when("Only made up to the end of this day (YYYY-MM-DD, IST), or before this time."),
};

/** The query of lists over all desks. */
export const searchQuery = {
  ...listQuery,
  cursor: pageQuery.cursor,
  desk_id: optional(id("Only of this desk.")),
  firm_id: optional(id("Only of this firm.")),
  ...spanQuery,
};

/** A query that takes no others. */
export const query = <Taken extends TProperties>(taken: Taken) => Type.Object(taken, closed);

/** A page under its name, and where the next one begins. */
type NextPage<Name extends string, Row> = { readonly nextCursor: string | null } & {
  readonly [List in Name]: readonly Row[];
};

/** A page of a list over all desks, and the names of the firms that are on it. */
type NamedPage<Name extends string, Row> = NextPage<Name, Row> & {
  readonly names: Readonly<Record<string, string>>;
};

type Searched<Row> = {
  readonly list: (search: DeskSearch & PageQuery) => Promise<Leaf<Row>>;
  readonly listFirmIds: (row: Row) => readonly (string | null)[];
};

export async function searchDesks<Name extends string, Row>(
  { ctx, query: asked }: { readonly ctx: Context; readonly query: Narrowing & PageQuery },
  name: Name,
  { list, listFirmIds }: Searched<Row>,
): Promise<NamedPage<Name, Row>> {
  const { limit, cursor: after } = asked;
  const search = { ...(await resolveSearch(ctx, asked)), limit, cursor: after };
  const { rows, nextCursor } = await list(search);
  const names = await findNames(ctx.db, rows.flatMap(listFirmIds));
  return { [name]: rows, nextCursor, names } as NamedPage<Name, Row>; // It has the one name.
}

/** A list over all desks; `query` is what narrows it besides the desk, the firm and the time. */
export function deskSearch<Item extends TObject, Own extends TProperties, Row>({
  name,
  of,
  order,
  query: own,
  read: list,
  listFirmIds,
}: {
  readonly name: string;
  readonly of: Item;
  /** Describes the rows in the document. */
  readonly order: string;
  readonly query: Own;
  readonly read: (
    ctx: Context,
    search: DeskSearch & PageQuery & Static<TObject<Own>>,
  ) => Promise<Leaf<Fitting<Row, Item>>>;
  readonly listFirmIds: (row: Row) => readonly (string | null)[];
}): Listing<OperatorCall> {
  return {
    query: query({ ...searchQuery, ...own }),
    answer: wrapPage(name, of, order),
    run: async ({ ctx }, asked: Narrowing & PageQuery & Static<TObject<Own>>) =>
      await searchDesks({ ctx, query: asked }, name, {
        list: async (search) => await list(ctx, { ...asked, ...search }),
        listFirmIds,
      }),
  };
}

/** Rows of a page under their name, and where the next one begins: behind the id of its last row. */
export async function readQueue<Name extends string, Row>(
  name: Name,
  size: number = pageSizeDefault,
  {
    list,
    findId,
  }: {
    readonly list: (limit: number) => Promise<readonly Row[]>;
    readonly findId: (row: Row) => string;
  },
): Promise<NextPage<Name, Row>> {
  const { rows, nextCursor } = cutPage(await list(size + 1), size, findId);
  return { [name]: rows, nextCursor } as NextPage<Name, Row>; // It has the one name.
}
