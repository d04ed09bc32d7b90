// Nothing that a stranger or a tenant typed acts where it is shown: it is refused on the way in, for
// every text field of every request body of the document; and what is in the database from before is
// shown with a mark in its place.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { print, printOne } from "../../cli/command.ts";
import { csvText } from "../../src/kernel/csv.ts";
import { hasControls } from "../../src/kernel/text.ts";
import { startService } from "../support/service.ts";

const escape = "\u001b[31mred\u0007";

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly $ref?: string;
};

type Operation = {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Every place of a body where free text goes, with a body that has hostile text there only. */
function* hostileBodies(
  { components }: Document,
  schema: Schema,
): Generator<{ path: string; body: unknown }> {
  const { $ref } = schema;
  if ($ref !== undefined) {
    const named = components.schemas[$ref.split("/").at(-1) ?? ""];
    if (named) yield* hostileBodies({ components } as Document, named);
    return;
  }
  if (schema.type === "string" && schema.enum === undefined) yield { path: "", body: escape };
  if (schema.items) {
    for (const inner of hostileBodies({ components } as Document, schema.items)) {
      yield { path: `0${inner.path && `.${inner.path}`}`, body: [inner.body] };
    }
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    for (const inner of hostileBodies({ components } as Document, property)) {
      yield { path: `${name}${inner.path && `.${inner.path}`}`, body: { [name]: inner.body } };
    }
  }
}

test("every text field of every request refuses control characters", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue({ buySide: true });
  const document = (await service.send("GET", "/v1/openapi.json", { expect: 200 }))
    .body as Document;
  let fields = 0;
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { operationId, requestBody }] of Object.entries(operations)) {
      const schema = requestBody?.content["application/json"]?.schema;
      for (const hostile of schema ? hostileBodies(document, schema) : []) {
        const isPublic = path.startsWith("/public/");
        const answer = await service.send(method.toUpperCase(), path.replace(/\{\w+\}/g, "none"), {
          ...(!isPublic && { key }),
          body: hostile.body,
        });
        fields += 1;
        const about = `${operationId} ${hostile.path}: ${answer.status} ${answer.text}`;
        // A list whose items are answered one by one says it in the item's place.
        const [item] = answer.body?.results ?? [];
        const status = item?.status ?? answer.status;
        assert.ok([400, 404, 409, 422, 429].includes(status), about);
        assert.equal(hasControls(answer.text, "lines"), false, about);
      }
    }
  }
  assert.ok(fields > 60, `${fields} fields`);
});

test("names and messages with control characters are refused by field", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const mint = async (name: string) =>
    await service.send("POST", "/v1/keys", {
      key,
      body: { name, kind: "app", scopes: ["quote"] },
    });
  for (const name of [escape, "two\nlines", "\u202egnp.exe", "a\u009bb", "tab\tbed"]) {
    const { status, body } = await mint(name);
    assert.equal(status, 422, JSON.stringify(name));
    assert.deepEqual(body.detail.fields, [
      { path: "name", problem: "must not have control characters" },
    ]);
  }
  assert.equal((await mint("श्री गणेश एक्सपोर्ट्स")).status, 201);

  const contact = async (message: string) =>
    await service.send("POST", "/public/enquiry/contact", {
      body: { name: "Asha", email: "asha@example.in", message, consent: true },
    });
  assert.equal((await contact("first line\r\nsecond line\tend")).status, 201);
  const refused = await contact(`hello ${escape}`);
  assert.equal(refused.status, 422);
  assert.equal(refused.body.detail.fields[0].path, "message");
});

test("a batch refuses only the item with control characters", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const item = (client_ref: string) => ({ side: "sell", scrip_no: "ABSENT0001", client_ref });
  const { body } = await service.send("POST", "/v1/orders:batch", {
    key,
    body: { orders: [item("plain"), item(escape)] },
    expect: 200,
  });
  const statuses = body.results.map(({ status }: { status: number }) => status);
  assert.deepEqual(statuses, [404, 422]);
});

test("older control characters in the database are replaced by a mark in CSV", () => {
  const text = csvText([["name"], [`Acme ${escape}`], ["\u001b=1+1"]]);
  assert.equal(hasControls(text, "lines"), false);
});

test("older control characters in the database are escaped on the operator's terminal", () => {
  const printed: string[] = [];
  const write = mock.method(process.stdout, "write", (text: string) => printed.push(text) > 0);
  try {
    const row = { name: `Acme ${escape}`, list: ["a\nb"], more: { note: "\u009b2J\u202e" } };
    for (const json of [true, false]) {
      print([row], { json });
      printOne(row, { json });
    }
  } finally {
    write.mock.restore();
  }
  assert.ok(printed.some((line) => line.includes("Acme")));
  for (const line of printed) assert.equal(hasControls(line.trimEnd(), "line"), false, line);
});
