// The operators' listener of a service, and people who call it.

import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

import { describeOps } from "../../src/ops/openapi.ts";
import { buildOpsApp } from "../../src/ops-app.ts";
import type { App } from "../../src/platform/http/server.ts";
import type { OidcConfig } from "../../src/platform/oidc.ts";
import { openLocalRateWindow } from "../../src/access/rate-window.ts";
import { checkedSender, openConformance } from "./conformance.ts";
import { runAfter } from "./scope.ts";
import { letterhead, type Send, sender, type Service } from "./service.ts";

export type OpsService = { readonly app: App; readonly send: Send; readonly url: string };

/** Every answer that a test sees must be as the document says. */
export const checkOpsAnswer = openConformance(describeOps());

export async function startOps(
  t: Pick<TestContext, "after">,
  { ctx, metrics, clock }: Service,
  {
    twoOperatorsFromPaise = 1_000_000_000,
    trustProxy = [],
    oidc,
    port = 0,
  }: {
    readonly twoOperatorsFromPaise?: number;
    readonly trustProxy?: readonly string[];
    readonly oidc?: OidcConfig;
    readonly port?: number;
  } = {},
): Promise<OpsService> {
  const app = await buildOpsApp({
    ctx,
    metrics,
    window: openLocalRateWindow(clock.elapsedMs),
    config: {
      trustProxy,
      oidc,
      letterhead,
      twoOperatorsFromPaise,
      twoOperatorsFromBps: 100,
      smtp: undefined,
      imprint: { name: letterhead.name, address: [], gstin: null, email: null, phone: null },
      houseDir: "/nonexistent",
    },
  });
  await app.listen({ host: "127.0.0.1", port });
  runAfter(t, () => app.close());
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { app, send: checkedSender(sender(url), checkOpsAnswer), url };
}

export const asBearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Names on the wire are in snake case, and money says that it is paise. */
export function assertWireNames(value: unknown, place = "answer"): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    assert.match(name, /^([a-z0-9_ ]*|[A-Z]+)$/, `${place}.${name}`);
    assert.notEqual(name, "paise", `${place}.${name}`);
    assertWireNames(member, `${place}.${name}`);
  }
}
