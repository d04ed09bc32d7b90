// `doctor` asks everything a healthy service depends on and says what to do about each answer.

import { type Config, readConfig } from "../src/config.ts";
import { listOpenWires } from "../src/config-risks.ts";
import { reviewMoney } from "../src/money-review.ts";
import type { OpenedContext } from "../src/open-context.ts";
import { listLiveSteps } from "../src/overview/live-readiness.ts";
import { readHousePapers } from "../src/platform/pages/house-papers.ts";
import { command, print, withContext } from "./command.ts";

type Finding = {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
  readonly advice: string;
};

const clockSkewMaxMs = 1_000;

const doctor = command({
  name: "doctor",
  summary: "check the configuration, the database and Redis, and what is missing before live",
  options: {
    live: { type: "boolean", help: "fail too where what a live deal needs is missing" },
  },
  async run(options) {
    const config = readConfig(process.env);
    const findings = await withContext(async (opened) => [
      runtime(),
      ...(await durability(opened)),
      await clock(opened),
      role(opened),
      await money(opened),
      await redis(config),
      transport(config),
      wires(config),
      ...(await liveSteps(opened, { config, isLive: options.live })),
    ]);
    print(findings, options);
    return findings.every(({ ok }) => ok) ? 0 : 1;
  },
});

function runtime(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > 24 || (major === 24 && minor >= 12);
  return finding("node", ok, process.version, "use Node 24.12 or later");
}

async function durability({ ctx }: OpenedContext): Promise<Finding[]> {
  const { rows } = await ctx.db.pool.query<{ name: string; setting: string }>(
    `select name, setting
     from pg_settings
     where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums')
     order by name`,
  );
  return rows.map(({ name, setting }) => {
    const ok = name === "server_version" || setting !== "off";
    const risk = name === "data_checksums" ? "damage goes unseen" : "acknowledged work can be lost";
    return finding(`postgres ${name}`, ok, setting, `turn ${name} on: ${risk}`);
  });
}

async function clock({ ctx }: OpenedContext): Promise<Finding> {
  const { rows } = await ctx.db.pool.query<{ now: Date }>("select clock_timestamp() as now");
  const skewMs = Math.abs((rows[0]?.now.getTime() ?? 0) - ctx.now().getTime());
  return finding("clock", skewMs <= clockSkewMaxMs, `${skewMs} ms off`, "synchronise the clocks");
}

function role({ role: name }: OpenedContext): Finding {
  const found = name ?? "the connecting role";
  return finding("database role", name !== undefined, found, "let the role create scripdesk_app");
}

const reviewMax = 100;

/** For the operator to read: what was done before the rules held does not stop the service. */
async function money({ ctx }: OpenedContext): Promise<Finding> {
  const { length } = await reviewMoney(ctx, reviewMax);
  const found = length === 0 ? "nothing to review" : `${length} to review: money review`;
  return finding("money", true, found, "");
}

async function redis({ redisUrl }: Config): Promise<Finding> {
  if (!redisUrl) return finding("redis", true, "not used", "");
  const { createClient } = await import("@redis/client"); // Loaded only where it is used.
  const client = createClient({ url: redisUrl, socket: { reconnectStrategy: false } });
  client.on("error", () => {}); // Reported by connect below.
  try {
    await client.connect();
    return finding("redis", (await client.ping()) === "PONG", "answers", "");
  } catch (error) {
    return finding("redis", false, (error as Error).message, "check REDIS_URL");
  } finally {
    client.destroy();
  }
}

function transport({ host, tls, trustProxy }: Config): Finding {
  const local = host === "127.0.0.1" || host === "::1" || host === "localhost";
  const ok = local || tls !== undefined || trustProxy.length > 0;
  const found = tls ? "https" : `http on ${host}`;
  return finding("transport", ok, found, "set TLS_CERT and TLS_KEY, or TRUST_PROXY behind a proxy");
}

function wires(config: Config): Finding {
  const open = listOpenWires(config);
  const found = open.length === 0 ? "encrypted, or on this machine" : open.join("; ");
  return finding("database and redis wires", open.length === 0, found, "encrypt them");
}

/** A desk may run in the sandbox before anything of it: only who is about to go live must have it. */
async function liveSteps(
  { ctx }: OpenedContext,
  { config, isLive }: { readonly config: Config; readonly isLive: boolean },
): Promise<Finding[]> {
  const { imprint, houseDir, smtp } = config;
  const papers = await readHousePapers(houseDir);
  const steps = await listLiveSteps(ctx, { imprint, papers, sendsNotices: smtp !== undefined });
  return steps.map(({ step, done, needed, found, command: words }) => ({
    check: `live ${step.replaceAll("_", " ")}`,
    ok: !isLive || !needed,
    found,
    advice: done ? "" : `npx scripdesk ${words}`,
  }));
}

function finding(check: string, ok: boolean, found: string, advice: string): Finding {
  return { check, ok, found, advice: ok ? "" : advice };
}

export const commands = [doctor];
