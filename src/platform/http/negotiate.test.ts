import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseFormat } from "./negotiate.ts";

const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

const chosen: readonly (readonly [string | undefined, string])[] = [
  [undefined, "json"],
  ["", "json"],
  ["*/*", "json"],
  [browser, "json"],
  ["application/json, text/plain, */*", "json"],
  ["text/html, image/gif, *; q=.2, */*; q=.2", "json"],
  ["application/json", "json"],
  ["text/csv", "csv"],
  ["TEXT/CSV; charset=utf-8", "csv"],
  ["text/*", "csv"],
  ["application/*", "json"],
  [xlsx, "xlsx"],
  ["application/pdf", "pdf"],
  [`text/csv;q=0.5, ${xlsx}`, "xlsx"],
  [`text/csv;q=0.5, ${xlsx} ; q=0.4`, "csv"],
  ["application/json;q=0.1, text/csv;q=0.2", "csv"],
  ["*/*, application/json;q=0", "csv"],
  ["text/csv;q=0, */*;q=0.1", "json"],
  ["text/csv;q=0", "json"],
  ["text/csv;q=2", "json"],
  ["text/csv;q=x", "json"],
  ["image/png", "json"],
  [";;,,/,*/", "json"],
  [`${"a/b,".repeat(3_000)}text/csv`, "csv"],
];

test("the accepted format of the highest weight is chosen, and JSON where none is accepted", () => {
  for (const [accept, format] of chosen) {
    assert.equal(chooseFormat(accept, ["json", "csv", "xlsx", "pdf"]), format, accept);
  }
  assert.equal(chooseFormat("text/csv, application/pdf;q=0.1", ["json", "pdf"]), "pdf");
});
