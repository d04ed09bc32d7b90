// What the outside can do is a value, declared once, for desks, operators and visitors alike:
//
//   export const readPayout = operation({
//     id: "readPayout", method: "GET", path: "/v1/payouts/:payout_id", demand: "orders:read",
//     tag: "Settlements", summary: "Read a payout", description: "…",
//     params: PayoutParams, answer: Payout,
//     run: ({ ctx, caller }, { payout_id }) => readPayout(ctx, caller, payout_id),
//   });
//
// `demand`, `permission` or `keyless` says who may call, and with that what `run` is called with. The
// second argument holds the parameters of the path, of the query and the fields of the body together;
// no two of them have a name in common. `serve` registers operations; the edge validates, admits and
// meters by what they declare, and the documents are built from the same declarations.

import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";

import type { Actor, Permission } from "../../kernel/actor.ts";
import type { Keyless } from "../../kernel/budget.ts";
import type { Call, Demand, Visit } from "../../kernel/caller.ts";
import { Failure } from "../../kernel/failure.ts";
import { isCleanText } from "../../kernel/json.ts";
import type { Metered } from "../../kernel/metered.ts";
import { type Context, contextFor } from "../context.ts";
import {
  type Creation,
  findAddress,
  sendCreation,
  sendLong,
  takeNoBodyAsEmpty,
  toCall,
  toReading,
  toVisit,
} from "./calls.ts";
import type { Lines } from "./ndjson.ts";
import { type Served, serializeAnswer } from "./serialization.ts";
import { type App, documentedPath, type RouteEntry } from "./server.ts";
import type { Stream, Streams, StreamOptions } from "./sse.ts";
import { compileBatchValidator } from "./validation.ts";

/** What the composition root gives to operations of desks; a room adds what its own need. */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface DeskWiring {}

/** The same for operations of operators. */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface OperatorWiring {}

export type DeskCall = Required<Call> & {
  readonly ctx: Context;
  readonly wiring: DeskWiring;
  /** What the key has used of its plan, this call included. */
  readonly metered: Metered;
  /** Where a stream is to go on. */
  readonly lastEventId: string | undefined;
  /** Opens an event stream as the answer. */
  readonly openStream: (options: StreamOptions) => Stream;
  /** Answers with lines, once it is the key's turn. */
  readonly sendLines: (open: Parameters<Lines["send"]>[2]) => Promise<unknown>;
};

export type OperatorCall = {
  readonly ctx: Context;
  readonly wiring: OperatorWiring;
  /** The signed-in person, whose role has the permission, or a machine that was given it. */
  readonly actor: Actor;
  /** The token of the session, or of the machine. */
  readonly token: string;
  /** The address that the call comes from. */
  readonly from: string;
  /** Opens the event stream that the request asked for. */
  readonly openStream: () => Stream;
};

/** The same for operations of visitors. */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface VisitorWiring {}

type VisitorCall = Visit & Pick<OperatorCall, "ctx" | "from"> & { readonly wiring: VisitorWiring };

/** The names in a path: `payout_id` of `/v1/payouts/:payout_id`. */
type PathNames<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Next}`
    ? Name | PathNames<`/${Next}`>
    : Rest
  : never;

/** The shape of a query or a body, where there is one. */
type InputShape = TObject | undefined;
type Given<Shape extends InputShape> = Shape extends TObject ? Static<Shape> : unknown;

type Input<Path extends string, Query extends InputShape, Body extends InputShape> = {
  readonly [Name in PathNames<Path>]: string;
} & Given<Query> &
  Given<Body>;

type Send<Result> = (reply: FastifyReply, result: Result) => unknown;

/** The shape of an answer, or of each form that it has. */
type AnswerForms =
  | TSchema
  | { readonly content: Readonly<Record<string, { readonly schema: TSchema }>> };

type Described<Path extends string> = {
  /** As in the documents and the clients. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: Path;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The shapes of what the path names; text, where it does not say. */
  readonly params?: TObject;
  /** Headers of its own, for the document. */
  readonly headers?: TObject;
  /** An action without required fields: a missing body counts as an empty one. */
  readonly takesNoBody?: true;
  /** What the edge and the document know of it besides (`server.ts`). */
  readonly config?: Pick<
    FastifyContextConfig,
    "conflicts" | "machines" | "names" | "orDemand" | "quiet" | "streams" | "tagged"
  >;
};

export type Operation = Described<string> & {
  readonly demand?: Demand;
  readonly permission?: Permission;
  readonly keyless?: Keyless;
  readonly creates?: true;
  /** What a replay or a dry run is answered with, where that is another shape. */
  readonly again?: TSchema;
  /** A creation of many, each with a result of its own: an item that is not valid fails alone. */
  readonly batch?: true;
  readonly query?: TObject;
  readonly body?: TObject;
  /** The shape of the answer, with wire names; of each event where it streams. */
  readonly answer: TSchema;
  readonly send?: Send<never>;
  readonly run: (call: never, input: never) => unknown;
};

/** What a list gives to an operation. */
export type Listing<ByDoor> = Pick<Operation, "answer" | "params" | "send"> & {
  readonly query: TObject;
  readonly run: (call: ByDoor, input: never) => Promise<object>;
};

type ListSpec<Path extends string, Door, ByDoor> = Described<Path> &
  Door & { readonly list: Listing<ByDoor> };

type Run<
  Path extends string,
  Door,
  ByDoor,
  Query extends InputShape,
  Body extends InputShape,
  Result,
> = Described<Path> &
  Door & {
    readonly query?: Query;
    readonly body?: Body;
    readonly run: (call: ByDoor, input: Input<Path, Query, Body>) => Promise<Result> | Result;
  };

type DeskDoor = { readonly demand: Demand };
type OperatorDoor = { readonly permission: Permission };
type VisitorDoor = { readonly keyless: Keyless };

/** The result of a use case, or `never` when its served form does not match the answer's schema. */
export type Fitting<Result, Answer extends TSchema> = Result &
  (Served<Result> extends Static<Answer> ? unknown : never);

/** A list of a desk. */
export function operation<const P extends string>(spec: ListSpec<P, DeskDoor, DeskCall>): Operation;
/** A list over all desks. */
export function operation<const P extends string>(
  spec: ListSpec<P, OperatorDoor, OperatorCall>,
): Operation;
/** Creates something of a desk: answers 201, or 200 to a replay or a dry run. */
export function operation<
  const P extends string,
  A extends TSchema,
  Again extends TSchema = A,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(
  spec: Run<P, DeskDoor, DeskCall, Q, B, Creation<Static<A> | Static<Again>>> & {
    creates: true;
    answer: A;
    again?: Again;
  },
): Operation;
/** Of a desk; `send` makes the answer of what comes out. */
export function operation<
  const P extends string,
  Result,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(
  spec: Run<P, DeskDoor, DeskCall, Q, B, Result> & {
    answer: AnswerForms;
    send: Send<Result>;
    batch?: true;
  },
): Operation;
/** Of a desk; what comes out is the answer. */
export function operation<
  const P extends string,
  A extends TSchema,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(spec: Run<P, DeskDoor, DeskCall, Q, B, Static<A>> & { answer: A; batch?: true }): Operation;
/** Creates something of a visitor. */
export function operation<
  const P extends string,
  A extends TSchema,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(
  spec: Run<P, VisitorDoor, VisitorCall, Q, B, Creation<Static<A>>> & { creates: true; answer: A },
): Operation;
/** Of anybody; `send` makes the answer of what comes out. */
export function operation<
  const P extends string,
  Result,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(
  spec: Run<P, VisitorDoor, VisitorCall, Q, B, Result> & {
    answer: AnswerForms;
    send: Send<Result>;
  },
): Operation;
/** Of a desk; `run` sends the answer, through `openStream` or `sendLines`. */
export function operation<const P extends string, Q extends InputShape = undefined>(
  spec: Run<P, DeskDoor, DeskCall, Q, undefined, unknown> & {
    answer: AnswerForms;
    config: { streams: true };
  },
): Operation;
/** Of an operator; names and times of what comes out are written by `serializeAnswer`. */
export function operation<
  const P extends string,
  A extends TSchema,
  Result extends object,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(spec: Run<P, OperatorDoor, OperatorCall, Q, B, Fitting<Result, A>> & { answer: A }): Operation;
/** Of anybody, who brings no key. */
export function operation<
  const P extends string,
  A extends TSchema,
  Result extends object,
  Q extends InputShape = undefined,
  B extends InputShape = undefined,
>(spec: Run<P, VisitorDoor, VisitorCall, Q, B, Fitting<Result, A>> & { answer: A }): Operation;
export function operation({
  list,
  ...spec
}: Omit<Operation, "answer" | "run"> & { list?: object }) {
  const made = { ...list, ...spec } as Operation; // Each form has an answer and what runs.
  refuseSharedNames(made);
  const acts = made.permission !== undefined && made.method !== "GET";
  return acts ? { body: noFields, ...made } : made;
}

/** An operator's act has a body also where it takes nothing. */
const noFields = Type.Object({}, { additionalProperties: false });

function refuseSharedNames({ id, path, query, body }: Operation): void {
  const inPath = [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name);
  const names = [inPath, query, body].flatMap((part) =>
    Array.isArray(part) ? part : Object.keys(part?.properties ?? {}),
  );
  if (new Set(names).size < names.length) throw new Error(`two inputs of ${id} have one name`);
}

type Surface = {
  readonly ctx: Context;
  readonly wiring: (DeskWiring & VisitorWiring) | OperatorWiring;
  /** Set on the desks' listener. */
  readonly desks?: { readonly streams: Streams; readonly lines: Lines };
  /** Set on the operators' listener. */
  readonly operators?: {
    readonly openStream: (request: FastifyRequest, reply: FastifyReply) => Stream;
  };
};

/** Registers operations. */
export function serve(app: App, operations: readonly Operation[], surface: Surface): void {
  for (const each of operations) app.route(toRoute(each, surface));
}

function toRoute(declared: Operation, surface: Surface): RouteOptions {
  const { method, path, creates, batch, takesNoBody, body } = declared;
  const { operators } = surface;
  const ownSend = declared.send ?? (batch && sendLong);
  const send = (creates ? sendCreation : ownSend) as Send<unknown> | undefined;
  const run = declared.run as (call: object, input: object) => unknown; // As `operation` checked.
  const makeCall = chooseCall(declared, surface);
  const { config, schema } = describeRoute(declared);
  return {
    method,
    url: path,
    config,
    ...(schema && { schema }),
    ...(batch && { validatorCompiler: compileBatchValidator }),
    ...((takesNoBody || (operators && body)) && { preValidation: takeNoBodyAsEmpty }),
    ...(operators && { serializerCompiler: () => serializeAnswer }),
    handler: async (request, reply) => {
      const input = {
        ...asObject(request.params),
        ...asObject(request.query),
        ...asObject(request.body),
      };
      const result = await run(makeCall(request, reply), input);
      return send ? send(reply, result) : result;
    },
  };
}

/** What the edge and the documents know of an operation. */
export function describeRoute(declared: Operation): RouteEntry {
  const { id, method, path, tag, summary, description, params, headers, query, body, answer } =
    declared;
  const { demand, permission, keyless, creates, batch, again, config } = declared;
  return {
    method,
    path: documentedPath(path),
    operationId: id,
    config: {
      ...config,
      ...(demand && { demand }),
      ...(permission && { permission }),
      ...(keyless && { keyless }),
      // Visitors have no idempotency keys.
      ...((creates || (batch && !config?.quiet)) && demand && { creates: true }),
    },
    schema: {
      operationId: id,
      tags: [tag],
      summary,
      ...(description !== undefined && { description }),
      ...(params && { params }),
      ...(headers && { headers }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      response: creates ? { 201: answer, 200: again ?? answer } : { 200: answer },
    },
  };
}

type MakeCall = (request: FastifyRequest, reply: FastifyReply) => object;

function chooseCall(
  { method, demand, permission }: Operation,
  { ctx, wiring, desks, operators }: Surface,
): MakeCall {
  if (demand !== undefined) {
    const toDeskCall = method === "GET" ? toReading : toCall;
    return (request, reply) => ({
      ...toDeskCall(request, reply),
      ctx: contextFor(ctx, request.caller),
      wiring,
      metered: request.metered,
      lastEventId: request.headers["last-event-id"]?.toString(),
      openStream: (options: StreamOptions) => desks?.streams.open(request, reply, options),
      sendLines: (open: Parameters<Lines["send"]>[2]) => desks?.lines.send(request, reply, open),
    });
  }
  if (permission === undefined) {
    return (request, reply) => ({
      ...toVisit(request, reply),
      ctx,
      wiring,
      from: findAddress(request),
    });
  }
  return (request, reply) => {
    refuseUnclean(request.params);
    const openStream = () => operators?.openStream(request, reply);
    return { ctx, wiring, ...request.operator, from: findAddress(request), openStream };
  };
}

/** PostgreSQL's text cannot hold these characters, so no id contains them. */
function refuseUnclean(params: unknown): void {
  if (Object.values(asObject(params)).every(isCleanText)) return;
  throw new Failure("not_found", "no such thing");
}

/** Parameters and bodies of operations are objects, or absent. */
function asObject(given: unknown): Readonly<Record<string, string>> {
  return given as Readonly<Record<string, string>>;
}
