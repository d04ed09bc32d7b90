// The document of the operators' API says what every operation answers, and the tests hold every
// answer against it (`support/conformance.ts`); here the document and that check themselves are tested.

import assert from "node:assert/strict";
import { test } from "node:test";

import { operations } from "../src/ops/operations.ts";
import { describeOps } from "../src/ops/openapi.ts";
import { openConformance } from "./support/conformance.ts";

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: object;
  readonly anyOf?: readonly Schema[];
};
type Described = {
  readonly operationId: string;
  readonly description: string;
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly content?: Record<string, { schema: Schema }> }
    >
  >;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, object>>;
  };
};

const document = describeOps() as Document;
const described = Object.values(document.paths).flatMap((item) => Object.values(item));

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

test("every operation has a name of its own, names the fields of its answer and says who may call it", () => {
  assert.equal(described.length, operations.length);
  assert.equal(new Set(described.map(({ operationId }) => operationId)).size, described.length);
  for (const { operationId, description, responses } of described) {
    const [content] = Object.values(responses["200"]?.content ?? {});
    const schema = content?.schema;
    assert.ok(schema, operationId);
    const shapes = resolve(schema).anyOf ?? [schema];
    for (const shape of shapes.map(resolve)) {
      const fields = Object.keys(shape.properties ?? shape.anyOf ?? {});
      assert.ok(fields.length > 0, `${operationId} names its fields`);
    }
    assert.match(description, /\.$/);
    for (const status of ["400", "401", "403", "404", "413", "422", "429", "500"]) {
      assert.ok(responses[status]?.$ref, `${operationId} ${status}`);
    }
  }
});

test("every reference leads somewhere, and every component is referred to", () => {
  const text = JSON.stringify(document);
  const referred = new Set(
    [...text.matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)].map(([, at]) => at),
  );
  for (const [section, members] of Object.entries(document.components)) {
    if (section === "securitySchemes") continue;
    for (const name of Object.keys(members)) {
      assert.ok(referred.delete(`${section}/${name}`), `${section}/${name} is referred to`);
    }
  }
  assert.deepEqual([...referred], []);
});

test("control: an answer with a field too many, too few or of another type is found", () => {
  const check = openConformance(document);
  const say = (path: string, status: number, body: object) =>
    check("GET", path, { status, body, text: JSON.stringify(body) });
  const whoami = {
    name: "asha",
    role: "admin",
    permissions: ["read"],
    directory: false,
    recovery_codes_left: 10,
  };
  say("/ops/whoami", 200, whoami);
  assert.throws(() => say("/ops/whoami", 200, { ...whoami, token: "operator_x" }), /additional/);
  assert.throws(() => say("/ops/whoami", 200, { role: "admin" }), /name/);
  assert.throws(() => say("/ops/whoami", 200, { ...whoami, name: 7 }), /string/);
  assert.throws(() => say("/ops/whoami", 201, whoami), /documents no 201/);
  assert.throws(() => say("/ops/whoami", 401, { error: "unauthorized" }), /message/);
  const verdict = { whole: true, desks: 1, records: 1, erased: 0, first_break: null };
  say("/ops/audit/verify", 200, verdict);
  const broken = { ...verdict, first_break: { seq: 1 } };
  assert.throws(() => say("/ops/audit/verify", 200, broken), /first_break/);
});
