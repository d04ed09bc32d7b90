// docs/WEBHOOKS.md is run as it stands: its vectors are computed again, its verifier is tried.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";

import { readConfig } from "../../src/config.ts";
import { buildHeaders } from "../../src/webhooks/rules.ts";

type Headers = Readonly<Record<string, string>>;
type IsGenuine = (rawBody: Buffer, headers: Headers, secrets: readonly string[]) => boolean;

let guide: string;
let vectors: Readonly<Record<string, string>>;
let isGenuine: IsGenuine;

function blocks(language: string): string[] {
  const fences = guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...fences].map(([, text = ""]) => text);
}

before(async () => {
  guide = await readFile(join(import.meta.dirname, "../../docs/WEBHOOKS.md"), "utf8");
  vectors = JSON.parse(blocks("json").at(-1) ?? "{}");
  const source = Buffer.from(blocks("js")[0] ?? "").toString("base64");
  ({ isGenuine } = (await import(`data:text/javascript;base64,${source}`)) as {
    isGenuine: IsGenuine;
  });
});

function delivered(secrets: string[]): { body: Buffer; headers: Headers } {
  const body = Buffer.from(vectors["body"] ?? "");
  const headers = buildHeaders({
    deliveryId: vectors["delivery"] ?? "",
    event: vectors["event"] ?? "",
    body,
    secrets,
    now: new Date(vectors["at"] ?? ""),
  });
  return { body, headers };
}

test("the service computes the test vectors of the guide", () => {
  const { body, headers } = delivered([vectors["secret"]!, vectors["previous_secret"]!]);
  assert.equal(body.length, vectors["body_bytes"]);
  for (const name of [
    "x-service-signature",
    "x-service-signature-previous",
    "webhook-timestamp",
    "webhook-signature",
  ]) {
    assert.equal(headers[name], vectors[name], name);
  }
});

test("the guide's verifier accepts genuine deliveries only, with either secret during a rotation", () => {
  const [secret, previous] = [vectors["secret"]!, vectors["previous_secret"]!];
  const plain = delivered([secret]);
  const rotating = delivered([secret, previous]);
  assert.equal(isGenuine(plain.body, plain.headers, [secret]), true);
  assert.equal(isGenuine(rotating.body, rotating.headers, [secret]), true);
  assert.equal(isGenuine(rotating.body, rotating.headers, [previous]), true);
  assert.equal(isGenuine(plain.body, plain.headers, [previous, secret]), true);

  assert.equal(isGenuine(plain.body, plain.headers, [previous]), false);
  assert.equal(isGenuine(plain.body, {}, [secret]), false);
  assert.equal(isGenuine(plain.body, { "x-service-signature": "sha256=" }, [secret]), false);
  assert.equal(
    isGenuine(Buffer.concat([plain.body, Buffer.from(" ")]), plain.headers, [secret]),
    false,
  );
  // Serialised again it is the same JSON and other bytes.
  const again = Buffer.from(JSON.stringify(JSON.parse(plain.body.toString()), null, 1));
  assert.equal(isGenuine(again, plain.headers, [secret]), false);
});

test("the guide shows the actual schedule", () => {
  const inWords = (seconds: number): string => {
    if (seconds < 60) return `${seconds} s`;
    return seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`;
  };
  const { webhookScheduleS } = readConfig({});
  const told = webhookScheduleS.slice(1).map(inWords).join(", ");
  assert.ok(
    guide.includes(`${webhookScheduleS.length} attempts in all: at once, then after ${told}`),
  );
});

/** Deliveries that are genuine, and ones that are not, with what a verifier must say of each. */
function cases() {
  const [secret, previous] = [vectors["secret"]!, vectors["previous_secret"]!];
  const plain = delivered([secret]);
  const rotating = delivered([secret, previous]);
  const cut = { ...plain.headers, "x-service-signature": "sha256=00" };
  return [
    { ...plain, secrets: [secret], says: true },
    { ...rotating, secrets: [previous], says: true },
    { ...plain, secrets: [previous], says: false },
    {
      body: Buffer.concat([plain.body, Buffer.from(" ")]),
      headers: plain.headers,
      secrets: [secret],
      says: false,
    },
    { body: plain.body, headers: cut, secrets: [secret, previous], says: false },
    { body: plain.body, headers: {}, secrets: [secret], says: false },
  ];
}

/** Runs a program on the cases, one line each: the body as hex, both signatures, the secrets. */
function judge(program: string, words: readonly string[]): boolean[] {
  const input = cases().map(({ body, headers, secrets }) =>
    [
      body.toString("hex"),
      (headers as Headers)["x-service-signature"] ?? "-",
      (headers as Headers)["x-service-signature-previous"] ?? "-",
      secrets.join(","),
    ].join(" "),
  );
  const ran = spawnSync(program, words, { input: `${input.join("\n")}\n`, encoding: "utf8" });
  assert.equal(ran.status, 0, `${ran.stdout} ${ran.stderr} ${String(ran.error)}`);
  return ran.stdout
    .trim()
    .toLowerCase()
    .split("\n")
    .map((line) => line === "true");
}

const pythonLoop = `
import sys
for line in sys.stdin:
    body, now, before, secrets = line.split()
    headers = {"x-service-signature": now, "x-service-signature-previous": before}
    headers = {name: text for name, text in headers.items() if text != "-"}
    print(is_genuine(bytes.fromhex(body), headers, secrets.split(",")))
`;

const javaLoop = `
final class Run {
  public static void main(String[] words) throws Exception {
    var lines = new java.util.Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] parts = lines.nextLine().split(" ");
      var headers = new java.util.HashMap<String, String>();
      if (!parts[1].equals("-")) headers.put("x-service-signature", parts[1]);
      if (!parts[2].equals("-")) headers.put("x-service-signature-previous", parts[2]);
      byte[] body = java.util.HexFormat.of().parseHex(parts[0]);
      System.out.println(Deliveries.isGenuine(body, headers, java.util.List.of(parts[3].split(","))));
    }
  }
}
`;

const verifiers = [
  { language: "python", program: "python3", file: "verify.py", loop: pythonLoop, before: "" },
  // A single file is run by its first class.
  { language: "java", program: "java", file: "Run.java", loop: "", before: javaLoop },
];

for (const { language, program, file, loop, before: first } of verifiers) {
  test(`the guide's verifier in ${language} says what that in JavaScript says`, async (t) => {
    if (spawnSync(program, ["--version"]).status !== 0) {
      t.skip(`there is no ${program} on this machine`);
      return;
    }
    const folder = await mkdtemp(join(tmpdir(), "scripdesk-verify-"));
    t.after(async () => await rm(folder, { recursive: true, force: true }));
    const [source = ""] = blocks(language);
    assert.notEqual(source, "");
    const imports = source.slice(0, Math.max(0, source.indexOf("public final class")));
    const rest = source.slice(imports.length).replace("public final class", "final class");
    await writeFile(join(folder, file), `${imports}${first}${rest}${loop}`);
    const said = judge(program, [join(folder, file)]);
    assert.deepEqual(
      said,
      cases().map(({ says }) => says),
    );
    for (const { body, headers, secrets, says } of cases()) {
      assert.equal(isGenuine(body, headers as Headers, secrets), says);
    }
  });
}
