// The house rules are a test. Each rule comes with small trees that break it, and is itself tested
// on them in the same run: a rule that refuses nothing is no rule.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  clockReaders,
  crowdedRooms,
  decidingRoutes,
  defaultExports,
  environmentReaders,
  fileCycles,
  foreignReads,
  handWrittenSets,
  type House,
  impureImports,
  inexactJson,
  lockedHosts,
  longFiles,
  looseVersions,
  misdirectedImports,
  missingVariants,
  misnumberedMigrations,
  moneyAddedByHand,
  namesWithoutVerb,
  readHouse,
  repeatedRefusals,
  retiredWordsIn,
  sharedTables,
  sliceCycles,
  statementsOutsideStores,
  typesNamedTwice,
  withoutComments,
} from "./support/house.ts";

type Rule = {
  readonly guarantee: string;
  readonly complaints: (house: House) => string[];
  /** What the rule must refuse, by what is wrong with it. */
  readonly wrong: Readonly<Record<string, House>>;
};

const importing = (from: string, to: string): House => ({ [from]: `import { x } from "${to}";\n` });

const lock = (packages: Record<string, object>): House => ({
  "package-lock.json": JSON.stringify({ packages }),
});

const rules: readonly Rule[] = [
  {
    guarantee: "data flows one way: routes, use cases, then rules and stores",
    complaints: misdirectedImports,
    wrong: {
      "routes reach a store": importing("src/keys/routes.ts", "./store.ts"),
      "routes reach rules": importing("src/keys/routes.ts", "./rules.ts"),
      "rules reach a store": importing("src/keys/rules.ts", "./store.ts"),
      "rules reach platform": importing("src/keys/rules.ts", "../platform/postgres.ts"),
      "rules reach a use case": importing("src/keys/rules.ts", "./mint-key.ts"),
      "a store reaches a use case": importing("src/keys/store.ts", "./mint-key.ts"),
      "a store reaches wire shapes": importing("src/keys/store.ts", "./schema.ts"),
      "a schema reaches more than the wire": importing("src/keys/schema.ts", "../platform/http.ts"),
      "the kernel reaches platform": importing("src/kernel/page.ts", "../platform/wire.ts"),
      "the kernel reaches a slice": importing("src/kernel/page.ts", "../keys/rules.ts"),
      "platform reaches a slice": importing("src/platform/http.ts", "../keys/authenticate.ts"),
      "platform reaches a root": importing("src/platform/log.ts", "../config.ts"),
      "a use case reaches a root": importing("src/keys/mint-key.ts", "../config.ts"),
      "a use case reaches its routes": importing("src/keys/mint-key.ts", "./routes.ts"),
      "a root reaches a store": importing("src/app.ts", "./keys/store.ts"),
      "another slice's store": importing("src/keys/mint-key.ts", "../firms/store.ts"),
      "another slice's second store": importing("src/keys/mint-key.ts", "../firms/check-store.ts"),
      "another slice's routes": importing("src/keys/mint-key.ts", "../firms/routes.ts"),
      "another slice's schema": importing("src/keys/mint-key.ts", "../firms/schema.ts"),
      "another slice's use case from a schema": importing(
        "src/ops/desks-schema.ts",
        "../firms/open-desk.ts",
      ),
      "another slice's use case from a store": importing(
        "src/keys/store.ts",
        "../firms/open-desk.ts",
      ),
      "code that imports a test": importing("src/keys/mint-key.ts", "./rules.test.ts"),
      "a type": { "src/keys/rules.ts": `import type { Db } from "../platform/postgres.ts";\n` },
      "a re-export": { "src/keys/rules.ts": `export { sql } from "../platform/postgres.ts";\n` },
      "an import over several lines": {
        "src/keys/rules.ts": `import {\n  a,\n  b,\n} from "./store.ts";\n`,
      },
      "an import at run time": {
        "src/keys/rules.ts": `const store = await import("./store.ts");\n`,
      },
    },
  },
  {
    guarantee: "rules and the kernel compute and reach nothing outside",
    complaints: impureImports,
    wrong: {
      "files in rules": importing("src/keys/rules.ts", "node:fs"),
      "a package in the kernel": importing("src/kernel/page.ts", "pg"),
    },
  },
  {
    guarantee: "rooms form no cycle",
    complaints: sliceCycles,
    wrong: {
      "two slices": {
        ...importing("src/keys/mint-key.ts", "../firms/open-desk.ts"),
        ...importing("src/firms/open-desk.ts", "../keys/rules.ts"),
      },
      "three slices": {
        ...importing("src/a/do-it.ts", "../b/do-it.ts"),
        ...importing("src/b/do-it.ts", "../c/do-it.ts"),
        ...importing("src/c/do-it.ts", "../a/do-it.ts"),
      },
    },
  },
  {
    guarantee: "files form no cycle",
    complaints: fileCycles,
    wrong: {
      "two files of a room": {
        ...importing("src/keys/mint-key.ts", "./read-keys.ts"),
        ...importing("src/keys/read-keys.ts", "./mint-key.ts"),
      },
      "a cycle behind a file that was walked": {
        ...importing("src/keys/a.ts", "./b.ts"),
        ...importing("src/keys/b.ts", "./c.ts"),
        ...importing("src/keys/c.ts", "./b.ts"),
      },
      "a type": {
        "src/keys/a.ts": `import type { B } from "./b.ts";\n`,
        ...importing("src/keys/b.ts", "./a.ts"),
      },
    },
  },
  {
    guarantee: "a room has about twenty files at most",
    complaints: crowdedRooms,
    wrong: {
      "25 files": Object.fromEntries(
        Array.from({ length: 25 }, (_, at) => [`src/keys/part-${at}.ts`, "x();\n"]),
      ),
    },
  },
  {
    guarantee:
      "the environment is read by commands, examples and tests only, but for the PATH of PostgreSQL",
    complaints: environmentReaders,
    wrong: {
      "a root": { "src/config.ts": `export const port = process.env["PORT"];\n` },
      "another variable": { "src/platform/postgres/run-as.ts": `spawn(process.env["HOME"]);\n` },
      "the whole of it": {
        "src/platform/postgres/run-as.ts": `spawn("x", { env: process.env });\n`,
      },
      "the path elsewhere": { "src/platform/http/server.ts": `spawn(process.env["PATH"]);\n` },
    },
  },
  {
    guarantee: "SQL is written in stores and in platform",
    complaints: statementsOutsideStores,
    wrong: {
      "a use case": { "src/keys/mint-key.ts": "await tx.rows(sql`select 1`);\n" },
      "a root": { "src/app.ts": "await db.rows(sql`select 1`);\n" },
      "past the tag": { "src/keys/mint-key.ts": `await ctx.db.pool.query("select 1");\n` },
    },
  },
  {
    guarantee: "time is read in main and in commands, and is given to everything else",
    complaints: clockReaders,
    wrong: {
      "a use case": { "src/keys/mint-key.ts": "const now = new Date();\n" },
      platform: { "src/platform/http.ts": "const startedMs = Date.now();\n" },
      "a reference to the clock": { "src/kernel/time.ts": "export const clock = Date.now;\n" },
    },
  },
  {
    guarantee: "each table has one writer",
    complaints: sharedTables,
    wrong: {
      "two stores": {
        "src/keys/store.ts": "sql`\n  insert into api_keys (key_id)\n  values (1)`;\n",
        "src/firms/store.ts": "sql`\n  update api_keys\n  set state = 'revoked'`;\n",
      },
      "a sealed column of another slice": {
        "src/firms/store.ts": "sql`update firms\n  set state = 'x'`;\n",
        "src/bank/seal-store.ts": 'sealedColumn({ table: "firms", id: "firm_id" });\n',
      },
      "a store and platform": {
        "src/usage/store.ts": "sql`delete from usage_days`;\n",
        "src/platform/tidy.ts": "sql`with x as (\n insert into usage_days select 1\n) select 1`;\n",
      },
    },
  },
  {
    guarantee: "the columns of a set are named by the description of its table",
    complaints: handWrittenSets,
    wrong: {
      "columns by position": {
        "src/access/key-store.ts":
          "sql`select * from unnest(\n  ${a.map(({ id }) => id)}::text[],\n  ${b}::int[]\n)`;\n",
      },
      "a list as joined text": {
        "src/access/key-store.ts": "sql`select string_to_array(${scopes.join(\",\")}, ',')`;\n",
      },
    },
  },
  {
    guarantee: "amounts are added exactly, by the kernel",
    complaints: moneyAddedByHand,
    wrong: {
      "a fold with +": {
        "src/payouts/rules.ts": "const paise = rows.reduce((sum, row) => sum + row.paise, 0);\n",
      },
      "a fold over several lines": {
        "src/payouts/rules.ts":
          "const all = rows.reduce(\n  (sum, { face_paise }) => sum + face_paise,\n  0,\n);\n",
      },
      "a fold of amounts": {
        "src/payouts/rules.ts": "return amounts.reduce((total, amount) => total + amount, 0);\n",
      },
      "a sum by a key": {
        "src/payouts/rules.ts": "sums.set(firm_id, (sums.get(firm_id) ?? 0) + row.paise);\n",
      },
      "a running sum": { "src/payouts/rules.ts": "for (const row of rows) sum += row.paise;\n" },
    },
  },
  {
    guarantee: "JSON is written with every digit of a sum",
    complaints: inexactJson,
    wrong: {
      "text that no BigInt can be in": {
        "src/journal/event-rules.ts": "const text = JSON.stringify({ data });\n",
      },
      "as a function": { "src/platform/postgres/table.ts": "toCell(JSON.stringify as ToCell);\n" },
    },
  },
  {
    guarantee: "a store reads its own room's tables, and of other rooms only those that are listed",
    complaints: foreignReads,
    wrong: {
      "a join": {
        "src/firms/store.ts": "sql`insert into firms (firm_id) values (1)`;\n",
        "src/keys/store.ts":
          "sql`select 1 from api_keys as k\n  join firms as f using (firm_id)`;\n",
      },
      "a table that is not in the list of a room that has one": {
        "src/firms/store.ts": "sql`update firm_notes set note = 'x'`;\n",
        "src/trading/order-store.ts": "sql`select note\n  from firm_notes`;\n",
      },
    },
  },
  {
    guarantee: "a function's name begins with a verb and does not end in Of",
    complaints: namesWithoutVerb,
    wrong: {
      "a function": { "src/journal/rules.ts": "export function hashOf(text: string) {}\n" },
      "a generator": { "src/journal/rules.ts": "async function* linesOf() {}\n" },
      "an arrow": { "src/journal/rules.ts": "const viewOf = (row: Row): View => row;\n" },
      "an arrow of any type": { "test/api/a.test.ts": "const rowsOf = async <Row>(a: A) => a;\n" },
      "a method": { "src/journal/rules.ts": "class Walk {\n  #problemOf(line: string) {}\n}\n" },
      "a public method": { "test/support/a.ts": "class A {\n  async dealOf(id: string) {}\n}\n" },
      "a field": { "cli/a.ts": "type A = { readonly groupOf: (item: Item) => string };\n" },
      "a parameter": { "bench/a.ts": "function time(\n  pathOf: (side: Side) => string,\n) {}\n" },
      "a page's function": { "web/a.js": "export function textOf(form) {}\n" },
    },
  },
  {
    guarantee: "words that readers had to decode do not come back",
    complaints: retiredWordsIn,
    wrong: {
      "a type": { "src/journal/rules.ts": "export type Doer = Actor;\n" },
      "a part of a name": { "src/journal/rules.ts": "listBereft(kinOfFirms);\n" },
      "a comment": { "src/journal/rules.ts": "// May still be mourned by other processes.\n" },
    },
  },
  {
    guarantee: "the refusal of a condition is built in one place",
    complaints: repeatedRefusals,
    wrong: {
      "a reason in two rooms": {
        "src/firms/bank-accounts.ts": `throw new Failure("conflict", "a", { detail: { reason: "no_account" } });\n`,
        "src/payouts/withdraw.ts": `throw new Failure("conflict", "b", { detail: { reason: "no_account" } });\n`,
      },
      "a reason that a helper takes": {
        "src/crosses/rules.ts": `throw buildConflict(standing, "wrong_state", "a");\n`,
        "src/kernel/lifecycle.ts": `throw new Failure("conflict", "b", { detail: { reason: "wrong_state" } });\n`,
      },
      "a class of its own": {
        "src/credits/rules.ts": `new Failure("conflict", "a", { detail: { reason: "not_sellable" } });\n`,
        "src/settlement/open.ts": `super("conflict", "b", {\n  detail: { reason: "not_sellable" },\n});\n`,
      },
      "a message in two places": {
        "src/payouts/send.ts":
          "new Failure('not_found', `no payout ${id}`);\nnew Failure('not_found', `no payout ${row.id}`);\n".replaceAll(
            "'",
            '"',
          ),
      },
      "a problem of a field": {
        "src/payouts/send.ts": `unprocessable({ path: "utr", problem: "must be digits" });\n`,
        "src/bankbook/send.ts": `unprocessable({\n  path: "utr",\n  problem: "must be digits",\n});\n`,
      },
    },
  },
  {
    guarantee: "a route is a declaration and one call",
    complaints: decidingRoutes,
    wrong: {
      "an if": { "src/keys/routes.ts": "if (request.query.all) return await listAll(ctx);\n" },
      "a choice": { "src/keys/routes.ts": "async () => (all ? await listAll() : [])\n" },
    },
  },
  {
    guarantee: "migrations are numbered without a gap and open with their reason",
    complaints: misnumberedMigrations,
    wrong: {
      "a gap": {
        "migrations/0001-one.sql": "-- Why.\n",
        "migrations/0003-three.sql": "-- Why.\n",
      },
      "two of one number": {
        "migrations/0001-one.sql": "-- Why.\n",
        "migrations/0001-other.sql": "-- Why.\n",
      },
      "no reason": { "migrations/0001-one.sql": "create table one ();\n" },
      "a stray file": { "migrations/fix.sql": "-- Why.\n" },
    },
  },
  {
    guarantee: "nothing is exported as default",
    complaints: defaultExports,
    wrong: {
      "a function": { "src/app.ts": "export default function app() {}\n" },
      "a renamed one": { "cli/main.ts": "export { run as default };\n" },
    },
  },
  {
    guarantee: "no file of the service is longer than 800 lines",
    complaints: longFiles,
    wrong: { "801 lines": { "src/app.ts": "x();\n".repeat(801) } },
  },
  {
    guarantee: "a type's name means one thing in the service, and in a room",
    complaints: typesNamedTwice,
    wrong: {
      "two exported types of one name": {
        "src/keys/rules.ts": "export type Claim = string;\n",
        "src/firms/rules.ts": "export type Claim = number;\n",
      },
      "two types of one name in a room": {
        "src/keys/rules.ts": "type Claim = string;\n",
        "src/keys/store.ts": "type Claim = number;\n",
      },
    },
  },
  {
    guarantee: "every package is asked for in one exact version",
    complaints: looseVersions,
    wrong: {
      "a caret": { "package.json": JSON.stringify({ dependencies: { pg: "^8.0.0" } }) },
      "a tag": { "package.json": JSON.stringify({ devDependencies: { ajv: "latest" } }) },
      "an address": {
        "package.json": JSON.stringify({ optionalDependencies: { x: "github:x/x" } }),
      },
    },
  },
  {
    guarantee: "the lock file installs on Linux and macOS, on x64 and arm64",
    complaints: missingVariants,
    wrong: {
      "variants of one machine": lock({
        "node_modules/tool": {
          optionalDependencies: { "@t/linux-x64": "1", "@t/darwin-x64": "1" },
        },
        "node_modules/@t/linux-x64": { os: ["linux"], cpu: ["x64"] },
      }),
      "variants of the project itself": lock({
        "": { optionalDependencies: { a: "1", b: "1" } },
        "node_modules/a": { os: ["linux"], cpu: ["x64"] },
        "node_modules/b": { os: ["linux"], cpu: ["arm64"] },
      }),
    },
  },
  {
    guarantee: "the lock file names no host and vouches for every package",
    complaints: lockedHosts,
    wrong: {
      "a host": lock({ "node_modules/pg": { resolved: "https://mirror.test/pg.tgz" } }),
      "nothing to check against": lock({ "node_modules/pg": {} }),
    },
  },
];

const house = await readHouse();

for (const { guarantee, complaints, wrong } of rules) {
  test(guarantee, () => {
    for (const [what, tree] of Object.entries(wrong)) {
      assert.notDeepEqual(complaints(tree), [], `the rule must refuse ${what}`);
    }
    assert.deepEqual(complaints(house), []);
  });
}

test("the rules read the whole project", () => {
  const some = ["src/app.ts", "src/kernel/page.ts", "cli/main.ts", "web/money.js", "bench/run.ts"];
  for (const path of [...some, "client/src/index.ts", "migrations/grants.sql"]) {
    assert.ok(house[path], `${path} was not read`);
  }
});

test("comments are removed before the rules apply, and strings are kept", () => {
  assert.equal(withoutComments("a(); // process.env\n/* new Date() */b();"), "a(); \nb();");
  const kept = 'a("https://x");\nb(`/* ${x} */`);';
  assert.equal(withoutComments(kept), kept);
});
