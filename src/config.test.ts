import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { selfSignedCertificate } from "../test/support/certificate.ts";
import { ConfigError, readConfig, secretSettings, settings, type Variables } from "./config.ts";

const hex = "ab".repeat(32);

function readProblem(variables: Variables): string {
  try {
    readConfig(variables);
    return "";
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
}

test("the defaults are a service on this machine with an embedded database", () => {
  const config = readConfig({});
  assert.deepEqual(config, {
    role: "all",
    host: "127.0.0.1",
    port: 8080,
    opsHost: "127.0.0.1",
    opsPort: 9464,
    opsPortChosen: false,
    opsTls: undefined,
    metricsHost: "127.0.0.1",
    metricsPort: undefined,
    dataDir: resolve("data"),
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databaseConnections: 16,
    redisUrl: undefined,
    masterKey: undefined,
    masterKeyOther: undefined,
    trustProxy: [],
    tls: undefined,
    inFlightMax: 10_000,
    heavyThreads: Math.max(2, availableParallelism() - 1),
    drainS: 3,
    publicBudgets: { rates: { perMinute: 60 }, enquiry: { perMinute: 6, perDay: 30 } },
    webhookScheduleS: [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
    webhookAllowCidrs: [],
    twoOperatorsFromPaise: 1_000_000_000,
    twoOperatorsFromBps: 100,
    blockMinPaise: 1_000_000_000,
    letterhead: { name: "Scripdesk", address: [], gstin: null },
    imprint: { name: "Scripdesk", address: [], gstin: null, email: null, phone: null },
    houseDir: resolve("data/house"),
    auditCheckpoints: undefined,
    smtp: undefined,
    oidc: undefined,
    unattended: undefined,
    logLevel: "info",
  });
  assert.ok(Object.isFrozen(config));
});

test("an empty or blank variable counts as unset", () => {
  const blank = Object.fromEntries(Object.keys(settings).map((name) => [name, "  "]));
  assert.deepEqual(readConfig(blank), readConfig({}));
});

const directory = {
  OIDC_ISSUER: "https://id.example",
  OIDC_CLIENT_ID: "desk",
  OIDC_CLIENT_SECRET: "s",
  OIDC_REDIRECT_URI: "https://ops.example/console/directory/back",
};

test("a drop folder has a machine, and a form belongs to a folder", () => {
  assert.match(readProblem({ DROP_DIR: "/srv/drop" }), /UNATTENDED_MACHINE is required/);
  const form = { UNATTENDED_MACHINE: "night-run", DROP_FORM: "HDFC" };
  assert.match(readProblem(form), /DROP_FORM goes with DROP_DIR/);
  const backups = { SCHEDULE_BACKUPS: "02:00" };
  assert.match(readProblem(backups), /OUT_DIR is required with SCHEDULE_/);
  const outside = { ...backups, DATABASE_URL: "postgresql://db/x" };
  assert.match(readProblem(outside), /SCHEDULE_BACKUPS is for the embedded database/);
  assert.match(readProblem({ SCHEDULE_ARCHIVES: "24:00" }), /SCHEDULE_ARCHIVES must be 1 to 24/);
});

test("a directory is whole, and reached by https unless it is on this machine", () => {
  const wrong = (given: object) => readProblem({ ...directory, ...given });
  assert.match(wrong({ OIDC_CLIENT_ID: "" }), /OIDC_CLIENT_ID is required with OIDC_ISSUER/);
  assert.match(wrong({ OIDC_ISSUER: "" }), /OIDC_REDIRECT_URI goes with OIDC_ISSUER/);
  assert.match(wrong({ OIDC_ISSUER: "http://id.example" }), /OIDC_ISSUER must be https/);
  assert.match(
    wrong({ OIDC_REDIRECT_URI: "https://ops.example/console" }),
    /must end with \/console\/directory\/back/,
  );
  const local = { ...directory, OIDC_ISSUER: "http://127.0.0.1:9000" };
  assert.equal(readConfig(local).oidc?.issuer, "http://127.0.0.1:9000");
});

test("every variable is read", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "scripdesk-config-"));
  t.after(() => rm(dir, { recursive: true }));
  const pair = await selfSignedCertificate();
  if (!pair) {
    t.skip("no openssl on this machine");
    return;
  }
  await writeFile(join(dir, "cert"), pair.cert);
  await writeFile(join(dir, "key"), pair.key);
  const config = readConfig({
    ROLE: "worker",
    HOST: "::",
    PORT: "0",
    OPS_HOST: "0.0.0.0",
    OPS_PORT: "9000",
    OPS_TLS_CERT: join(dir, "cert"),
    OPS_TLS_KEY: join(dir, "key"),
    METRICS_HOST: "10.0.0.9",
    METRICS_PORT: "9465",
    DATA_DIR: "/srv/scripdesk",
    DATABASE_URL: "postgresql://u:p@db/x",
    DATABASE_READ_URL: "postgresql://u:p@standby/x",
    DATABASE_CONNECTIONS: "50",
    REDIS_URL: "rediss://cache",
    MASTER_KEY: hex.toUpperCase(),
    MASTER_KEY_OTHER: hex,
    TRUST_PROXY: "10.0.0.0/8, ::1 ,192.0.2.1",
    TLS_CERT: join(dir, "cert"),
    TLS_KEY: join(dir, "key"),
    IN_FLIGHT_MAX: "7",
    HEAVY_THREADS: "3",
    DRAIN_S: "8",
    PUBLIC_RATES_PER_MINUTE: "8",
    PUBLIC_ENQUIRY_PER_MINUTE: "9",
    PUBLIC_ENQUIRY_PER_DAY: "10",
    WEBHOOK_SCHEDULE_S: "0, 1,1",
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8,::1",
    TWO_OPERATORS_FROM_PAISE: "500",
    TWO_OPERATORS_FROM_BPS: "50",
    AUDIT_CHECKPOINTS: "https://vault.example/checkpoints",
    HOUSE_NAME: "Mint House",
    HOUSE_ADDRESS: "12 Mint Road | Mumbai 400001",
    HOUSE_GSTIN: "27AAPFU0939F1ZV",
    HOUSE_EMAIL: "desk@mint.example",
    HOUSE_PHONE: "+91 22 6123 4567",
    HOUSE_DIR: "/etc/mint",
    CROSS_BLOCK_MIN_PAISE: "600",
    SMTP_URL: "smtps://desk%40house:p%3Aw@mail.example:2525",
    SMTP_FROM: "Desk@House.example",
    SMTP_PER_MINUTE: "5",
    PUBLIC_URL: "https://desk.example/",
    ...directory,
    OIDC_GROUP: "desk",
    UNATTENDED_MACHINE: "night-run",
    DROP_DIR: "/srv/drop",
    DROP_FORM: "HDFC",
    OUT_DIR: "/srv/out",
    SCHEDULE_PAYOUT_FILES: "16:30, 11:00",
    SCHEDULE_ARCHIVES: "06:00",
    LOG_LEVEL: "debug",
  });
  assert.deepEqual(config, {
    role: "worker",
    host: "::",
    port: 0,
    opsHost: "0.0.0.0",
    opsPort: 9000,
    opsPortChosen: true,
    opsTls: pair,
    metricsHost: "10.0.0.9",
    metricsPort: 9_465,
    dataDir: "/srv/scripdesk",
    databaseUrl: "postgresql://u:p@db/x",
    databaseReadUrl: "postgresql://u:p@standby/x",
    databaseConnections: 50,
    redisUrl: "rediss://cache",
    masterKey: Buffer.from(hex, "hex"),
    masterKeyOther: Buffer.from(hex, "hex"),
    trustProxy: ["10.0.0.0/8", "::1", "192.0.2.1"],
    tls: pair,
    inFlightMax: 7,
    heavyThreads: 3,
    drainS: 8,
    publicBudgets: { rates: { perMinute: 8 }, enquiry: { perMinute: 9, perDay: 10 } },
    webhookScheduleS: [0, 1, 1],
    webhookAllowCidrs: ["127.0.0.0/8", "::1"],
    twoOperatorsFromPaise: 500,
    twoOperatorsFromBps: 50,
    auditCheckpoints: "https://vault.example/checkpoints",
    blockMinPaise: 600,
    letterhead: {
      name: "Mint House",
      address: ["12 Mint Road", "Mumbai 400001"],
      gstin: "27AAPFU0939F1ZV",
    },
    smtp: {
      host: "mail.example",
      port: 2525,
      secure: true,
      credentials: { user: "desk@house", pass: "p:w" },
      from: "desk@house.example",
      publicUrl: "https://desk.example",
      perMinute: 5,
    },
    oidc: {
      issuer: "https://id.example",
      clientId: "desk",
      clientSecret: "s",
      redirectUri: "https://ops.example/console/directory/back",
      group: "desk",
    },
    unattended: {
      machine: "night-run",
      dropDir: "/srv/drop",
      dropForm: "HDFC",
      outDir: "/srv/out",
      payoutForm: undefined,
      times: { "payout-files": ["11:00", "16:30"], archives: ["06:00"] },
    },
    imprint: {
      name: "Mint House",
      address: ["12 Mint Road", "Mumbai 400001"],
      gstin: "27AAPFU0939F1ZV",
      email: "desk@mint.example",
      phone: "+91 22 6123 4567",
    },
    houseDir: "/etc/mint",
    logLevel: "debug",
  });
  assert.equal(readConfig({ OPS_PORT: "off" }).opsPort, undefined);
});

test("all problems are reported at once, each with the name of its variable", () => {
  const message = readProblem({
    PORT: "80800",
    OPS_PORT: "-1",
    OPS_TLS_KEY: "/nowhere/key.pem",
    METRICS_PORT: "off",
    DATABASE_URL: "mysql://db/x",
    DATABASE_CONNECTIONS: "3",
    REDIS_URL: "cache:6379",
    TRUST_PROXY: "10.0.0.0/8,proxy.example",
    TLS_CERT: "/nowhere/cert.pem",
    ROLE: "both",
    IN_FLIGHT_MAX: "many",
    HEAVY_THREADS: "0",
    WEBHOOK_SCHEDULE_S: "0,soon",
    WEBHOOK_ALLOW_CIDRS: "home",
    TWO_OPERATORS_FROM_PAISE: "0",
    TWO_OPERATORS_FROM_BPS: "0",
    AUDIT_CHECKPOINTS: "ftp://vault.example",
    HOUSE_GSTIN: "27AAPFU0939F1ZX",
    HOUSE_EMAIL: "desk",
    HOUSE_PHONE: "12",
    CROSS_BLOCK_MIN_PAISE: "0",
    LOG_LEVEL: "loud",
  });
  const named = Object.keys(settings).filter((name) => message.includes(name));
  assert.deepEqual(named, [
    "ROLE",
    "PORT",
    "OPS_PORT",
    "OPS_TLS_CERT",
    "OPS_TLS_KEY",
    "METRICS_PORT",
    "DATABASE_URL",
    "DATABASE_CONNECTIONS",
    "REDIS_URL",
    "MASTER_KEY",
    "TRUST_PROXY",
    "TLS_CERT",
    "TLS_KEY",
    "IN_FLIGHT_MAX",
    "HEAVY_THREADS",
    "TWO_OPERATORS_FROM_PAISE",
    "TWO_OPERATORS_FROM_BPS",
    "CROSS_BLOCK_MIN_PAISE",
    "HOUSE_GSTIN",
    "HOUSE_EMAIL",
    "HOUSE_PHONE",
    "WEBHOOK_SCHEDULE_S",
    "WEBHOOK_ALLOW_CIDRS",
    "AUDIT_CHECKPOINTS",
    "LOG_LEVEL",
  ]);
  assert.match(message, /"proxy\.example"/);
  assert.equal(message.includes("\n"), false);
});

test("numbers are whole, plain and within their bounds", () => {
  for (const port of ["1.5", "1e3", "0x50", "-0", "+80", "65536", "8080 8081", "NaN"]) {
    assert.match(readProblem({ PORT: port }), /PORT must be a whole number/, port);
  }
  assert.equal(readConfig({ PORT: "65535" }).port, 65_535);
  assert.equal(readConfig({ PORT: " 80 " }).port, 80);
});

test("an external database requires a master key; the embedded one creates its own", () => {
  const DATABASE_URL = "postgres://db/x";
  assert.match(readProblem({ DATABASE_URL }), /MASTER_KEY is required with DATABASE_URL/);
  assert.equal(readProblem({ DATABASE_URL, MASTER_KEY: hex }), "");
  const alone = readProblem({ DATABASE_READ_URL: DATABASE_URL });
  assert.match(alone, /DATABASE_READ_URL goes with DATABASE_URL/);
});

test("TLS_CERT and TLS_KEY are required together", () => {
  assert.match(readProblem({ TLS_KEY: "/nowhere/key" }), /TLS_CERT and TLS_KEY go together/);
});

test("a variable that was meant to be a setting is refused with its name, and other programs' are not", () => {
  const ours = { DATABASE_URL: "postgres://localhost/s", MASTER_KEY: hex, PORT: "8080" };
  const others = {
    HOME: "/root",
    PGHOST: "db",
    PGPORT: "5432",
    HOSTNAME: "web-1",
    HOSTS: "a,b",
    LANG: "C",
    SCRIPDESK_PORT: "tcp://10.0.0.1:8080", // As an orchestrator names the port of a service.
    SCRIPDESK_URL: "http://localhost:8080",
    SCRIPDESK_OPERATOR: "asha",
    SCRIPDESK_TOKEN_FILE: "/run/token",
  };
  assert.equal(readProblem({ ...ours, ...others }), "");
  for (const [typed, meant] of [
    ["DATBASE_URL", "DATABASE_URL"],
    ["MASTERKEY", "MASTER_KEY"],
    ["data_dir", "DATA_DIR"],
    ["TWO_OPERATOR_FROM_PAISE", "TWO_OPERATORS_FROM_PAISE"],
    ["SCRIPDESK_DATABASE_URL", "DATABASE_URL"],
    ["MASTER_KEY_FILES", "MASTER_KEY_FILE"],
    ["HOUSE_NAME_FILE", "HOUSE_NAME"],
  ] as const) {
    assert.equal(
      readProblem({ ...ours, [typed]: "" }),
      `configuration: ${typed} is no setting: did you mean ${meant}?`,
    );
  }
});

test("a secret may come from a file that others cannot read, and from one place only", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "scripdesk-config-"));
  t.after(() => rm(dir, { recursive: true }));
  const keep = async (name: string, text: string, mode = 0o600) => {
    const path = join(dir, name);
    await writeFile(path, text);
    await chmod(path, mode);
    return path;
  };
  const values = {
    DATABASE_URL: "postgres://u:p@db/x",
    DATABASE_READ_URL: "postgres://u:p@standby/x",
    REDIS_URL: "rediss://:p@cache",
    MASTER_KEY: hex,
    MASTER_KEY_OTHER: "cd".repeat(32),
    SMTP_URL: "smtps://u:p@mail.example",
    OIDC_CLIENT_SECRET: "s",
  };
  assert.deepEqual(Object.keys(values), secretSettings);
  const { OIDC_CLIENT_SECRET: _secret, ...others } = directory;
  const rest = { ...others, SMTP_FROM: "desk@house.example", PUBLIC_URL: "https://desk.example" };
  const files: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    files[`${name}_FILE`] = await keep(name, `${value}\r\n`, 0o640);
  }
  assert.deepEqual(readConfig({ ...rest, ...files }), readConfig({ ...rest, ...values }));

  const { MASTER_KEY_FILE = "" } = files;
  await symlink(MASTER_KEY_FILE, join(dir, "link"));
  assert.equal(readConfig({ MASTER_KEY_FILE: join(dir, "link") }).masterKey?.toString("hex"), hex);
  assert.match(
    readProblem({ MASTER_KEY: hex, MASTER_KEY_FILE }),
    /MASTER_KEY and MASTER_KEY_FILE are both set/,
  );
  for (const [path, problem] of [
    [await keep("open", hex, 0o644), "others can read or change"],
    [await keep("writable", hex, 0o602), "others can read or change"],
    [await keep("nothing", "\n"), "is empty"],
    [await keep("long", "a".repeat(5_000)), "is too long"],
    [join(dir, "missing"), "cannot be read"],
    [dir, "is no file"],
  ]) {
    const message = readProblem({ MASTER_KEY_FILE: path });
    assert.equal(
      message,
      `configuration: MASTER_KEY_FILE names a file that ${problem}: ${path}`.replace(
        "is too long",
        "is too long for a secret",
      ),
    );
  }
  const wrong = readProblem({ MASTER_KEY_FILE: await keep("wrong", "hunter2hunter2") });
  assert.match(wrong, /^configuration: MASTER_KEY must be 64 hex digits[^;]+$/);
});

test("a certificate that DATABASE_URL names has to be there", () => {
  const DATABASE_URL = "postgres://db/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
  assert.match(
    readProblem({ DATABASE_URL, MASTER_KEY: hex }),
    /^configuration: DATABASE_URL names a file that cannot be read: \/nowhere\/ca\.pem$/,
  );
});

test("an error message never repeats a secret", () => {
  const secret = "hunter2hunter2";
  const message = readProblem({
    DATABASE_URL: `mysql://user:${secret}@db/x`,
    REDIS_URL: `http://:${secret}@cache`,
    MASTER_KEY: `${secret}${hex}`,
  });
  for (const name of ["DATABASE_URL", "REDIS_URL", "MASTER_KEY"]) assert.ok(message.includes(name));
  assert.equal(message.includes(secret), false);
  assert.equal(message.includes(hex), false);
  assert.equal(readProblem({ DATABASE_URL: secret }).includes(secret), false);
});

test("a mail server that is not clear is refused without its password, and goes with sender and links", () => {
  const rest = { SMTP_FROM: "desk@house.example", PUBLIC_URL: "https://desk.example" };
  const secret = "hunter2";
  for (const SMTP_URL of [
    "mail.example",
    `http://u:${secret}@mail.example`,
    `smtp://u:${secret}@`,
    `smtp://${secret}@mail.example`,
    `smtp://u:${secret}%@mail.example`,
    `smtp://u:${secret}@mail.example:0`,
    `smtp://u:${secret}@mail.example:70000`,
    `smtp://u:${secret}@mail.example/?pool=true`,
    `smtp://u:${secret}@mail.example#x`,
    `smtp://u:${secret}@mail.example\r\nX: y`,
  ]) {
    const message = readProblem({ ...rest, SMTP_URL });
    assert.match(message, /SMTP_URL must be smtp:\/\//, SMTP_URL);
    assert.equal(message.includes(secret), false);
  }
  assert.equal(readConfig({ ...rest, SMTP_URL: "smtp://[::1]" }).smtp?.host, "::1");
  const alone = readProblem({ SMTP_URL: "smtp://mail.example" });
  assert.match(alone, /SMTP_FROM is required with SMTP_URL; PUBLIC_URL is required with SMTP_URL/);
  for (const SMTP_FROM of ["desk", "Desk <desk@house.example>", "a@b.in\r\nBcc: c@d.in"]) {
    assert.match(readProblem({ ...rest, SMTP_FROM }), /SMTP_FROM must be/);
  }
  assert.match(readProblem({ ...rest, PUBLIC_URL: "ftp://x" }), /PUBLIC_URL must be/);
  assert.match(readProblem({ ...rest, PUBLIC_URL: "https://x/?y" }), /PUBLIC_URL must have no/);
});
