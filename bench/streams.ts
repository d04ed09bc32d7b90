// One market update to ten thousand streams, against bare Node writing the same bytes to as many
// sockets; then a tenth of the readers stop reading, and are cut while the others get everything.
//
// A loopback device takes segments of 64 KiB, and so holds four MiB for a reader that has stopped: a
// thousand of them would fill the machine's memory for TCP. Where it may, the measurement runs in a
// network of its own with segments as they are on a wire; elsewhere fewer readers stop.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { chooseSize } from "./sizes.ts";
import type { ReadersAnswer, ReadersOrder } from "./stream-readers.ts";
import {
  type Measured,
  median,
  portFrom,
  printTable,
  residentMiB,
  type Row,
  type RunningService,
  spread,
  startService,
} from "./support.ts";
import { endChild, endOnSignals, openStack } from "../test/support/programme-stack.ts";

const ownNetwork = "BENCH_OWN_NETWORK";
const readers = chooseSize("BENCH_STREAMS", 10_000, 200);
const streamsPerKey = 5;
const rounds = chooseSize("BENCH_ROUNDS", 7, 1);
const mintingAtOnce = 20;
/** A desk of the sandbox may have a thousand child keys. */
const keysPerDesk = 500;
/** Of a card with so many bands an update has some 10 KiB: stalled readers lag sooner. */
const wideBands = 200;
const wideUpdatesMax = 200;

export async function streams(): Promise<void> {
  printTable((await measureInOwnNetwork()) ?? (await measure()));
}

async function measure(): Promise<Row[]> {
  const stalledCount = process.env[ownNetwork] ? readers / 10 : readers / 100;
  await using stack = openStack();
  const service = await startService(stack);
  const bare = await startBare(stack);
  const requests = await requestsFor(service);
  const publish = await publisher(stack, service);
  const ours = await startReaders(stack);
  const theirs = await startReaders(stack);
  await ours({ do: "open", port: service.port, requests });
  await theirs({ do: "open", port: bare.port, requests });

  const oursMs: number[] = [];
  const bareMs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const reached = ours({ do: "await" });
    await publish();
    const { spreadMs, text } = await reached;
    const written = theirs({ do: "await" });
    bare.write(text.slice(text.indexOf("id: ")));
    const yardstick = await written;
    if (round === 0) continue; // Both warm up.
    oursMs.push(spreadMs);
    bareMs.push(yardstick.spreadMs);
  }
  const memory = await residentMiB(service);
  const cut = await cutStalled({ service, ours, publish, stalledCount });

  const ratios = oursMs.map((ms, round) => ms / (bareMs[round] ?? ms));
  return [
    {
      what: `one update to ${readers} streams`,
      ours: `${Math.round(median(oursMs))} ms`,
      yardstick: `${Math.round(median(bareMs))} ms bare sockets`,
      ratio: median(ratios),
      spread: spread(ratios),
      goal: "≤ 1.25",
    },
    {
      what: `memory of the service with ${readers} streams`,
      ours: `${Math.round(memory)} MiB, at most ${Math.round(cut.memory)} MiB with stalled ones`,
      yardstick: "400 MiB",
      ratio: Math.max(memory, cut.memory) / 400,
      spread: "",
      goal: "≤ 1",
    },
    {
      what: `stalled readers cut, within ${cut.updates} updates`,
      ours: `${cut.cut}; ${cut.reading} others got all`,
      yardstick: `${stalledCount} of ${readers}`,
      ratio: cut.cut / stalledCount,
      spread: "",
      goal: "1",
    },
  ];
}

/** What this file finds in a network of its own; undefined where that is not allowed. */
async function measureInOwnNetwork(): Promise<Row[] | undefined> {
  const isAllowed = spawn("unshare", ["-n", "ip", "link"], { stdio: "ignore" });
  isAllowed.on("error", () => {}); // There is no such command here.
  const [code] = (await once(isAllowed, "close")) as [number];
  if (code !== 0) return undefined;
  await using stack = openStack();
  const again = `ip link set lo mtu 1500 up && exec "$0" "$@"`;
  const words = [
    "-n",
    "sh",
    "-c",
    again,
    process.execPath,
    import.meta.filename,
    ...process.argv.slice(2),
  ];
  const env = { ...process.env, [ownNetwork]: "1" };
  const child = spawn("unshare", words, { env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  stack.defer(() => endChild(child));
  let rows: Row[] | undefined;
  child.on("message", (found: Row[]) => (rows = found));
  await once(child, "close");
  if (!rows) throw new Error("the measurement in a network of its own failed");
  return rows;
}

async function startBare(
  stack: AsyncDisposableStack,
): Promise<Measured & { write(text: string): void }> {
  const child = fork(join(import.meta.dirname, "bare-streams.ts"), { stdio: "pipe" });
  stack.defer(() => endChild(child));
  const port = await portFrom(child);
  return { pid: child.pid ?? 0, port, write: (text) => void child.send(text) };
}

async function startReaders(stack: AsyncDisposableStack) {
  const child: ChildProcess = fork(join(import.meta.dirname, "stream-readers.ts"));
  stack.defer(() => endChild(child));
  const failed = once(child, "exit").then(() => {
    throw new Error("the readers ended");
  });
  failed.catch(() => {}); // Ending is expected once nobody asks any more.
  return async (order: ReadersOrder): Promise<ReadersAnswer> => {
    child.send(order);
    const [answer] = (await Promise.race([once(child, "message"), failed])) as [ReadersAnswer];
    return answer;
  };
}

type Issued = { readonly api_key: string };

/** A request per reader, with as many keys as that takes. */
async function requestsFor(service: RunningService): Promise<string[]> {
  const issue = ["--env", "sandbox", "--scopes", "*", "--buy"];
  const mint = async (root: string) => {
    const response = await fetch(`http://127.0.0.1:${service.port}/v1/keys`, {
      method: "POST",
      headers: { "x-service-key": root, "content-type": "application/json" },
      body: JSON.stringify({ name: "reader", kind: "app", scopes: ["market:read"] }),
    });
    if (response.status !== 201) throw new Error(`a key was refused: ${await response.text()}`);
    return ((await response.json()) as Issued).api_key;
  };
  const keys: string[] = [];
  while (keys.length < readers / streamsPerKey) {
    const firm = ["--firm", `Bench ${keys.length}`];
    const desk = (await service.command("keys", "issue", ...firm, ...issue)) as Issued;
    for (let minted = 0; minted < keysPerDesk; minted += mintingAtOnce) {
      const minting = Array.from({ length: mintingAtOnce }, () => mint(desk.api_key));
      keys.push(...(await Promise.all(minting)));
    }
  }
  return Array.from({ length: readers }, (_, index) => {
    const key = keys[Math.floor(index / streamsPerKey)];
    return `GET /v1/market/stream HTTP/1.1\r\nhost: bench\r\nx-service-key: ${key}\r\n\r\n`;
  });
}

/** Changes the market as a new card does; a wide one has many bands, and so a long update. */
async function publisher(stack: AsyncDisposableStack, { dataDir }: RunningService) {
  const embedded = await openEmbedded({ dataDir, as: "visitor", create: true });
  stack.defer(() => embedded.leave());
  const client = new pg.Client(embedded.connection);
  await client.connect();
  stack.defer(() => client.end());
  const narrow = await client.query<{ size_bands: unknown }>(
    "select size_bands from rate_cards where environment = 'sandbox' and scheme = 'RODTEP'",
  );
  const bounds = Array.from({ length: wideBands }, (_, index) => (index + 1) * 1_000_000_000);
  const wide = [...bounds, null].map((below_paise) => ({ below_paise, bps: 0 }));
  return async ({ isWide = false } = {}): Promise<void> => {
    await client.query(
      `insert into rate_cards (
        environment, scheme, version, state, mid_bps, half_spread_bps, size_bands, validity_bands,
        floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise, house_limit_paise, quote_window_s,
        margin_bps, fee_bps, published_at, published_by
      )
      select environment, scheme, version + 1, state, 9800 + (version + 1) % 2, half_spread_bps,
        $1, validity_bands, floor_bps, ceiling_bps, ask_ceiling_bps, face_max_paise,
        house_limit_paise, quote_window_s, margin_bps, fee_bps, now(), 'bench'
      from rate_cards
      where environment = 'sandbox' and scheme = 'RODTEP'
      order by version desc
      limit 1`,
      [JSON.stringify(isWide ? wide : narrow.rows[0]?.size_bands)],
    );
  };
}

/** Stops some readers and goes on with updates until the service has let go of as many. */
async function cutStalled({
  service,
  ours,
  publish,
  stalledCount,
}: {
  service: RunningService;
  ours: (order: ReadersOrder) => Promise<ReadersAnswer>;
  publish: (options: { isWide: boolean }) => Promise<void>;
  stalledCount: number;
}) {
  await ours({ do: "stall", count: stalledCount });
  let memory = 0;
  let updates = 0;
  while ((await openStreams(service)) > readers - stalledCount && updates < wideUpdatesMax) {
    const reached = ours({ do: "await" });
    await publish({ isWide: true });
    await reached;
    updates += 1;
    memory = Math.max(memory, await residentMiB(service));
  }
  const { reading, stalled } = await ours({ do: "resume" });
  return { cut: stalledCount - stalled, updates, reading, memory };
}

/** Connections that the operating system knows of at the service's port. */
async function openStreams({ pid, port }: Measured): Promise<number> {
  const table = await readFile(`/proc/${pid}/net/tcp`, "utf8");
  const established = new RegExp(
    `^ *\\d+: [0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, "0")} [0-9A-F:]+ 01 `,
    "gm",
  );
  return [...table.matchAll(established)].length;
}

if (import.meta.main) {
  endOnSignals();
  const rows = await measure();
  process.send?.(rows, () => process.disconnect());
}
