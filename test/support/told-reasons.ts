// Whether a refusal's `detail.reason` is one that the document names for the operation.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { isObject } from "../../src/kernel/json.ts";

type Told = {
  readonly method: string;
  readonly operationId: string;
  readonly pattern: RegExp;
  readonly reasons: Readonly<Record<string, readonly string[]>>;
};

let operations: Told[] | undefined;

function readOperations(): Told[] {
  const file = join(import.meta.dirname, "../../docs/openapi.json");
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as {
    paths: Record<
      string,
      Record<string, { operationId: string; "x-reasons"?: Record<string, string[]> }>
    >;
  };
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { operationId, "x-reasons": reasons = {} }]) => {
      const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      return { method, operationId, pattern, reasons };
    }),
  );
}

/** Asserts that the document names the reason of an answer, and those of the items of a set. */
export function assertReasonTold(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  if (!isObject(body)) return;
  const items = Array.isArray(body["results"]) ? body["results"].filter(isObject) : [];
  const refusals = [
    { status, refusal: body },
    ...items.map((item) => ({ status: Number(item["status"]), refusal: item["error"] })),
  ];
  for (const told of refusals) {
    const detail = isObject(told.refusal) ? told.refusal["detail"] : undefined;
    const reason = isObject(detail) ? detail["reason"] : undefined;
    if (typeof reason === "string") assertKnown(method, path, told.status, reason);
  }
}

function assertKnown(method: string, path: string, status: number, reason: string): void {
  operations ??= readOperations();
  const [bare = ""] = path.split("?");
  const fitting = operations.filter(
    (one) => one.method === method.toLowerCase() && one.pattern.test(bare),
  );
  if (fitting.length === 0) return;
  assert.ok(
    fitting.some(({ reasons }) => reasons[status]?.includes(reason)),
    `${fitting[0]?.operationId} documents no ${status} ${reason}`,
  );
}
