// The container files say what this project has: they are read by rules, as no container is run here.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { readConfig } from "../src/config.ts";
import { scratchFolder } from "./support/scratch.ts";

const root = join(import.meta.dirname, "..");
const read = async (name: string) => await readFile(join(root, name), "utf8");

/** The instructions of a Dockerfile, with their continued lines. */
function parseDockerfile(text: string): { word: string; rest: string }[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n");
  return lines.flatMap((line) => {
    const parts = /^([A-Z]+)\s+(.*)$/.exec(line.trim());
    return parts ? [{ word: parts[1] ?? "", rest: parts[2] ?? "" }] : [];
  });
}

/** What a careful reader would object to. */
function listObjections(text: string): string[] {
  const steps = parseDockerfile(text);
  const rests = (word: string) =>
    steps.filter((step) => step.word === word).map(({ rest }) => rest);
  const last = text.slice(text.lastIndexOf("\nFROM"));
  return [
    ...rests("FROM").filter((from) => !/^[\w./-]+:\d+\.\d+\.\d+[\w.-]*( AS \w+)?$/.test(from)),
    ...rests("RUN").filter((run) => /curl|wget|sudo|npm (install|i)\b/.test(run)),
    ...rests("ADD").map((add) => `ADD ${add}`),
    ...rests("COPY")
      .filter((copy) => !copy.startsWith("--from"))
      .flatMap((copy) => copy.split(/\s+/).slice(0, -1))
      .filter((name) => !existsSync(join(root, name))),
    ...[...rests("CMD"), ...rests("ENTRYPOINT")].filter((form) => !form.startsWith("[")),
    ...(/\nUSER (?!root)\w+/.test(last) ? [] : ["it runs as root"]),
    ...(/\nHEALTHCHECK /.test(last) ? [] : ["nobody sees that it is ill"]),
    ...(/--omit=dev/.test(last) ? [] : ["it carries what is for development"]),
  ];
}

test("the Dockerfile is pinned, installs by the lock file, and runs as nobody special", async () => {
  assert.deepEqual(listObjections(await read("Dockerfile")), []);
  const careless =
    "FROM node\nRUN npm install\nADD . /app\nCOPY nowhere .\nCMD npm start\nFROM node:24\n";
  assert.equal(listObjections(careless).length, 9);
});

test("compose sets what the service knows, asks for secrets, and shows no port to the world", async () => {
  const compose = await read("compose.yaml");
  const installing = await read("docs/INSTALL.md");
  const service = compose.slice(
    compose.indexOf("  scripdesk:\n"),
    compose.indexOf("  postgres:\n"),
  );
  const settings = [...service.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name = ""]) => name);
  assert.deepEqual(settings, ["DATABASE_URL", "REDIS_URL", "MASTER_KEY"]);
  for (const name of settings) assert.ok(installing.includes(`| \`${name}\` |`), name);
  for (const [, secret = ""] of compose.matchAll(/\$\{(\w+)(?!\w|:\?)/g)) assert.fail(secret);
  for (const [, port = ""] of compose.matchAll(/^ +- "([^"]*:\d+)"$/gm)) {
    assert.match(port, /^127\.0\.0\.1:/);
  }
  for (const [, image = ""] of compose.matchAll(/image: (.*)/g)) assert.match(image, /:\d+\.\d+/);
  const [, command = ""] = /exec scripdesk node bin\/scripdesk\.js (\w+)/.exec(compose) ?? [];
  assert.ok(existsSync(join(root, "test/recorded", `${command}.txt`)), command);
});

/** What a careful reader of a manifest would object to. */
function listManifestObjections(text: string): string[] {
  const given = (pattern: RegExp) => text.match(pattern) ?? [];
  const wanted = {
    "it may run as root": /runAsNonRoot: true/,
    "it may gain rights": /allowPrivilegeEscalation: false/,
    "it keeps rights of the kernel": /capabilities: \{ drop: \[ALL\] \}/,
    "it may write to its own program": /readOnlyRootFilesystem: true/,
    "others may read its secrets": /defaultMode: 0440/,
    "it is sent calls before it can serve": /readinessProbe:\n +httpGet: \{ path: \/readyz,/,
    "one that hangs is not started again": /livenessProbe:\n +httpGet: \{ path: \/healthz,/,
    "a first start has no time to migrate": /startupProbe:\n +httpGet: \{ path: \/healthz,/,
    "one node's loss is an outage": /kind: PodDisruptionBudget/,
  };
  return [
    ...Object.entries(wanted).flatMap(([why, pattern]) => (pattern.test(text) ? [] : [why])),
    ...given(/image: \S+/g).filter((image) => !/:\d+\.\d+\.\d+$/.test(image)),
    ...given(/replicas: [01]$/gm),
    ...given(/containerPort: 9464|OPS_HOST: .*/g),
  ];
}

test("the Kubernetes manifest starts what the service takes, from secrets in files", async (t) => {
  const manifest = await read("deploy/kubernetes.yaml");
  assert.deepEqual(listManifestObjections(manifest), []);
  const careless = "replicas: 1\n image: scripdesk:latest\n OPS_HOST: 0.0.0.0\n";
  assert.equal(listManifestObjections(careless).length, 12);

  const folder = await scratchFolder("scripdesk-secrets-");
  t.after(() => rm(folder, { recursive: true }));
  const secrets = {
    "database-url": "postgres://scripdesk:x@db/scripdesk?sslmode=verify-full",
    "redis-url": "rediss://redis",
    "master-key": "5c".repeat(32),
  };
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(manifest.includes(`--from-literal=${name}=`), name);
    await writeFile(join(folder, name), secret, { mode: 0o440 });
  }
  const [, mount = ""] = /name: secrets, mountPath: ([^,]+),/.exec(manifest) ?? [];
  const [, data = ""] = /\n {4}data:\n((?: {6}.*\n)+)/.exec(manifest) ?? [];
  const variables = Object.fromEntries(
    [...data.matchAll(/^ +([A-Z_]+): "?([^"\n]+)"?$/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replace(mount, folder),
    ]),
  );
  const roles = [...manifest.matchAll(/labels: \{ app: scripdesk, role: (\w+) \}/g)];
  assert.deepEqual(new Set(roles.map(([, role]) => role)), new Set(["api", "worker"]));
  for (const [, ROLE = ""] of roles) {
    const config = readConfig({ ...variables, ROLE, DATA_DIR: folder });
    assert.equal(config.role, ROLE);
    const [, grace = ""] = /terminationGracePeriodSeconds: (\d+)/.exec(manifest) ?? [];
    assert.ok(Number(grace) > 30 + Number(variables["DRAIN_S"]), "it ends by itself");
  }
});
