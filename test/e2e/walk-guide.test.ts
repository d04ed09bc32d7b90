// docs/WALK.md is run as it stands, against a service whose workers do their work between two blocks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { seedInventory } from "../../src/credits/seed-credits.ts";
import { guideMissing, runGuide } from "../support/guide.ts";
import { startService } from "../support/service.ts";
import { letSettle } from "../support/settlements.ts";

test(
  "every block of the walk runs and answers what it shows",
  { skip: guideMissing },
  async (t) => {
    const service = await startService(t);
    await seedInventory(service.ctx);
    const { api_key: key } = await service.issue({ firmName: "Demo Desk" });
    const compared = await runGuide(t, service, {
      file: "docs/WALK.md",
      fill: (text) =>
        text.replace(/^URL=.*$/m, `URL=${service.url}`).replace(/^KEY=.*$/m, `KEY=${key}`),
      between: () => letSettle(service),
    });
    assert.ok(compared >= 15, "the page was read");
  },
);
