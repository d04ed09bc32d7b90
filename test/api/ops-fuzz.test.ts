// Bodies and paths that fit or miss the shapes of every operation: none may be a fault of ours.

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";
import type { TSchema } from "typebox";

import { operations } from "../../src/ops/operations.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";

type Shape = TSchema & {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
};

const hostile = fc.constantFrom(
  "",
  " ",
  "' or 1=1 --",
  "\u202e",
  "नमस्ते",
  "a".repeat(300),
  "../..",
  "2026-13-45",
);

/** A value of the shape most of the time, something else now and then. */
function buildArbitrary(shape: Shape): fc.Arbitrary<unknown> {
  const fitting = buildFitting(shape);
  return fc.oneof(
    { arbitrary: fitting, weight: 9 },
    { arbitrary: fc.oneof(hostile, fc.integer(), fc.constant(null), fc.constant([])), weight: 1 },
  );
}

function buildFitting(shape: Shape): fc.Arbitrary<unknown> {
  if (shape.enum) return fc.constantFrom(...shape.enum);
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map(buildFitting));
  switch (shape.type) {
    case "integer":
      return fc.oneof(fc.nat(10_000), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, -1));
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(buildArbitrary(shape.items ?? { type: "string" }), { maxLength: 3 });
    case "object": {
      const { properties = {}, required = [] } = shape;
      const members = Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, buildArbitrary(inner)]),
      );
      return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
    }
    default:
      return fc.oneof(
        hostile,
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.constant("2027-03-31"),
      );
  }
}

const ids = fc.constantFrom(
  "none",
  "a%00b",
  "%F0%9F%92%A9",
  "frm_00000000000000000000000001",
  "stl_01m7f7t3h0emw5rrq4ephkn736",
  "x".repeat(500),
);

const none: Shape = { type: "object" };

test("no request to the operators' API causes a 5xx", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const asked = operations.filter(
    ({ permission, id }) =>
      permission !== undefined && !["signOut", "disableOperator"].includes(id),
  );
  let headers = asBearer((await asha.signIn()).token);
  const faults: string[] = [];
  let calls = 0;
  for (const operation of asked) {
    const bodies = fc.sample(
      buildArbitrary((operation.body ?? operation.query ?? none) as Shape),
      8,
    );
    const names = fc.sample(ids, 8);
    for (const [index, value] of bodies.entries()) {
      const path = operation.path.replaceAll(/:\w+/g, names[index] ?? "none");
      const query = operation.body ? "" : formatQuery(value);
      const answer = await send(operation.method, `${path}${query}`, {
        headers,
        ...(operation.body && { body: value ?? {} }),
      });
      if (answer.status >= 500) {
        faults.push(`${operation.id} ${path}${query} ${JSON.stringify(value)}`);
      }
      calls++;
    }
    service.clock.advance({ seconds: 2 });
    if (calls % 2_000 === 0) headers = asBearer((await asha.signIn()).token);
  }
  assert.deepEqual(faults, []);
  assert.ok(calls > 500, `${calls} calls`);
});

function formatQuery(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const members = Object.entries(value).map(([name, member]): [string, string] => [
    name,
    String(member),
  ]);
  return members.length === 0 ? "" : `?${new URLSearchParams(members).toString()}`;
}
