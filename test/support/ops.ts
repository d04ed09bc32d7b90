// The operators' listener of a service, and people who call it.

import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

import { buildOpsApp } from "../../src/ops-app.ts";
import type { App } from "../../src/platform/http.ts";
import { localRateWindow } from "../../src/usage/rate-window.ts";
import { letterhead, type Send, sender, type Service } from "./service.ts";

export type OpsService = { readonly app: App; readonly send: Send; readonly url: string };

export async function startOps(
  t: Pick<TestContext, "after">,
  { ctx, metrics, clock }: Service,
): Promise<OpsService> {
  const app = buildOpsApp({
    ctx,
    metrics,
    window: localRateWindow(clock.elapsedMs),
    config: {
      trustProxy: [],
      letterhead,
      twoOperatorsFromPaise: 1_000_000_000,
      twoOperatorsFromBps: 100,
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(() => app.close());
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { app, send: sender(url), url };
}

export const asBearer = (token: string) => ({ authorization: `Bearer ${token}` });
