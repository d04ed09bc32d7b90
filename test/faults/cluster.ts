// A PostgreSQL cluster as it is run where it must not be away for long: Patroni with etcd keeps a
// primary and two standbys, HAProxy leads to whoever is the primary, and PgBouncer keeps connections
// to HAProxy. All of it is Debian's and on the loopback, in a namespace of the programme's own.
//
//   kill        the primary and its Patroni are gone at once
//   stop        they are there and do nothing, and wake up when another has taken their place
//   partition   they work, and nobody reaches them, nor they etcd
//
// Whoever was hit comes back as a standby once another is the primary, as a supervisor would have it.

import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pg from "pg";

import { debianFile } from "../support/debian-program.ts";
import { oldestBinaries, unprivilegedUser } from "../support/external-postgres.ts";
import type { Scope } from "../support/process.ts";
import { scratchFolder } from "../support/scratch.ts";
import { findPostmaster, killPostgres, signal, stopPostgres } from "../support/stopped-postgres.ts";
import { eventually } from "./acked-orders.ts";
import {
  asynchronous,
  haproxyConfig,
  local,
  type Member,
  owner,
  patroniConfig,
  pgbouncerUsers,
  poolerSettings,
  type PoolMode,
  ports,
  throughPooler,
} from "./cluster-config.ts";
import { ask, configure, isWhole, look } from "./cluster-state.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { cutOff, reconnect } from "./namespace.ts";

/** What is needed of Debian: the file that is run, and the package it is in. */
const programs = {
  etcd: ["/usr/bin/etcd", "etcd-server"],
  patroni: ["/usr/bin/patroni", "patroni python3-etcd"],
  haproxy: ["/usr/sbin/haproxy", "haproxy"],
  pgbouncer: ["/usr/sbin/pgbouncer", "pgbouncer"],
  redis: ["/usr/bin/redis-server", "redis-server"],
  initdb: [`${oldestBinaries}/initdb`, "postgresql-15"],
} as const;

/** What cannot be installed here, or undefined. */
export async function programsMissing(): Promise<string | undefined> {
  for (const [path, fromPackage] of Object.values(programs)) {
    const found = await debianFile(path, fromPackage);
    if ("missing" in found) return found.missing;
  }
  return undefined;
}

export const faults = ["kill", "stop", "partition"] as const;
export type Fault = (typeof faults)[number];

export type Cluster = {
  readonly folder: string;
  /** Where the service finds its database, through PgBouncer and HAProxy. */
  readonly url: string;
  /** The same without PgBouncer, which not every version could work through. */
  readonly directUrl: string;
  /** The same through a PgBouncer that gives each transaction another session. */
  readonly transactionUrl: string;
  readonly asOwner: <Result>(work: (admin: pg.Client) => Promise<Result>) => Promise<Result>;
  /** Hits the primary; resolves when another has taken its place. */
  fail(fault: Fault): Promise<Hit>;
  /** Resolves when every member is there and one standby is synchronous, or none has to be. */
  awaitWhole(): Promise<void>;
  /** Standbys no longer hold up a commit, and get nothing more of what is written. */
  leaveStandbysBehind(): Promise<void>;
  /** The nodes of the service that HAProxy sends calls to. */
  listReady(): Promise<number[]>;
};

export type Hit = {
  readonly victim: string;
  readonly successor: string;
  /** Lets the one that was hit come back. */
  readonly heal: () => Promise<void>;
};

/** Some minutes: a lease, a promotion, a rewind or a copy of the whole, on a busy machine. */
const waits = 12_000;
const memberNames = ["db1", "db2", "db3"] as const;

export async function startCluster(scope: Scope, nodes: readonly number[]): Promise<Cluster> {
  const folder = await scratchFolder("scripdesk-cluster-");
  scope.after(() => rm(folder, { recursive: true, force: true }));
  const user = await unprivilegedUser();
  if (user) await chown(folder, user.uid, user.gid);
  const run = (name: string, path: string, words: readonly string[]) =>
    startDaemon(scope, { path, words, user, log: join(folder, `${name}.log`) });
  const members = memberNames.map((name, at): Member => {
    const place = at + 1;
    return {
      name,
      address: `127.0.1.${place}`,
      etcd: `127.0.2.${place}`,
      folder: join(folder, name),
    };
  });

  await startEtcd(run, folder, members);
  const patronis = new Map<string, Daemon>();
  const startPatroni = async ({ name }: Member) => {
    const words = [join(folder, name, "patroni.json")];
    patronis.set(name, await run(`${name}-patroni`, programs.patroni[0], words));
  };
  for (const member of members) {
    await mkdir(member.folder, { mode: 0o700 });
    if (user) await chown(member.folder, user.uid, user.gid);
    await writeFile(join(member.folder, "patroni.json"), patroniConfig(member, oldestBinaries));
    scope.after(async () => {
      const postmaster = await findPostmaster(join(member.folder, "data"));
      if (postmaster !== undefined) await killPostgres(postmaster);
    });
    await startPatroni(member);
  }
  await writeFile(join(folder, "haproxy.cfg"), haproxyConfig(members, nodes));
  await run("haproxy", programs.haproxy[0], ["-db", "-f", join(folder, "haproxy.cfg")]);
  await writeFile(join(folder, "users"), pgbouncerUsers);
  const startPgbouncer = async (mode: PoolMode, port: number) => {
    const file = join(folder, `pgbouncer-${mode}.ini`);
    await writeFile(file, poolerSettings({ folder, mode, port, databases: throughPooler }));
    await run(`pgbouncer-${mode}`, programs.pgbouncer[0], [file]);
    return `postgres://scripdesk@${local}:${port}/scripdesk`;
  };
  const url = await startPgbouncer("session", ports.pgbouncer);
  const transactionUrl = await startPgbouncer("transaction", ports.pgbouncer + 1);

  let isSynchronous = true;
  const cluster: Cluster = {
    folder,
    url,
    directUrl: `postgres://scripdesk@${local}:${ports.primary}/scripdesk`,
    transactionUrl,
    asOwner,
    async awaitWhole() {
      const find = async () => ((await isWhole(members, isSynchronous)) ? true : undefined);
      await eventually(find, "a whole cluster", waits);
    },
    async fail(fault) {
      const { leader } = await eventually(() => look(members), "a primary", waits);
      const victim = members.find(({ name }) => name === leader);
      const patroni = patronis.get(leader ?? "");
      if (!victim || !patroni) throw new Error(`there is no member ${leader}`);
      const heal = await hit[fault](victim, patroni, startPatroni);
      const others = members.filter((member) => member !== victim);
      const successor = await eventually(
        async () => {
          const found = (await look(others))?.leader;
          return found === victim.name ? undefined : found;
        },
        "a new primary",
        waits,
      );
      return { victim: victim.name, successor, heal };
    },
    async leaveStandbysBehind() {
      isSynchronous = false;
      await configure(members, asynchronous);
      await eventually(
        async () => ((await listSynchronous()) === "" ? true : undefined),
        "asynchronous standbys",
        waits,
      );
      const { rows } = await asOwner(
        async (admin) => await admin.query<{ pid: number }>("select pid from pg_stat_replication"),
      );
      for (const { pid } of rows) signal(pid, "SIGSTOP");
    },
    async listReady() {
      const response = await fetch(`http://${local}:${ports.stats}/;csv`);
      const lines = (await response.text()).split("\n").map((line) => line.split(","));
      const ready = lines.filter(
        ([proxy, server = "", ...rest]) =>
          proxy === "api" && server.startsWith("api-") && rest.includes("UP"),
      );
      return ready.map(([, server = ""]) => Number(server.slice("api-".length)));
    },
  };
  await cluster.awaitWhole();
  const connect = async () => await asOwner(async () => true, "postgres").catch(() => undefined);
  await eventually(connect, "a connection to the primary", waits);
  await asOwner(prepareDatabase, "postgres");
  return cluster;
}

type Run = (name: string, path: string, words: readonly string[]) => Promise<Daemon>;

async function startEtcd(run: Run, folder: string, members: readonly Member[]): Promise<void> {
  const addresses = [local, ...members.map(({ etcd }) => etcd)];
  const clients = addresses.map((address) => `http://${address}:${ports.etcd}`).join();
  const peers = `http://${local}:${ports.etcdPeers}`;
  const words = {
    name: "one",
    "data-dir": join(folder, "etcd"),
    "listen-client-urls": clients,
    "advertise-client-urls": `http://${local}:${ports.etcd}`,
    "listen-peer-urls": peers,
    "initial-advertise-peer-urls": peers,
    "initial-cluster": `one=${peers}`,
    "enable-v2": "true",
    // Its disk is that of the whole machine.
    "heartbeat-interval": "500",
    "election-timeout": "5000",
  };
  const list = Object.entries(words).map(([name, value]) => `--${name}=${value}`);
  await run("etcd", programs.etcd[0], list);
  const healthy = async () => {
    const answer = await ask(`http://${local}:${ports.etcd}/health`);
    return answer === undefined ? undefined : true;
  };
  await eventually(healthy, "etcd", waits);
}

/** How each fault is done; what it returns undoes it. */
const hit: Record<
  Fault,
  (
    victim: Member,
    patroni: Daemon,
    startPatroni: (member: Member) => Promise<void>,
  ) => Promise<() => Promise<void>>
> = {
  async kill(victim, patroni, startPatroni) {
    const postmaster = await requirePostmaster(victim);
    patroni.signal("SIGKILL");
    await killPostgres(postmaster);
    await patroni.ended;
    return async () => await startPatroni(victim);
  },
  async stop(victim, patroni) {
    const postmaster = await requirePostmaster(victim);
    patroni.signal("SIGSTOP");
    const letGo = await stopPostgres(postmaster);
    return async () => {
      letGo();
      patroni.signal("SIGCONT");
    };
  },
  async partition({ address, etcd }) {
    await cutOff([address, etcd]);
    return async () => await reconnect([address, etcd]);
  },
};

async function requirePostmaster({ name, folder }: Member): Promise<number> {
  const postmaster = await findPostmaster(join(folder, "data"));
  if (postmaster === undefined) throw new Error(`${name} has no server`);
  return postmaster;
}

async function listSynchronous(): Promise<string | undefined> {
  return await asOwner(async (admin) => {
    const { rows } = await admin.query<{ synchronous_standby_names: string }>(
      "show synchronous_standby_names",
    );
    return rows[0]?.synchronous_standby_names;
  }).catch(() => undefined);
}

/** As the server's owner, at whoever is the primary. */
async function asOwner<Result>(
  work: (admin: pg.Client) => Promise<Result>,
  database = "scripdesk",
): Promise<Result> {
  const admin = new pg.Client({
    host: local,
    port: ports.primary,
    user: owner,
    database,
    connectionTimeoutMillis: 5_000,
  });
  admin.on("error", () => {}); // The query under way fails with the same error.
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** As the operations guide says it is done. */
async function prepareDatabase(admin: pg.Client): Promise<true> {
  await admin.query("create role scripdesk login");
  await admin.query("create role scripdesk_app nologin");
  await admin.query("grant scripdesk_app to scripdesk");
  await admin.query("create database scripdesk owner scripdesk");
  return true;
}
