import assert from "node:assert/strict";
import { test } from "node:test";

import { readSlug, startService } from "../support/service.ts";

test("a number in a query string is a whole number written plainly, or it is refused", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const forms = [
    "1.5",
    "1.0",
    "1e2",
    "0x10",
    "%2B1",
    "%201",
    "1%20",
    "01",
    "",
    "true",
    "null",
    "1&limit=2",
  ];
  for (const form of [...forms, "9007199254740993", "-1", "٣"]) {
    for (const path of ["/v1/keys", "/v1/groups", "/v1/events"]) {
      const answer = await service.send("GET", `${path}?limit=${form}`, { key, expect: 422 });
      assert.equal(readSlug(answer), "validation_error");
    }
  }
  await service.send("GET", "/v1/keys?limit=500", { key, expect: 200 });
});

test("a + of a time that arrived as a space is named in the refusal", async (t) => {
  const service = await startService(t);
  const { api_key: key } = await service.issue();
  const time = "2026-11-15T00:00:00+05:30";
  for (const path of ["/v1/orders", "/v1/settlements", "/v1/payouts", "/v1/audit"]) {
    const answer = await service.send("GET", `${path}?from=${time}`, { key, expect: 422 });
    assert.match(answer.body.detail.fields[0].problem, /write it as %2B/, path);
    await service.send("GET", `${path}?from=${encodeURIComponent(time)}`, { key, expect: 200 });
    const wrong = await service.send("GET", `${path}?from=yesterday`, { key, expect: 422 });
    assert.doesNotMatch(wrong.text, /%2B/, path);
  }
});
