// How many entries a second the ledger takes, in sets of 1, 32 and 500, against pgbench's TPC-B on
// the same durable PostgreSQL in turns. TPC-B moves one amount between three kinds of accounts and
// writes one line of history; our entries check what they move, and a deal moves a credit too.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { newId } from "../src/kernel/ids.ts";
import { checkLedger } from "../src/ledger/check-ledger.ts";
import { type Account, assertWritten, type Entry } from "../src/ledger/rules.ts";
import { postEntries } from "../src/ledger/write-books.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { migrate } from "../src/platform/postgres/migrate.ts";
import { type Database, openDatabase } from "../src/platform/postgres/postgres.ts";
import { preparePgbench } from "./pgbench.ts";
import { chooseSize } from "./sizes.ts";
import { median, printRemark, printTable, spread } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const firmCount = 20_000;
const pgbenchClients = 8;
const rounds = chooseSize("BENCH_ROUNDS", 5, 1);
const secondsPerRound = 2;
const cashPaise = 100_000_000_000;

type Shape = "transfer" | "deal";

export async function ledger(): Promise<void> {
  await using stack = openStack();
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-bench-"));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const server = await openEmbedded({ dataDir, as: "visitor", create: true });
  stack.defer(() => server.leave());
  const { role } = await migrate(server.connection);
  const { connection } = server;
  const db = openDatabase({ connection, role, connectionsMax: 8, onIdleError() {} });
  stack.defer(() => db.close());
  const firms = await openFirms(db);
  const pgbench = await preparePgbench(connection);

  // As many sets under way as a service has: single ones from many callers, large ones from few.
  const sizes = [
    { size: 1, clients: 8 },
    { size: 32, clients: 4 },
    { size: 500, clients: 2 },
  ];
  const shapes = { transfer: "one movement", deal: "a deal with its credit" } as const;
  const measures = (["transfer", "deal"] as const).flatMap((shape) =>
    sizes.map((sized) => ({ ...sized, shape, what: `${shapes[shape]}, sets of ${sized.size}` })),
  );
  const figures = measures.map(() => ({ ours: [] as number[], theirs: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [at, measure] of measures.entries()) {
      const theirs = await pgbench({ clients: pgbenchClients, seconds: secondsPerRound });
      const ours = await entriesPerSecond(db, firms, measure);
      if (round === 0) continue; // Warms both up.
      figures[at]?.ours.push(ours);
      figures[at]?.theirs.push(theirs);
    }
  }
  printTable(
    measures.map(({ what, size }, at) => {
      const { ours, theirs } = figures[at] ?? { ours: [], theirs: [] };
      return {
        what,
        ours: `${Math.round(median(ours))} entries/s`,
        yardstick: `${Math.round(median(theirs))} tps`,
        ratio: median(ours) / median(theirs),
        spread: spread(ours.map((value, index) => value / (theirs[index] ?? value))),
        goal: size === 500 ? "≥ 20000 entries/s" : "",
      };
    }),
  );
  const verdict = await checkLedger({ db, now: () => new Date() });
  printRemark(
    `${verdict.entries} entries checked in ${Math.round(verdict.tookMs)} ms: ${verdict.sound ? "sound" : "NOT SOUND"}`,
  );
}

async function openFirms(db: Database): Promise<string[]> {
  const now = new Date();
  const firms = Array.from({ length: firmCount }, () => newId("frm", now));
  for (let from = 0; from < firms.length; from += 1_000) {
    const some = firms.slice(from, from + 1_000);
    await db.pool.query(
      `insert into firms (firm_id, environment, desk_id, legal_name, connection_state, authorized_at, created_at, updated_at)
       select firm_id, 'sandbox', firm_id, firm_id, 'authorized', $2, $2, $2
       from unnest($1::text[]) as firm_id`,
      [some, now],
    );
    const deposits = some.map((firmId): Entry => ({
      environment: "sandbox",
      kind: "deposit",
      subject: firmId,
      phase: "posted",
      movements: [{ from: { kind: "external_bank" }, to: cash(firmId), paise: cashPaise }],
    }));
    assertWritten(await db.transaction(async (tx) => await postEntries(tx, deposits, now)));
  }
  return firms;
}

/** Clients write sets until the time is over; each waits for its commit. */
async function entriesPerSecond(
  db: Database,
  firms: readonly string[],
  { shape, size, clients }: { shape: Shape; size: number; clients: number },
): Promise<number> {
  const startedAt = performance.now();
  let written = 0;
  async function client(): Promise<void> {
    while (performance.now() - startedAt < secondsPerRound * 1_000) {
      const now = new Date();
      const entries = Array.from({ length: size }, () => buildRandomEntry(shape, firms));
      assertWritten(await db.transaction(async (tx) => await postEntries(tx, entries, now)));
      written += size;
    }
  }
  await Promise.all(Array.from({ length: clients }, client));
  return written / ((performance.now() - startedAt) / 1_000);
}

let made = 0;

function buildRandomEntry(shape: Shape, firms: readonly string[]): Entry {
  const at = Math.floor(Math.random() * firms.length);
  const buyer = firms[at] ?? "";
  const seller =
    firms[(at + 1 + Math.floor(Math.random() * (firms.length - 1))) % firms.length] ?? "";
  const subject = `BENCH-${String(++made).padStart(12, "0")}`;
  const pay = { from: cash(buyer), to: cash(seller), paise: 1_000 };
  if (shape === "transfer") {
    return { environment: "sandbox", kind: "fee", subject, phase: "posted", movements: [pay] };
  }
  const scripNo = subject;
  return {
    environment: "sandbox",
    kind: "deal_settlement",
    subject,
    phase: "posted",
    movements: [
      pay,
      { from: cash(buyer), to: { kind: "house_fees" }, paise: 10 },
      {
        from: { kind: "firm_credits", firmId: seller },
        to: { kind: "firm_credits", firmId: buyer },
        scripNo,
      },
    ],
  };
}

function cash(firmId: string): Account {
  return { kind: "firm_cash", firmId };
}
