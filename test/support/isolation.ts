// The isolation matrix: every place in a request that names a resource, asked about resources of
// every kind of owner. A desk must not be able to tell another desk's resource from one that does
// not exist, by the status, by the body or by which headers there are.

import type { RouteEntry } from "../../src/platform/http.ts";
import type { Answer, Service } from "./service.ts";

/** Ids that one parameter can carry, by what the caller is to them. */
export type IdFixture = {
  readonly own: string;
  /** Ended, but the caller's own: it may be read or refused, and never denied. */
  readonly ownEnded?: string;
  /** Everything here must be answered like `random`. */
  readonly foreign: Readonly<Record<string, string>>;
  readonly random: string;
};

export type Fixtures = {
  readonly ids: Readonly<Record<string, IdFixture>>;
  /** A valid body of each operation that takes one; `ids` overrides fields that name resources. */
  readonly bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** One place of one operation where an id can stand. */
export type Slot = {
  readonly route: RouteEntry;
  readonly where: "path" | "query" | "body";
  readonly name: string;
};

export type Verdict = { readonly cells: number; readonly breaches: readonly string[] };

type Parameter = { readonly name: string; readonly in: string };
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
  readonly components?: { readonly schemas: Readonly<Record<string, BodySchema>> };
};

const namesResource = /(_id|_ids|_ref|scrip_no|scrip_nos)$/;

/** Every path parameter, and every field of a query or body that is named like an id. */
export function slotsOf(routes: readonly RouteEntry[], document: Document): Slot[] {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  return routes.flatMap((route): Slot[] => {
    if (route.config.demand === undefined) return [];
    const operation = operations.find((known) => known.operationId === route.operationId);
    const body = operation ? bodyFieldsOf(operation, document) : [];
    const inQuery = (operation?.parameters ?? []).filter((parameter) => parameter.in === "query");
    return [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
        route,
        where: "path" as const,
        name,
      })),
      ...inQuery
        .filter(({ name }) => namesResource.test(name))
        .map(({ name }) => ({ route, where: "query" as const, name })),
      ...body
        .filter((name) => namesResource.test(name))
        .map((name) => ({ route, where: "body" as const, name })),
    ];
  });
}

function bodyFieldsOf({ requestBody }: Operation, { components }: Document): string[] {
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
    const fixture = fixtures.ids[slot.name];
    if (missing || !fixture) {
      breaches.push(`${title}: ${missing}`);
      continue;
    }
    const ask = async (id: string) => {
      cells += 1;
      return await send(service, { key, slot, fixtures, id });
    };
    const random = await ask(fixture.random);
    if (random.status !== 404) breaches.push(`${title}: random answers ${random.status}`);
    const own = await ask(fixture.own);
    if (own.status >= 300) breaches.push(`${title}: own answers ${own.status} ${own.text}`);
    const ended = fixture.ownEnded === undefined ? undefined : await ask(fixture.ownEnded);
    if (ended && ended.status !== 200 && ended.status !== 409) {
      breaches.push(`${title}: own but ended answers ${ended.status}`);
    }
    for (const [whose, id] of Object.entries(fixture.foreign)) {
      const answer = await ask(id);
      if (trace(answer) !== trace(random)) {
        breaches.push(`${title}: ${whose} answers ${trace(answer)} where random ${trace(random)}`);
      }
    }
    for (const [how, id] of Object.entries(malformed(fixture.random))) {
      const answer = await ask(id);
      // A field may have a form and say so; a path only names something or nothing.
      const isRefused = answer.status >= 400 && answer.status < 500;
      if (slot.where === "path" ? trace(answer) !== trace(random) : !isRefused) {
        breaches.push(`${title}: ${how} answers ${trace(answer)}`);
      }
    }
  }
  return { cells, breaches };
}

function missingFixture({ route, where, name }: Slot, { ids, bodies }: Fixtures) {
  if (!ids[name]) return `add a fixture for ${name} to test/authorization.test.ts`;
  const needsBody = where === "body" && bodies[route.operationId ?? ""] === undefined;
  return needsBody
    ? `add a body for ${route.operationId} to test/authorization.test.ts`
    : undefined;
}

async function send(
  service: Service,
  { key, slot, fixtures, id }: { key: string; slot: Slot; fixtures: Fixtures; id: string },
): Promise<Answer> {
  const { route, where, name } = slot;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, other: string) =>
    encodeURIComponent(where === "path" && other === name ? id : (fixtures.ids[other]?.own ?? "")),
  );
  const query = where === "query" ? `?${name}=${encodeURIComponent(id)}` : "";
  const given = fixtures.bodies[route.operationId ?? ""];
  const body = where === "body" ? { ...given, [name]: id } : given;
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
