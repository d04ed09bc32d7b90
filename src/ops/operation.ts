// An operation of the operators' API: its input, its permission and its use case, which the command
// line shares. Routes, the OpenAPI document and the matrix of roles are generated from operations.

import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";

import type { ApprovalKind } from "../operators/approval-kind.ts";
import type { LostCreditHook } from "../credits/registry-news.ts";
import type { AttestationKind } from "../outside/attest.ts";
import type { Actor } from "../kernel/actor.ts";
import { environments } from "../kernel/caller.ts";
import type { DeskSearch } from "../kernel/desk-search.ts";
import type { Letterhead } from "../platform/pdf.ts";
import type { Leaf, PageQuery } from "../kernel/page.ts";
import { schemes } from "../kernel/scheme.ts";
import type { Permission } from "../operators/rules.ts";
import { findNames, type Narrowing, resolveSearch } from "../overview/desks.ts";
import type { Context } from "../platform/context.ts";
import type { Boards } from "../market/stream-board.ts";
import type { Stream } from "../platform/http/sse.ts";
import { closedEnum } from "../platform/http/wire.ts";
import type { SettlementHooks } from "../settlement/transfer-legs.ts";
import type { Served } from "./serialize-answer.ts";

/** What the composition root provides. */
export type OpsWiring = {
  readonly kinds: readonly ApprovalKind[];
  readonly attesting: AttestationKind;
  readonly settlementHooks: SettlementHooks;
  readonly onLost: readonly LostCreditHook[];
  readonly letterhead: Letterhead;
  readonly twoFromPaise: number;
  readonly twoFromBps: number;
  readonly boards: Boards;
  /** Whether notices go out by mail. */
  readonly sendsNotices: boolean;
};

export type OpsCall<Query, Body> = {
  readonly ctx: Context;
  readonly wiring: OpsWiring;
  /** The signed-in person; an unnamed operator where sign-in is not needed. */
  readonly actor: Actor;
  /** The session's token; empty where sign-in is not needed. */
  readonly token: string;
  /** The address that the call comes from. */
  readonly from: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
};

export type Operation = {
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PUT";
  /** `/ops/payouts/:payout_id/send` */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** The needed permission; `none` where sign-in is not needed. */
  readonly permission: Permission | "none";
  readonly query: TObject;
  readonly body: TObject | undefined;
  /** The schema of the answer, with wire names; of each event where it streams. */
  readonly answer: TSchema;
  run(call: OpsCall<never, never>): Promise<object>;
  /** Set where the answer stays open: opens it in place of `run`. */
  readonly stream?: (call: OpsCall<never, never>, open: OpenStream) => Promise<void>;
};

/** Opens the event stream that a request asked for. */
export type OpenStream = () => Stream;

/** The result of a use case, or `never` when its served form does not match the answer's schema. */
type Fitting<Result, Answer extends TSchema> = Result &
  (Served<Result> extends Static<Answer> ? unknown : never);

const emptyObject = Type.Object({}, { additionalProperties: false });

/** Declares a read. */
export function read<Answer extends TSchema, Result extends object, Query extends TProperties>(
  operationId: string,
  path: string,
  spec: {
    readonly tag: string;
    readonly summary: string;
    readonly permission?: Permission;
    readonly query?: Query;
    readonly answer: Answer;
    readonly run: (
      call: OpsCall<Static<TObject<Query>>, undefined>,
    ) => Promise<Fitting<Result, Answer>>;
  },
): Operation {
  const { tag, summary, permission = "read", answer, run } = spec;
  const query = spec.query ? Type.Object(spec.query, { additionalProperties: false }) : emptyObject;
  const declared = { operationId, method: "GET", path, tag, summary, permission } as const;
  return { ...declared, query, body: undefined, answer, run };
}

/** Declares a stream of events, for everybody who may read. */
export function events<Query extends TProperties>(
  operationId: string,
  path: string,
  spec: {
    readonly tag: string;
    readonly summary: string;
    readonly query: Query;
    readonly answer: TSchema;
    readonly stream: (
      call: OpsCall<Static<TObject<Query>>, undefined>,
      open: OpenStream,
    ) => Promise<void>;
  },
): Operation {
  const { tag, summary, answer, stream } = spec;
  const query = Type.Object(spec.query, { additionalProperties: false });
  const declared = { operationId, method: "GET", path, tag, summary, permission: "read" } as const;
  const run = () => Promise.reject(new Error(`${operationId} is a stream`));
  return { ...declared, query, body: undefined, answer, run, stream };
}

/** Declares an act; every act leaves an audit record with the person's name. */
export function act<Answer extends TSchema, Result extends object, Body extends TProperties>(
  operationId: string,
  path: string,
  spec: {
    readonly tag: string;
    readonly summary: string;
    readonly permission: Permission | "none";
    readonly method?: "POST" | "PUT";
    readonly body?: Body;
    readonly answer: Answer;
    readonly run: (
      call: OpsCall<undefined, Static<TObject<Body>>>,
    ) => Promise<Fitting<Result, Answer>>;
  },
): Operation {
  const { tag, summary, permission, method = "POST", answer, run } = spec;
  const body = spec.body ? Type.Object(spec.body, { additionalProperties: false }) : emptyObject;
  const declared = { operationId, method, path, tag, summary, permission } as const;
  return { ...declared, query: emptyObject, body, answer, run };
}

export const text = (description: string, maxLength = 500) =>
  Type.String({ minLength: 1, maxLength, description });
export const paise = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
export const natural = (description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 0, maximum, description });
export const id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description });
/** The text of a CSV file. */
export const csvText = (description: string) =>
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
export const scheme = closedEnum(schemes, { description: "The scheme." });

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
export const limitUsual = 100;

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
  cursor: optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: "The next_cursor of the previous page, with the same filters.",
    }),
  ),
  desk_id: optional(id("Only of this desk.")),
  firm_id: optional(id("Only of this firm.")),
  ...spanQuery,
};

/** A page of a list over all desks, under its name, and the names of the firms that are on it. */
type NamedPage<Name extends string, Row> = {
  readonly nextCursor: string | null;
  readonly names: Readonly<Record<string, string>>;
} & { readonly [List in Name]: readonly Row[] };

export async function searchDesks<Name extends string, Row>(
  { ctx, query }: { readonly ctx: Context; readonly query: Narrowing & PageQuery },
  name: Name,
  {
    list,
    listFirmIds,
  }: {
    readonly list: (search: DeskSearch & PageQuery) => Promise<Leaf<Row>>;
    readonly listFirmIds: (row: Row) => readonly (string | null)[];
  },
): Promise<NamedPage<Name, Row>> {
  const { limit, cursor } = query;
  const { rows, nextCursor } = await list({ ...(await resolveSearch(ctx, query)), limit, cursor });
  const names = await findNames(ctx.db, rows.flatMap(listFirmIds));
  return { [name]: rows, nextCursor, names } as NamedPage<Name, Row>; // It has the one name.
}

/**
 * Rows of a page under their name, and where the next one begins: one row more is read, to see whether
 * there is one.
 */
export async function readPage<Name extends string, Row>(
  name: Name,
  limit: number | undefined,
  {
    list,
    findId,
  }: {
    readonly list: (limit: number) => Promise<readonly Row[]>;
    readonly findId: (row: Row) => string;
  },
): Promise<{ readonly [Key in Name]: Row[] } & { readonly next_cursor: string | null }> {
  const size = limit ?? limitUsual;
  const found = await list(size + 1);
  const rows = found.slice(0, size);
  const last = rows.at(-1);
  const next_cursor = last !== undefined && found.length > size ? findId(last) : null;
  const named = { [name]: rows } as { [Key in Name]: Row[] }; // It has the one name.
  return { ...named, next_cursor };
}
