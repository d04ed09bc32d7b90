import assert from "node:assert/strict";
import { test } from "node:test";

import { listRisks } from "./config-risks.ts";

const safe = {
  databaseUrl: undefined,
  databaseReadUrl: undefined,
  redisUrl: undefined,
  trustProxy: [],
  webhookAllowCidrs: [],
};

test("PostgreSQL and Redis without TLS on another machine are told, with what to do", () => {
  for (const databaseUrl of [
    "postgres://scripdesk:secret@db.example/scripdesk",
    "postgresql://db.example:5432/scripdesk?sslmode=prefer",
    "postgres://10.0.0.5/scripdesk?sslmode=disable",
    "postgres://localhost/scripdesk?host=db.example",
    "postgres://[2001:db8::5]/scripdesk",
  ]) {
    const risks = listRisks({ ...safe, databaseUrl });
    assert.equal(risks.length, 1, databaseUrl);
    assert.match(risks[0] ?? "", /^DATABASE_URL .* without TLS/);
    assert.doesNotMatch(risks.join(), /secret/);
  }
  const others = { databaseReadUrl: "postgres://db.example/s", redisUrl: "redis://cache.example" };
  assert.equal(listRisks({ ...safe, ...others }).length, 2);
});

test("connections with TLS, to this machine or through a socket are not told", () => {
  for (const databaseUrl of [
    "postgres://db.example/scripdesk?sslmode=require",
    "postgres://db.example/scripdesk?sslmode=verify-full",
    "postgres://db.example/scripdesk?ssl=true",
    "postgres://127.0.0.1:6432/scripdesk",
    "postgres://localhost/scripdesk",
    "postgres://[::1]/scripdesk",
    "postgres:///scripdesk?host=/var/run/postgresql",
    "postgres://%2Fvar%2Frun%2Fpostgresql/scripdesk",
  ]) {
    assert.deepEqual(listRisks({ ...safe, databaseUrl }), [], databaseUrl);
  }
  for (const redisUrl of [
    "rediss://cache.example",
    "redis://127.0.0.1:6379",
    "redis://localhost",
  ]) {
    assert.deepEqual(listRisks({ ...safe, redisUrl }), [], redisUrl);
  }
});

test("a list of networks that holds every address is told", () => {
  assert.match(
    listRisks({ ...safe, trustProxy: ["10.0.0.1", "0.0.0.0/0"] }).join(),
    /^TRUST_PROXY/,
  );
  assert.match(listRisks({ ...safe, webhookAllowCidrs: ["::/0"] }).join(), /^WEBHOOK_ALLOW_CIDRS/);
  assert.deepEqual(listRisks({ ...safe, trustProxy: ["10.0.0.0/8"] }), []);
});
