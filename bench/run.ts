// `npm run bench` runs every measurement, `npm run bench -- NAME` one of them. Ours and the
// yardstick alternate in one run: on a shared machine only their ratio means something. What an idle
// machine gives goes into docs/measured/benchmarks.md. `-- --quick` makes each small, to see that it runs.

import { endOnSignals } from "../test/support/programme-stack.ts";
import { alone } from "./alone.ts";
import { audit } from "./audit.ts";
import { check } from "./check.ts";
import { cover } from "./cover.ts";
import { credits } from "./credits.ts";
import { edge } from "./edge.ts";
import { history } from "./history.ts";
import { idle } from "./idle.ts";
import { ledger } from "./ledger.ts";
import { life, storage, wal } from "./life.ts";
import { lookups } from "./lookups.ts";
import { netting } from "./netting.ts";
import { orders } from "./orders.ts";
import { explainUnkept, keepFinding, measureOthers } from "./page.ts";
import { quotes } from "./quotes.ts";
import { scale } from "./scale.ts";
import { start } from "./start.ts";
import { streams } from "./streams.ts";
import { takeFound } from "./support.ts";
import { webhooks } from "./webhooks.ts";

const measurements: Readonly<Record<string, () => Promise<void>>> = {
  edge,
  credits,
  quotes,
  scale,
  cover,
  netting,
  ledger,
  check,
  orders,
  alone,
  life,
  storage,
  wal,
  streams,
  webhooks,
  audit,
  history,
  lookups,
  start,
  idle,
};

const wanted = process.argv.slice(2).filter((word) => word !== "--quick");
const unknown = wanted.filter((name) => !(name in measurements));
if (unknown.length > 0 || wanted.includes("--help")) {
  process.stderr.write(`[--quick] measurements: ${Object.keys(measurements).join(", ")}\n`);
  process.exitCode = 2;
} else {
  endOnSignals();
  for (const [name, measure] of Object.entries(measurements)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const others = await measureOthers();
    process.stdout.write(`${name}\n`);
    await measure();
    const rolledBack = explainUnkept({ others });
    const finding = { name, others, ...takeFound() };
    if (rolledBack === undefined) await keepFinding(finding);
    else process.stdout.write(`${rolledBack}\n`);
  }
}
