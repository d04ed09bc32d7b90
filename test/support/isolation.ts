// The isolation matrix: every place in a request that names a resource, asked about resources of
// every kind of owner. A desk must not be able to tell another desk's resource from one that does
// not exist, by the status, by the body or by which headers there are.

import type { RouteEntry } from "../../src/platform/http/server.ts";
import type { Answer, Service } from "./service.ts";

/** Ids that one parameter can carry, by what the caller is to them. */
export type IdFixture = {
  /** Absent where the caller has none of the kind. */
  readonly own?: string;
  /** Ended, but the caller's own: it may be read or refused, and never denied. */
  readonly ownEnded?: string;
  /** Everything here must be answered like `random`. */
  readonly foreign: Readonly<Record<string, string>>;
  readonly random: string;
  /** The caller has no business with the operation, whatever it names, its own included. */
  readonly refused?: boolean;
  /** The caller's own resource is not in a state for every operation. */
  readonly mayConflict?: boolean;
  /** What naming nothing answers, where that is not the usual. */
  readonly absentIs?: number;
  /** The operation is closed to the caller on what it knows of: only that may be told. */
  readonly ownRefused?: boolean;
};

export type Fixtures = {
  /**
   * By the parameter's name, or by `operationId/name` where an operation needs another one. One that
   * no route asks for is allowed.
   */
  readonly ids: Readonly<Record<string, IdFixture>>;
  /**
   * A valid body of each operation that takes one, or by `operationId/name` where a field goes with
   * others; `ids` overrides fields that name resources.
   */
  readonly bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** One place of one operation where an id can stand. */
export type Slot = {
  readonly route: RouteEntry;
  readonly where: "path" | "query" | "body";
  readonly name: string;
};

export type Verdict = { readonly cells: number; readonly breaches: readonly string[] };

type Parameter = { readonly $ref?: string; readonly name: string; readonly in: string };
type BodySchema = { readonly properties?: object; readonly $ref?: string };
type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: BodySchema } };
  };
};
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas: Readonly<Record<string, BodySchema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
};

const namesResource = /(_id|_ids|_ref|scrip_no|scrip_nos)$/;
/** What a list can also be asked by: a page of somebody, and the state's name for a firm. */
const asksByName = ["cursor", "iec"];
/** What a body gives a name with; it names nothing that is there. */
const givesName = ["external_id", "client_ref", "payment_ref"];

/** Every path parameter, and every field of a query or body that is named like an id. */
export function listSlots(routes: readonly RouteEntry[], document: Document): Slot[] {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  return routes.flatMap((route): Slot[] => {
    if (route.config.demand === undefined) return [];
    const operation = operations.find((known) => known.operationId === route.operationId);
    const body = operation ? listBodyFields(operation, document) : [];
    const inQuery = (operation?.parameters ?? [])
      .map((parameter) => resolveParameter(parameter, document))
      .filter((parameter) => parameter.in === "query");
    return [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
        route,
        where: "path" as const,
        name,
      })),
      ...inQuery
        .filter(({ name }) => namesResource.test(name) || asksByName.includes(name))
        .map(({ name }) => ({ route, where: "query" as const, name })),
      ...body
        .filter((name) => namesResource.test(name) && !givesName.includes(name))
        .map((name) => ({ route, where: "body" as const, name })),
    ];
  });
}

function resolveParameter(parameter: Parameter, { components }: Document): Parameter {
  const name = parameter.$ref?.split("/").at(-1);
  return (name !== undefined && components?.parameters?.[name]) || parameter;
}

function listBodyFields({ requestBody }: Operation, { components }: Document): string[] {
  const schema = requestBody?.content["application/json"].schema;
  const named = schema?.$ref && components?.schemas[schema.$ref.split("/").at(-1) ?? ""];
  return Object.keys((named || schema)?.properties ?? {});
}

export async function checkIsolation(
  service: Service,
  { key, slots, fixtures }: { key: string; slots: readonly Slot[]; fixtures: Fixtures },
): Promise<Verdict> {
  const breaches: string[] = [];
  let cells = 0;
  for (const slot of slots) {
    const title = `${slot.route.method} ${slot.route.path} ${slot.name} in the ${slot.where}`;
    const missing = missingFixture(slot, fixtures);
    const fixture = findFixture(slot.route, slot.name, fixtures);
    if (missing || !fixture) {
      breaches.push(`${title}: ${missing}`);
      continue;
    }
    const ask = async (id: string) => {
      cells += 1;
      return await send(service, { key, slot, fixtures, id });
    };
    const random = await ask(fixture.random);
    if (random.status !== statusOfAbsent(slot, fixture)) {
      breaches.push(`${title}: random answers ${random.status} ${random.text}`);
    }
    if (fixture.own !== undefined) {
      const own = await ask(fixture.own);
      const problem = problemWithOwn(own, { random, slot, fixture });
      if (problem) breaches.push(`${title}: own ${problem} ${trace(own)}`);
    }
    const ended = fixture.ownEnded === undefined ? undefined : await ask(fixture.ownEnded);
    if (ended && ended.status !== 200 && ended.status !== 409) {
      breaches.push(`${title}: own but ended answers ${ended.status}`);
    }
    const askEach = async (ids: Readonly<Record<string, string>>) =>
      await Promise.all(
        Object.entries(ids).map(async ([name, id]) => [name, await ask(id)] as const),
      );
    for (const [whose, answer] of await askEach(fixture.foreign)) {
      if (trace(answer) !== trace(random)) {
        breaches.push(`${title}: ${whose} answers ${trace(answer)} where random ${trace(random)}`);
      }
    }
    // HEAD is GET without its body, which cannot tell how a name was spelt.
    const misspelt = slot.route.method === "HEAD" ? {} : malformed(fixture.random);
    for (const [how, answer] of await askEach(misspelt)) {
      // A field may have a form and say so; a path only names something or nothing.
      const isRefused = answer.status >= 400 && answer.status < 500;
      const isAbsent = trace(answer) === trace(random);
      if (!isAbsent && (slot.where === "path" || !isRefused)) {
        breaches.push(`${title}: ${how} answers ${trace(answer)}`);
      }
    }
  }
  return { cells, breaches };
}

/** Every operation, asked about what is the caller's own; what changes something is only tried. */
export async function askWithOwn(
  service: Service,
  { key, slots, fixtures }: { key: string; slots: readonly Slot[]; fixtures: Fixtures },
): Promise<void> {
  for (const slot of slots) {
    const id = findFixture(slot.route, slot.name, fixtures)?.own;
    if (id !== undefined) await send(service, { key, slot, fixtures, id });
  }
}

/** A list that is asked about nothing is empty; a cursor that is nobody's is no cursor. */
function statusOfAbsent({ where, name }: Slot, { refused, absentIs }: IdFixture): number {
  if (refused) return 403;
  if (absentIs !== undefined) return absentIs;
  if (name === "cursor") return 400;
  return where === "query" ? 200 : 404;
}

function problemWithOwn(
  own: Answer,
  { random, slot, fixture }: { random: Answer; slot: Slot; fixture: IdFixture },
): string | undefined {
  if (fixture.refused) return trace(own) === trace(random) ? undefined : "is told apart:";
  if (fixture.ownRefused) return own.status === 403 ? undefined : "is not refused:";
  if (own.status >= 300 && !(fixture.mayConflict && own.status === 409)) return "answers";
  const isFound =
    slot.where !== "query" || slot.route.method === "HEAD" || own.text !== random.text;
  return isFound ? undefined : "is not found:";
}

function findFixture(
  { operationId }: RouteEntry,
  name: string,
  { ids }: Fixtures,
): IdFixture | undefined {
  return ids[`${operationId}/${name}`] ?? ids[name];
}

function findBody({ operationId }: RouteEntry, name: string, { bodies }: Fixtures) {
  return bodies[`${operationId}/${name}`] ?? bodies[operationId ?? ""];
}

function missingFixture({ route, where, name }: Slot, fixtures: Fixtures) {
  if (!findFixture(route, name, fixtures)) {
    return `add a fixture for ${name} to test/support/furnished-desks.ts`;
  }
  const needsBody = where === "body" && findBody(route, name, fixtures) === undefined;
  return needsBody
    ? `add a body for ${route.operationId} to test/support/furnished-desks.ts`
    : undefined;
}

/** The trail of a desk tells of all its firms, and of what is gone. */
const trails = ["listAudit", "exportAudit"];
const ofOwnDesk = /^a (deleted|sibling's) /;

/** What every read shows a caller of its own, and whether anything hidden from it is in there. */
export async function checkReads(
  service: Service,
  { key, routes, fixtures }: { key: string; routes: readonly RouteEntry[]; fixtures: Fixtures },
): Promise<Verdict> {
  // What is foreign to one operation only may well be the caller's own.
  const hidden = Object.entries(fixtures.ids).flatMap(([name, { foreign }]) =>
    name.includes("/") ? [] : Object.entries(foreign),
  );
  const breaches: string[] = [];
  let cells = 0;
  for (const route of routes.filter(({ method }) => method === "GET")) {
    const { status, text } = await service.send("GET", fillPath(route, fixtures), { key });
    if (status !== 200 && status !== 403) breaches.push(`GET ${route.path} answers ${status}`);
    const remembers = trails.includes(route.operationId ?? "");
    for (const [whose, id] of hidden) {
      cells += 1;
      if (remembers && ofOwnDesk.test(whose)) continue;
      if (text.includes(id)) breaches.push(`GET ${route.path} shows ${whose} ${id}`);
    }
  }
  return { cells, breaches };
}

function fillPath(
  route: RouteEntry,
  fixtures: Fixtures,
  given: Record<string, string> = {},
): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(given[name] ?? findFixture(route, name, fixtures)?.own ?? ""),
  );
}

async function send(
  service: Service,
  { key, slot, fixtures, id }: { key: string; slot: Slot; fixtures: Fixtures; id: string },
): Promise<Answer> {
  const { route, where, name } = slot;
  const path = fillPath(route, fixtures, where === "path" ? { [name]: id } : {});
  const query = where === "query" ? `?${name}=${encodeURIComponent(id)}` : "";
  const given = findBody(route, name, fixtures);
  const named = name.endsWith("s") ? [id] : id;
  const body = where === "body" ? { ...given, [name]: named } : given;
  const writes = route.method !== "GET" && route.method !== "HEAD";
  return await service.send(route.method, `${path}${query}`, {
    key,
    ...(writes && body && { body }),
    // What is only tried leaves every fixture as it was.
    ...(writes && { headers: { "x-dry-run": "1" } }),
  });
}

/** Texts that name nothing because of how they are spelt. */
function malformed(random: string): Record<string, string> {
  return {
    "a shorter id": random.slice(0, -1),
    "a longer id": `${random}0`,
    "an id in capitals": random.toUpperCase(),
    "an id of another kind": `zzz${random.slice(3)}`,
    "a word": "nothing",
    "a quote": `${random}'`,
    "a NUL": `${random.slice(0, -1)}\u0000`,
    "a wildcard": "%",
    "text that is not ASCII": "कुंजी",
  };
}

const perConnection = ["date", "connection", "keep-alive"];

/** What a caller can compare. The id of the request and the meter differ on every call. */
function trace({ status, text, headers }: Answer): string {
  const names = [...headers.keys()].filter((name) => !perConnection.includes(name)).toSorted();
  return `${status} ${text} [${names.join(" ")}]`;
}
