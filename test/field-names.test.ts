// The contract's second and third rule, over the whole document: money ends in _paise, prices in _bps.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { isObject } from "../src/kernel/json.ts";

/** Whole numbers that are neither money nor prices: counts, times, places in a row, versions. */
const otherIntegers = `
  accepted attempts calls quoted latest_sequence count credit_count credits credits_withdrawn crosses
  crosses_ended deal_count deals_24h exports_max failed holds lines member_count
  orders orders_cancelled payouts queued quotes requirement_count requirements seller_count
  sellers_min settlements settlements_failed skipped submitted total limit
  monthly_quota per_minute quota quota_used remaining advance_s ahead_s days_left
  days_max duration_ms fixed_after_s grace_s reset window_s index line_no row seq first_seq last_seq
  line_count after_line warning_days threshold_percent quote_window_s days_left_min
  transfer_working_days payment_working_days
  sequence after_seq after_sequence card_version entity_version version
  last_status status
`
  .trim()
  .split(/\s+/);

type Field = { readonly name: string; readonly schema: Record<string, unknown> };

function isInteger({ type }: Record<string, unknown>): boolean {
  return [type].flat().some((each) => each === "integer" || each === "number");
}

/** Every property and every parameter, wherever in the document it stands. */
function fieldsWithin(node: unknown): Field[] {
  if (Array.isArray(node)) return node.flatMap(fieldsWithin);
  if (!isObject(node)) return [];
  const { properties, schema, name } = node;
  const named = isObject(properties) ? Object.entries(properties) : [];
  const own = named.flatMap(([key, each]) => (isObject(each) ? [{ name: key, schema: each }] : []));
  const described = { ...(isObject(schema) ? schema : {}), description: node["description"] };
  const parameter =
    typeof name === "string" && "in" in node && isObject(schema)
      ? [{ name, schema: described }]
      : [];
  // Forms name fields, and say nothing of what they are.
  const { "x-forms": _, ...others } = node;
  return [...own, ...parameter, ...Object.values(others).flatMap(fieldsWithin)];
}

test("every whole number of the document is money in _paise, a price in _bps, or a listed other thing", async () => {
  const text = await readFile(join(import.meta.dirname, "../docs/openapi.json"), "utf8");
  const fields = fieldsWithin(JSON.parse(text));
  const integers = fields.filter(({ schema }) => isInteger(schema)).map(({ name }) => name);
  assert.ok(integers.includes("all_in_paise") && integers.includes("price_bps"));
  const unnamed = integers.filter(
    (name) => !/_(?:paise|bps)$/.test(name) && !otherIntegers.includes(name),
  );
  assert.deepEqual([...new Set(unnamed)], []);
  const misnamed = fields.filter(
    ({ name, schema }) => /_(?:paise|bps)$/.test(name) && !isInteger(schema),
  );
  assert.deepEqual(
    misnamed.map(({ name }) => name),
    [],
    "and nothing else is called so",
  );
});

test("the document lists the headers that a quote carries beside its body", async () => {
  const text = await readFile(join(import.meta.dirname, "../docs/openapi.json"), "utf8");
  const { headers } = JSON.parse(text).paths["/v1/quote"].post.responses["200"];
  for (const name of ["X-Quote-Valid-Until", "X-Cover-Residual", "X-Cover-Residual-Bound-Paise"]) {
    assert.ok(headers[name]?.schema.type, name);
  }
  assert.ok(headers["X-Request-ID"], "and those of every answer");
});

type DescribedSchema = {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly anyOf?: readonly DescribedSchema[];
};

function isNullable({ type, anyOf = [] }: DescribedSchema): boolean {
  return [type].flat().includes("null") || anyOf.some(isNullable);
}

/** Words that say nothing of the field they stand at. */
const empty =
  /^(?:how much|how many|when|by when|why|what|what it is|which|the (?:amount|value|number|text))[.;]/i;

/** Fields of a document whose descriptions leave their reader with a question. */
function findUndescribed(document: unknown): string[] {
  return fieldsWithin(document).flatMap(({ name, schema }) => {
    const { description = "", const: only, $ref, anyOf = [] } = schema as DescribedSchema;
    const isElsewhere = $ref !== undefined || anyOf.some((each) => each.$ref !== undefined);
    if (only !== undefined || isElsewhere) return [];
    if (description === "") return [`${name} is not described`];
    if (empty.test(description)) return [`${name} says nothing: ${description}`];
    if (isNullable(schema) && !/\bnull\b/i.test(description)) {
      return [`${name} does not say when it is null: ${description}`];
    }
    return [];
  });
}

test("every field of both documents says what it is, and when it is null", async () => {
  const described = (field: object) => findUndescribed({ properties: { face_paise: field } });
  assert.equal(described({ type: "integer" }).length, 1, "without a word");
  assert.equal(described({ type: "integer", description: "How much." }).length, 1, "an empty one");
  const open = { type: ["integer", "null"], description: "The face of the credit." };
  assert.equal(described(open).length, 1, "null without a reason");
  assert.deepEqual(described({ ...open, description: "The face; null before it is known." }), []);

  for (const name of ["openapi.json", "ops-openapi.json"]) {
    const text = await readFile(join(import.meta.dirname, "../docs", name), "utf8");
    const { paths, components } = JSON.parse(text);
    assert.deepEqual([...new Set(findUndescribed([paths, components.schemas]))], [], name);
  }
});
