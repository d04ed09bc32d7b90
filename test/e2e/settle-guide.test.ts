// docs/SETTLE.md is run as it stands, against a service whose workers do their work between two blocks.
// Commands read the machine's clock, so the service stands at it too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { guideMissing, runGuide } from "../support/guide.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { startService } from "../support/service.ts";

test(
  "every block of the guide to settling runs and answers what it shows",
  { skip: guideMissing },
  async (t) => {
    const service = await startService(t);
    const work = async () => {
      service.clock.set(new Date());
      await service.work();
    };
    await work();
    const compared = await runGuide(t, service, {
      file: "docs/SETTLE.md",
      fill: (text) => text.replace(/^URL=.*$/m, `URL=${service.url}`),
      between: work,
    });
    assert.ok(compared >= 10, "the page was read");
    await assertLedgerSound(service);
  },
);
