// The guides are pasted into a shell as they stand, each as one paste, against a service whose workers
// work beside it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { seedInventory } from "../../src/credits/seed-credits.ts";
import { freePort } from "../support/free-port.ts";
import { guideMissing, runGuide } from "../support/guide.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { startService } from "../support/service.ts";

/** Commands that open desks or act in production read the machine's clock, so the service stands at it. */
const guides = [
  { file: "docs/WALK.md", compares: 21, of: "the sandbox" },
  { file: "docs/CROSS.md", compares: 8, of: "a cross", isToday: true },
  { file: "docs/NETTING.md", compares: 3, of: "a netting" },
  { file: "docs/AUDIT.md", compares: 2, of: "the audit trail" },
  { file: "docs/WEBHOOKS.md", compares: 2, of: "a receiver of webhooks" },
  { file: "docs/SETTLE.md", compares: 10, of: "a deal of production", isToday: true },
];

for (const { file, compares, of, isToday = false } of guides) {
  test(
    `the guide of ${of} runs as one paste and answers what it shows`,
    { skip: guideMissing },
    async (t) => {
      const service = await startService(t);
      if (isToday) service.clock.set(new Date());
      await seedInventory(service.ctx);
      const { api_key: key } = await service.issue({ firmName: "Demo Desk" });
      const port = String(await freePort());
      const startMs = performance.now();
      const fromMs = isToday ? Date.now() : service.clock.elapsedMs();
      const compared = await runGuide(t, service, {
        file,
        fill: (text) =>
          text
            .replace(/^URL=.*$/m, `URL=${service.url}`)
            .replace(/^KEY=.*$/m, `KEY=${key}`)
            .replaceAll("9191", port),
        async beside() {
          service.clock.set(new Date(fromMs + performance.now() - startMs));
          await service.work();
        },
      });
      await assertLedgerSound(service);
      assert.ok(compared >= compares, `${compared} answers of the page were compared`);
    },
  );
}
