// Every setting of the service, read once from the environment. All problems are reported at once.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { createSecureContext } from "node:tls";

import { twoPeopleFromBps, twoPeopleFromPaise } from "./operators/approval-rules.ts";
import type { Budgets } from "./kernel/budget.ts";
import { blockMinPaise } from "./crosses/rules.ts";
import { findEmailProblem, findGstinProblem, findPhoneProblem } from "./kernel/identifiers.ts";
import type { Imprint } from "./platform/pages/house-page.ts";
import type { Letterhead } from "./platform/pdf.ts";
import { parseNetwork } from "./kernel/networks.ts";
import { findNearest } from "./kernel/text.ts";
import { findAddressProblem } from "./notices/rules.ts";
import { type LogLevel, logLevels } from "./platform/log.ts";
import type { OidcConfig } from "./platform/oidc.ts";
import { connectionsMin } from "./platform/postgres/connections.ts";
import { type ScheduleName, timePattern, timesMax } from "./unattended/schedule-rules.ts";
import type { SmtpServer } from "./platform/smtp.ts";

/** What a process does: serves the API, runs the workers, or both. */
const roles = ["all", "api", "worker"] as const;
type ProcessRole = (typeof roles)[number];

export type Config = {
  readonly role: ProcessRole;
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  /** Where /ops listens, and /metrics without a port of its own; undefined turns them off. */
  readonly opsPort: number | undefined;
  /** Whether OPS_PORT is set: a default port that is in use is skipped, a chosen one is an error. */
  readonly opsPortChosen: boolean;
  /** The certificate of the operators' listener. */
  readonly opsTls: TlsPair | undefined;
  readonly metricsHost: string;
  /** Where /metrics listens by itself; undefined leaves it with /ops. */
  readonly metricsPort: number | undefined;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** A standby of that database, for exports, statements and history. */
  readonly databaseReadUrl: string | undefined;
  readonly databaseConnections: number;
  readonly redisUrl: string | undefined;
  readonly masterKey: Buffer | undefined;
  readonly masterKeyOther: Buffer | undefined;
  readonly trustProxy: readonly string[];
  readonly tls: TlsPair | undefined;
  readonly inFlightMax: number;
  /** Threads for heavy work; with several, one is reserved for live. */
  readonly heavyThreads: number;
  /** How long requests are still served after SIGTERM, while readiness is off. */
  readonly drainS: number;
  /** The budget of one address on public routes. */
  readonly publicBudgets: Budgets;
  /** Live money, credits and attestations from this amount on need two operators. */
  readonly twoOperatorsFromPaise: number;
  /** A live rate card that moves a price, or raises a limit, by this much needs two operators. */
  readonly twoOperatorsFromBps: number;
  /** The least face of a block on the cross desk. */
  readonly blockMinPaise: number;
  /** The letterhead of statements and contract notes. */
  readonly letterhead: Letterhead;
  /** The same with how the house is reached, for the public page. */
  readonly imprint: Imprint;
  /** The folder of what the house publishes: `terms.md` and `privacy.md`. */
  readonly houseDir: string;
  /** Seconds before each delivery attempt; its length is the number of attempts. */
  readonly webhookScheduleS: readonly number[];
  /** Private networks that webhooks may reach. */
  readonly webhookAllowCidrs: readonly string[];
  /** Where audit checkpoints are sent: a file or an https address; undefined keeps them. */
  readonly auditCheckpoints: string | undefined;
  /** Where notices are sent by mail; undefined sends none. */
  readonly smtp: SmtpConfig | undefined;
  /** The directory that signs people in. */
  readonly oidc: OidcConfig | undefined;
  /** What runs without people, as a machine. */
  readonly unattended: UnattendedConfig | undefined;
  readonly logLevel: LogLevel;
};

type UnattendedConfig = {
  /** The machine that acts. */
  readonly machine: string;
  /** The folder that files are put into. */
  readonly dropDir: string | undefined;
  /** The saved form of the bank's statements there. */
  readonly dropForm: string | undefined;
  /** The folder that schedules write into. */
  readonly outDir: string | undefined;
  /** The file of the bank's own form of payout files. */
  readonly payoutForm: string | undefined;
  /** Times of the day in IST, by what runs at them. */
  readonly times: Readonly<Partial<Record<ScheduleName, readonly string[]>>>;
};

type TlsPair = { readonly cert: Buffer; readonly key: Buffer };

export type SmtpConfig = SmtpServer & {
  /** The address that mail is sent from. */
  readonly from: string;
  /** Where people reach the API's listener, without a slash at the end. */
  readonly publicUrl: string;
  readonly perMinute: number;
};

export type Variables = Readonly<Record<string, string | undefined>>;

/** At once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. */
const scheduleDefault = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
const scheduleLengthMax = 20;
const scheduleDelaySMax = 604_800;

/** The variables in the order of the documentation, with the purpose of each. */
export const settings = {
  ROLE: "all, api (no workers) or worker (workers, and no API but /healthz and /readyz) (all)",
  HOST: "address the API listens on (127.0.0.1)",
  PORT: "port of the API (8080); 0 takes any free one",
  OPS_HOST: "address that /ops, /console and /metrics listen on (127.0.0.1)",
  OPS_PORT: "their port (9464); 0 takes any free one, off turns them off",
  OPS_TLS_CERT: "certificate file to serve them by https (none)",
  OPS_TLS_KEY: "private key file of OPS_TLS_CERT (none)",
  METRICS_HOST: "address that /metrics listens on where METRICS_PORT is set (127.0.0.1)",
  METRICS_PORT: "port of /metrics alone; 0 takes any free one (none: it is with /ops)",
  DATA_DIR: "embedded database and master key (./data)",
  DATABASE_URL: "an external PostgreSQL 15 or later (none: embedded)",
  DATABASE_READ_URL:
    "a standby of DATABASE_URL that exports, statements and history are read from (none)",
  DATABASE_CONNECTIONS: "most connections of this process to PostgreSQL (16)",
  REDIS_URL: "Redis or Valkey that keeps rate windows for several processes (none: in-process)",
  MASTER_KEY:
    "32 bytes as 64 hex digits; seals secrets, signs cursors (made in DATA_DIR; required with DATABASE_URL)",
  MASTER_KEY_OTHER:
    "the other master key while it is changed: opens, but neither seals nor signs (none)",
  TRUST_PROXY: "addresses or networks of proxies whose forwarded headers count (none)",
  TLS_CERT: "certificate file to serve https directly (none)",
  TLS_KEY: "private key file of TLS_CERT (none)",
  IN_FLIGHT_MAX: "requests worked on at once before new ones are shed (10000)",
  HEAVY_THREADS:
    "most threads for netting, cover, PDFs and imports (one per core but one, at least 2)",
  DRAIN_S: "seconds that everything is still served after SIGTERM, while /readyz is 503 (3)",
  PUBLIC_RATES_PER_MINUTE: "calls of /public/rates per address and minute (60)",
  PUBLIC_ENQUIRY_PER_MINUTE: "calls of /public/enquiry per address and minute (6)",
  PUBLIC_ENQUIRY_PER_DAY: "calls of /public/enquiry per address and IST day (30)",
  TWO_OPERATORS_FROM_PAISE:
    "live payouts, deposits, inventory and attestations of this much or more take two people (1000000000, which is 1 crore rupees)",
  TWO_OPERATORS_FROM_BPS:
    "a live rate card that moves a price, or raises a limit, by this much takes two people (100)",
  CROSS_BLOCK_MIN_PAISE:
    "the least face of a block on the cross desk (1000000000, which is 1 crore rupees)",
  HOUSE_NAME: "the house on the page, on statements and contract notes (Scripdesk)",
  HOUSE_ADDRESS: "its address on them, in lines separated by | (none)",
  HOUSE_GSTIN: "its GSTIN on them (none)",
  HOUSE_EMAIL: "where the page says that the house is reached (none)",
  HOUSE_PHONE: "its telephone on the page (none)",
  HOUSE_DIR: "folder with terms.md and privacy.md of the house (house in DATA_DIR)",
  WEBHOOK_SCHEDULE_S: `seconds before each attempt of a webhook delivery (${scheduleDefault.join(",")})`,
  WEBHOOK_ALLOW_CIDRS: "networks that webhooks may reach although they are not public (none)",
  AUDIT_CHECKPOINTS: "file or https address that checkpoints of the audit trail go to (none)",
  SMTP_URL:
    "mail server for notices, smtp://[user:password@]host[:port] or smtps://… (none: no notices)",
  SMTP_FROM: "address that notices are sent from (none; required with SMTP_URL)",
  SMTP_PER_MINUTE: "most mails that this process sends in a minute (60)",
  PUBLIC_URL:
    "where people reach the API's listener, for links in notices (none; required with SMTP_URL)",
  OIDC_ISSUER:
    "the house's directory, which signs people in to the console by OpenID Connect (none)",
  OIDC_CLIENT_ID: "this service's id in it (none; required with OIDC_ISSUER)",
  OIDC_CLIENT_SECRET: "its secret there (none; required with OIDC_ISSUER)",
  OIDC_REDIRECT_URI:
    "where it sends people back, https://…/console/directory/back (none; required with OIDC_ISSUER)",
  OIDC_GROUP: "only people with this among their groups are taken (none: everybody it confirms)",
  UNATTENDED_MACHINE:
    "the machine that does what runs by itself (none; required with DROP_DIR and SCHEDULE_…)",
  DROP_DIR: "folder that the bank's statements and customs' balances are put into (none)",
  DROP_FORM: "the saved form of the bank's statements in it (none: the generic one)",
  OUT_DIR: "folder that schedules write into (none; required with SCHEDULE_…)",
  PAYOUT_FORM: "JSON file of the bank's own form of payout files (none: the generic one)",
  SCHEDULE_PAYOUT_FILES: "times of the day in IST to make payout files, as 11:00,16:30 (none)",
  SCHEDULE_ARCHIVES: "times to archive the statements of a closed month (none)",
  SCHEDULE_BACKUPS: "times to back the embedded database up (none)",
  LOG_LEVEL: "fatal, error, warn, info, debug, trace or silent (info)",
} as const;

/** Settings with a secret: each may come from the file that NAME_FILE names. */
export const secretSettings = [
  "DATABASE_URL",
  "DATABASE_READ_URL",
  "REDIS_URL",
  "MASTER_KEY",
  "MASTER_KEY_OTHER",
  "SMTP_URL",
  "OIDC_CLIENT_SECRET",
] as const satisfies readonly (keyof typeof settings)[];

const secretBytesMax = 4_096;
/** The rights of those who are neither the owner nor of the group. */
const rightsOfOthers = 0o007;
/** Shorter names, such as HOST, are too near to words of other programs. */
const mistypedLengthMin = 6;
/** A variable has at most this share of its letters wrong to be taken for a setting. */
const mistypedShare = 5;
const budgetMax = 1_000_000;

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`configuration: ${problems.join("; ")}`);
  }
}

export function readConfig(variables: Variables): Config {
  const problems = listUnknown(variables);
  const secrets = readSecrets(variables, problems);
  const read = (name: keyof typeof settings) =>
    secrets.get(name) ?? (variables[name]?.trim() || undefined);

  function integer(name: keyof typeof settings, fallback: number, [least, most]: [number, number]) {
    const text = read(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    problems.push(`${name} must be a whole number from ${least} to ${most}, not "${text}"`);
    return fallback;
  }

  function url(name: keyof typeof settings, protocols: readonly string[]) {
    const text = read(name);
    if (text === undefined) return undefined;
    // The value may contain a password, so the message does not repeat it.
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
    problems.push(`${name} must be a ${protocols.join("// or ")}// address`);
    return undefined;
  }

  function databaseUrl(name: "DATABASE_URL" | "DATABASE_READ_URL") {
    const found = url(name, ["postgres:", "postgresql:"]);
    const { searchParams } = new URL(found ?? "postgres://");
    // The driver reads these whenever it connects.
    for (const part of ["sslrootcert", "sslcert", "sslkey"]) {
      file(name, searchParams.get(part) ?? undefined);
    }
    return found;
  }

  function databaseReadUrl() {
    const found = databaseUrl("DATABASE_READ_URL");
    if (found && !read("DATABASE_URL")) problems.push("DATABASE_READ_URL goes with DATABASE_URL");
    return found;
  }

  function file(name: keyof typeof settings, path: string | undefined) {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch {
      problems.push(`${name} names a file that cannot be read: ${path}`);
      return undefined;
    }
  }

  function masterKeyOther() {
    const text = read("MASTER_KEY_OTHER");
    if (text === undefined) return undefined;
    if (!read("MASTER_KEY")) problems.push("MASTER_KEY_OTHER goes with MASTER_KEY");
    if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
    problems.push("MASTER_KEY_OTHER must be 64 hex digits");
    return undefined;
  }

  function masterKey() {
    const text = read("MASTER_KEY");
    if (text === undefined) {
      if (read("DATABASE_URL")) {
        problems.push("MASTER_KEY is required with DATABASE_URL (make one: openssl rand -hex 32)");
      }
      return undefined;
    }
    if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
    problems.push("MASTER_KEY must be 64 hex digits (make one: openssl rand -hex 32)");
    return undefined;
  }

  function networks(name: keyof typeof settings) {
    const named = (read(name) ?? "").split(",").map((text) => text.trim());
    return named.filter(Boolean).filter((network) => {
      if (parseNetwork(network)) return true;
      problems.push(`${name} has "${network}", which is no address or network`);
      return false;
    });
  }

  function webhookSchedule(): readonly number[] {
    const text = read("WEBHOOK_SCHEDULE_S");
    if (text === undefined) return scheduleDefault;
    const delays = text.split(",").map((delay) => delay.trim());
    const isDelay = (delay: string) => /^\d+$/.test(delay) && Number(delay) <= scheduleDelaySMax;
    if (delays.length <= scheduleLengthMax && delays.every(isDelay)) return delays.map(Number);
    problems.push(
      `WEBHOOK_SCHEDULE_S must be 1 to ${scheduleLengthMax} whole numbers up to ${scheduleDelaySMax}, separated by commas`,
    );
    return scheduleDefault;
  }

  function letterhead(): Letterhead {
    const gstin = read("HOUSE_GSTIN") ?? null;
    const problem = gstin === null ? undefined : findGstinProblem(gstin, null);
    if (problem) problems.push(`HOUSE_GSTIN ${problem}`);
    const address = (read("HOUSE_ADDRESS") ?? "").split("|").map((line) => line.trim());
    return {
      name: read("HOUSE_NAME") ?? "Scripdesk",
      address: address.filter((line) => line !== ""),
      gstin,
    };
  }

  function imprint(letterhead: Letterhead): Imprint {
    const email = read("HOUSE_EMAIL") ?? null;
    const phone = read("HOUSE_PHONE") ?? null;
    const emailProblem = email === null ? undefined : findEmailProblem(email);
    if (emailProblem) problems.push(`HOUSE_EMAIL ${emailProblem}`);
    const phoneProblem = phone === null ? undefined : findPhoneProblem(phone);
    if (phoneProblem) problems.push(`HOUSE_PHONE ${phoneProblem}`);
    return { ...letterhead, email, phone };
  }

  function tls(prefix: "" | "OPS_"): TlsPair | undefined {
    const names = [`${prefix}TLS_CERT`, `${prefix}TLS_KEY`] as const;
    const [cert, key] = names.map((name) => file(name, read(name)));
    if (Boolean(read(names[0])) !== Boolean(read(names[1]))) {
      problems.push(`${names.join(" and ")} go together`);
    }
    if (!cert || !key) return undefined;
    try {
      createSecureContext({ cert, key });
    } catch (error) {
      const { message } = error as Error;
      problems.push(`${names.join(" and ")} are no certificate and its private key: ${message}`);
    }
    return { cert, key };
  }

  /** The value has a password, so no message repeats it. */
  function smtpServer(text: string): SmtpServer | undefined {
    const form =
      /^(smtps?):\/\/(?:([^\s:@/?#]+):([^\s:@/?#]+)@)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?\/?$/i;
    const [, protocol = "", user, pass, host = "", port] = form.exec(text) ?? [];
    const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
    try {
      if (host === "" || !isPort) throw new Error("not of this form");
      return {
        host: host.replaceAll(/[[\]]/g, ""),
        port: port === undefined ? undefined : Number(port),
        secure: protocol.toLowerCase() === "smtps",
        credentials:
          user === undefined || pass === undefined
            ? undefined
            : { user: decodeURIComponent(user), pass: decodeURIComponent(pass) },
      };
    } catch {
      problems.push(
        "SMTP_URL must be smtp://[user:password@]host[:port] or smtps://…, with signs in user and password percent-encoded",
      );
      return undefined;
    }
  }

  function smtp(): SmtpConfig | undefined {
    const perMinute = integer("SMTP_PER_MINUTE", 60, [1, 10_000]);
    const from = read("SMTP_FROM")?.toLowerCase();
    const problem = from === undefined ? undefined : findAddressProblem(from);
    if (problem) problems.push(`SMTP_FROM ${problem}`);
    const publicUrl = url("PUBLIC_URL", ["https:", "http:"])?.replace(/\/+$/, "");
    if (publicUrl && /[?#]/.test(publicUrl)) problems.push("PUBLIC_URL must have no ? and no #");
    const text = read("SMTP_URL");
    if (text === undefined) return undefined;
    const server = smtpServer(text);
    for (const name of ["SMTP_FROM", "PUBLIC_URL"] as const) {
      if (!read(name)) problems.push(`${name} is required with SMTP_URL`);
    }
    return server && { ...server, from: from ?? "", publicUrl: publicUrl ?? "", perMinute };
  }

  /** Plain http is for a directory on this machine. */
  function directoryUrl(name: "OIDC_ISSUER" | "OIDC_REDIRECT_URI") {
    const found = url(name, ["https:", "http:"]);
    if (found === undefined) return undefined;
    const { protocol, hostname } = new URL(found);
    if (protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname)) {
      problems.push(`${name} must be https, but on this machine`);
    }
    return found;
  }

  function oidc(): OidcConfig | undefined {
    const issuer = directoryUrl("OIDC_ISSUER");
    const redirectUri = directoryUrl("OIDC_REDIRECT_URI");
    if (redirectUri && new URL(redirectUri).pathname !== "/console/directory/back") {
      problems.push("OIDC_REDIRECT_URI must end with /console/directory/back");
    }
    const others = ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_REDIRECT_URI"] as const;
    if (!read("OIDC_ISSUER")) {
      const alone = [...others, "OIDC_GROUP" as const].filter((name) => read(name));
      if (alone.length > 0) problems.push(`${alone.join(", ")} goes with OIDC_ISSUER`);
      return undefined;
    }
    for (const name of others) {
      if (!read(name)) problems.push(`${name} is required with OIDC_ISSUER`);
    }
    return {
      issuer: issuer ?? "",
      clientId: read("OIDC_CLIENT_ID") ?? "",
      clientSecret: read("OIDC_CLIENT_SECRET") ?? "",
      redirectUri: redirectUri ?? "",
      group: read("OIDC_GROUP"),
    };
  }

  function unattended(): UnattendedConfig | undefined {
    const machine = read("UNATTENDED_MACHINE");
    const dropDir = read("DROP_DIR");
    const dropForm = read("DROP_FORM");
    if (dropDir !== undefined && machine === undefined) {
      problems.push("UNATTENDED_MACHINE is required with DROP_DIR");
    }
    if (dropForm !== undefined && dropDir === undefined) {
      problems.push("DROP_FORM goes with DROP_DIR");
    }
    const outDir = read("OUT_DIR");
    const times = {
      ...timesOfDay("SCHEDULE_PAYOUT_FILES", "payout-files"),
      ...timesOfDay("SCHEDULE_ARCHIVES", "archives"),
      ...timesOfDay("SCHEDULE_BACKUPS", "backups"),
    };
    if (Object.keys(times).length > 0) {
      for (const name of ["UNATTENDED_MACHINE", "OUT_DIR"] as const) {
        if (!read(name)) problems.push(`${name} is required with SCHEDULE_…`);
      }
    }
    if ("backups" in times && read("DATABASE_URL")) {
      problems.push(
        "SCHEDULE_BACKUPS is for the embedded database: back DATABASE_URL up by its tools",
      );
    }
    const payoutForm = read("PAYOUT_FORM");
    file("PAYOUT_FORM", payoutForm);
    if (machine === undefined) return undefined;
    return {
      machine,
      dropDir: dropDir && resolve(dropDir),
      dropForm,
      outDir: outDir && resolve(outDir),
      payoutForm: payoutForm && resolve(payoutForm),
      times,
    };
  }

  function timesOfDay(name: keyof typeof settings, schedule: ScheduleName) {
    const text = read(name);
    if (text === undefined) return {};
    const times = text.split(",").map((time) => time.trim());
    if (times.length <= timesMax && times.every((time) => timePattern.test(time))) {
      return { [schedule]: [...new Set(times)].toSorted() };
    }
    problems.push(`${name} must be 1 to ${timesMax} times such as 02:30, separated by commas`);
    return {};
  }

  function checkpoints() {
    const text = read("AUDIT_CHECKPOINTS");
    if (text === undefined || !/^[a-z]+:\/\//i.test(text)) return text && resolve(text);
    return url("AUDIT_CHECKPOINTS", ["https:"]);
  }

  function logLevel(): LogLevel {
    const text = read("LOG_LEVEL") ?? "info";
    const level = logLevels.find((known) => known === text);
    if (!level) problems.push(`LOG_LEVEL must be one of ${logLevels.join(", ")}, not "${text}"`);
    return level ?? "info";
  }

  function role(): ProcessRole {
    const text = read("ROLE") ?? "all";
    const found = roles.find((known) => known === text);
    if (!found) problems.push(`ROLE must be one of ${roles.join(", ")}`);
    return found ?? "all";
  }

  const head = letterhead();
  const dataDir = resolve(read("DATA_DIR") ?? "data");
  const config: Config = {
    role: role(),
    host: read("HOST") ?? "127.0.0.1",
    port: integer("PORT", 8080, [0, 65_535]),
    opsHost: read("OPS_HOST") ?? "127.0.0.1",
    opsPort: read("OPS_PORT") === "off" ? undefined : integer("OPS_PORT", 9464, [0, 65_535]),
    opsPortChosen: read("OPS_PORT") !== undefined,
    opsTls: tls("OPS_"),
    metricsHost: read("METRICS_HOST") ?? "127.0.0.1",
    metricsPort: read("METRICS_PORT") ? integer("METRICS_PORT", 0, [0, 65_535]) : undefined,
    dataDir,
    databaseUrl: databaseUrl("DATABASE_URL"),
    databaseReadUrl: databaseReadUrl(),
    databaseConnections: integer("DATABASE_CONNECTIONS", 16, [connectionsMin, 1_000]),
    redisUrl: url("REDIS_URL", ["redis:", "rediss:"]),
    masterKey: masterKey(),
    masterKeyOther: masterKeyOther(),
    trustProxy: networks("TRUST_PROXY"),
    tls: tls(""),
    inFlightMax: integer("IN_FLIGHT_MAX", 10_000, [1, 1_000_000]),
    heavyThreads: integer("HEAVY_THREADS", Math.max(2, availableParallelism() - 1), [1, 64]),
    drainS: integer("DRAIN_S", 3, [0, 600]),
    publicBudgets: {
      rates: { perMinute: integer("PUBLIC_RATES_PER_MINUTE", 60, [1, budgetMax]) },
      enquiry: {
        perMinute: integer("PUBLIC_ENQUIRY_PER_MINUTE", 6, [1, budgetMax]),
        perDay: integer("PUBLIC_ENQUIRY_PER_DAY", 30, [1, budgetMax]),
      },
    },
    twoOperatorsFromPaise: integer("TWO_OPERATORS_FROM_PAISE", twoPeopleFromPaise, [
      1,
      Number.MAX_SAFE_INTEGER,
    ]),
    twoOperatorsFromBps: integer("TWO_OPERATORS_FROM_BPS", twoPeopleFromBps, [1, 10_000]),
    blockMinPaise: integer("CROSS_BLOCK_MIN_PAISE", blockMinPaise, [1, Number.MAX_SAFE_INTEGER]),
    letterhead: head,
    imprint: imprint(head),
    houseDir: resolve(read("HOUSE_DIR") ?? join(dataDir, "house")),
    webhookScheduleS: webhookSchedule(),
    webhookAllowCidrs: networks("WEBHOOK_ALLOW_CIDRS"),
    auditCheckpoints: checkpoints(),
    smtp: smtp(),
    oidc: oidc(),
    unattended: unattended(),
    logLevel: logLevel(),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/**
 * Variables that are no settings, but were meant to be: the service would run as if they were not there.
 * Other programs have variables too, so only a name that is nearly one of ours is taken for a mistake.
 */
function listUnknown(variables: Variables): string[] {
  const inFiles = secretSettings.map((name) => `${name}_FILE`);
  const names = [...Object.keys(settings), ...inFiles];
  const long = names.filter((name) => name.length >= mistypedLengthMin);
  return Object.keys(variables).flatMap((name) => {
    if (names.includes(name)) return [];
    const bare = name.replace(/^SCRIPDESK_/, "").replace(/_FILE$/, "");
    const meant = long.includes(bare) ? bare : findNearest(name, long, mistypedShare);
    return meant === undefined ? [] : [`${name} is no setting: did you mean ${meant}?`];
  });
}

/** What the files hold that NAME_FILE names, without the end of their line. */
function readSecrets(variables: Variables, problems: string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of secretSettings) {
    const path = variables[`${name}_FILE`]?.trim();
    if (!path) continue;
    if (variables[name]?.trim()) problems.push(`${name} and ${name}_FILE are both set: keep one`);
    const secret = readSecret(path);
    if (typeof secret === "string") found.set(name, secret);
    else problems.push(`${name}_FILE names a file that ${secret.problem}: ${path}`);
  }
  return found;
}

/** Links are followed, as orchestrators mount secrets by them. */
function readSecret(path: string): string | { readonly problem: string } {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = fstatSync(file);
      if (!status.isFile()) return { problem: "is no file" };
      if ((status.mode & rightsOfOthers) !== 0) return { problem: "others can read or change" };
      if (status.size > secretBytesMax) return { problem: "is too long for a secret" };
      const text = readFileSync(file, "utf8").trim();
      return text === "" ? { problem: "is empty" } : text;
    } finally {
      closeSync(file);
    }
  } catch {
    return { problem: "cannot be read" };
  }
}
