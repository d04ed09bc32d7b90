// Records what people and programs see of every command: exit code, both outputs, and the files it
// writes. `npm run golden` writes the records to `test/recorded`, and a test compares them. This is a
// program of its own, because what it prints depends on nothing that ran in its process before.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { run } from "../../cli/run.ts";
import { writeToken } from "../../cli/token-file.ts";
import { databaseUrlFor } from "./cli.ts";
import { asOwner } from "./database.ts";
import { furnishConsole } from "./furnished-console.ts";
import { startOps } from "./ops.ts";
import { addPerson } from "./people.ts";
import { acts, conversations, inputs, looks, onlyHelp, type Things } from "./recorded-calls.ts";
import { serverVariable, startTestServer } from "./server.ts";
import { type Service, startService } from "./service.ts";

/** How long an answer to a line of input is waited for. */
const looksMax = 1_000;
const pauseMs = 10;

const recordedFolder = join(import.meta.dirname, "../recorded");

/** The text of each record, by the name of its file. */
async function recordCommands(): Promise<Map<string, string>> {
  await using stack = new AsyncDisposableStack();
  const scope = { after: (work: unknown) => stack.defer(work as () => Promise<void>) }; // As a test context.
  if (process.env[serverVariable] === undefined) {
    const server = await startTestServer();
    stack.defer(() => server.stop());
    process.env[serverVariable] = JSON.stringify([server.connection]);
  }
  const service = await startService(scope);
  mock.timers.enable({ apis: ["Date"], now: service.clock.now() });
  await asOwner(service.ctx.db, async (owner) => {
    // The migrations published them when the database was made.
    await owner.query("set session_replication_role = replica");
    await owner.query("update rate_cards set published_at = $1", [service.clock.now()]);
  });
  const ops = await startOps(scope, service, { twoOperatorsFromPaise: 25_000_000 });
  const person = await addPerson(service, { name: "asha", role: "admin" });
  await furnishConsole(scope, service, ops, person);

  const folder = await mkdtemp(join(tmpdir(), "scripdesk-recorded-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const former = process.cwd();
  process.chdir(folder);
  stack.defer(() => process.chdir(former));
  const { token } = await person.signIn();
  await writeToken(join(folder, "token"), token);
  const { PATH, HOME } = process.env;
  process.env = {
    PATH,
    HOME,
    DATA_DIR: folder,
    DATABASE_URL: await databaseUrlFor(service.ctx),
    MASTER_KEY: service.masterKey.toString("hex"),
    SCRIPDESK_TOKEN_FILE: join(folder, "token"),
    TWO_OPERATORS_FROM_PAISE: "25000000",
  };
  mock.timers.setTime(service.clock.now().getTime());
  return await recordAll(await findThings(service), folder);
}

async function recordAll(things: Things, folder: string): Promise<Map<string, string>> {
  const records = new Map<string, string[]>();
  // Each file counts for itself, so that a new call changes no other file.
  const stabilizers = new Map<string, (text: string) => string>();
  const add = (name: string, text: string) => {
    const stable = stabilizers.get(name) ?? stabilizer(folder);
    stabilizers.set(name, stable);
    records.set(name, [...(records.get(name) ?? []), stable(text)]);
  };
  const record = async (line: string, input: readonly string[] = []) => {
    const words = line.split(" ").map((word) => things[word] ?? word);
    const ended = await runHere(words, input);
    const outputs = [show("stdout", ended.stdout), show("stderr", ended.stderr)];
    const noun = line.startsWith("-") ? "scripdesk" : (line.split(" ")[0] ?? "");
    const told = [`$ ${line}`, ...input.map((text) => `< ${text}`), `exit ${ended.code}`];
    add(noun, [...told, ...outputs.filter((text) => text !== "")].join("\n"));
  };
  await mkdir(join(folder, "out"));
  for (const [name, text] of Object.entries(inputs)) {
    await writeFile(join(folder, name), text.replaceAll("FIRM", things["FIRM"] ?? ""), {
      mode: 0o600,
    });
  }
  for (const line of ["--help", "--version", "nonsense"]) await record(line);
  const commands = await listCommands();
  for (const name of commands) await record(`${name} --help`);
  for (const name of commands.filter((command) => !onlyHelp.includes(command))) {
    await record(name);
    await record(`${name} --json`);
    await record(`${name} --nonsense`);
  }
  for (const line of looks) {
    await record(line);
    await record(`${line} --json`);
  }
  for (const line of acts) await record(line);
  for (const [line, input] of Object.entries(conversations)) await record(line, input);
  await record("sign-out");
  const written = (await readdir(folder, { recursive: true })).toSorted();
  for (const name of written.filter((path) => path.endsWith(".csv") && !(path in inputs))) {
    const text = await readFile(join(folder, name), "utf8");
    add("files", show(name, text));
  }
  return new Map([...records].map(([name, parts]) => [`${name}.txt`, `${parts.join("\n\n")}\n`]));
}

function show(name: string, text: string): string {
  if (text === "") return "";
  return `${name}:\n${text.endsWith("\n") ? text.slice(0, -1) : `${text}\n(no newline at the end)`}`;
}

/** The names in the list that `--help` shows. */
async function listCommands(): Promise<string[]> {
  const { stdout } = await runHere(["--help"]);
  return [...stdout.matchAll(/^ {2}(\S+(?: \S+)*) {2}/gm)].map(([, name = ""]) => name);
}

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** At no terminal: the lines of input come one after the other, each when the last is answered. */
async function runHere(words: readonly string[], input: readonly string[] = []): Promise<Ended> {
  const ended = { stdout: "", stderr: "" };
  const keep = (name: keyof typeof ended) =>
    mock.method(process[name], "write", (chunk: string | Uint8Array, ...rest: unknown[]) => {
      ended[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      const written = rest.at(-1);
      if (typeof written === "function") queueMicrotask(() => void written());
      return true;
    });
  const stdin = Readable.from(sayInTurn(input, () => ended.stdout.split("\n").length));
  const kept = [keep("stdout"), keep("stderr"), mock.getter(process, "stdin", () => stdin)];
  try {
    const code = await run(words);
    return { code, ...ended };
  } finally {
    for (const { mock: replaced } of kept) replaced.restore();
  }
}

async function* sayInTurn(input: readonly string[], countLines: () => number) {
  for (const line of input) {
    const before = countLines();
    yield Buffer.from(`${line}\n`);
    for (let looked = 0; countLines() === before && looked < looksMax; looked++)
      await sleep(pauseMs);
  }
}

/** Where the words for things come from: the newest that there is. */
const sources = {
  FIRM: "firm_id from payouts",
  DESK: "desk_id from payouts",
  SCRIP: "scrip_no from credits where environment = 'live' and state = 'listed'",
  ORDER: "order_id from orders",
  SETTLEMENT: "settlement_id from settlements",
  CROSS: "cross_id from crosses",
  PAYOUT: "payout_id from payouts",
  FILE: "file_id from payout_files",
  APPROVAL: "approval_id from approvals where state = 'proposed'",
  ENQUIRY: "enquiry_ref from enquiries",
  KEY: "key_id from api_keys",
  LINE: "line_id from bank_lines",
  WEBHOOK: "webhook_id from webhooks",
  ADDRESS: "address_id from notice_addresses",
};

async function findThings(service: Service): Promise<Things> {
  const things: Record<string, string> = {};
  for (const [word, source] of Object.entries(sources)) {
    const { rows } = await service.ctx.db.pool.query(`select ${source} order by 1 desc limit 1`);
    things[word] = String(Object.values(rows[0] as object)[0]);
  }
  return { ...things, BASE_URL: service.url, ROOT_KEY: (await service.issue()).api_key };
}

/** What is another one each time, in the order it is first seen; of the same width, for the tables. */
const random = new RegExp(
  [
    "(?<=\\b[a-z]{3}_)[0-9a-hjkmnp-tv-z]{26}", // Ids, and what is made from them:
    "(?<=_(?:initiate|accept)_)[0-9a-f]{12}\\b", // the ends of tasks,
    "\\bM7[0-9A-Z]{22}\\b", // scrip numbers,
    "\\b01M7[0-9A-Z]{22}\\b", // numbers of statements,
    "(?<=--cursor )\\S+", // places in lists,
    "\\bS[0-9A-HJKMNP-TV-Z]{15}\\b", // references of payments,
    "\\b[A-Z]{5}[0-9]{4}[A-Z]\\b", // IECs.
    "(?<=service_(?:test|live)_)[0-9A-Za-z]{20,}", // Keys,
    "(?<=service_(?:test|live)_…)[0-9A-Za-z]{4}", // and what is shown of them.
    "\\b[0-9a-f]{32,}\\b", // Digests and public keys,
    "\\b(?:[0-9a-f]{6}-){3}[0-9a-f]{6}\\b", // and codes.
    "(?<=127\\.0\\.0\\.1:)[0-9]{5}",
    "(?<=scripdesk_)[0-9a-f]{12}\\b", // Databases.
  ].join("|"),
  "g",
);

function stabilizer(folder: string): (text: string) => string {
  const seen = new Map<string, string>();
  return (text) =>
    text
      .replaceAll(folder, "FOLDER")
      .replace(random, (found) => {
        const name = seen.get(found) ?? String(seen.size + 1).padStart(found.length, "0");
        seen.set(found, name);
        return name;
      })
      .replace(/(?<=took_ms"?:? *)\d+/g, "0");
}

if (import.meta.main) {
  const folder = process.argv[2] ?? recordedFolder;
  // Threads and idle connections keep no process alive, also while something of theirs is awaited.
  const waiting = setInterval(() => {}, 60_000);
  const records = await recordCommands();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, text] of records) await writeFile(join(folder, name), text);
  clearInterval(waiting);
}
