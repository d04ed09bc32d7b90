// The house rules, as functions from a tree of files to complaints. They are plain functions, so
// that the test can also show them a small tree that breaks them.

import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

/** Paths from the project's root, with their text. */
export type House = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, "../..");
const folders = ["src", "cli", "client", "web", "test", "bench", "migrations"];
const linesMax = 800;
const roomFilesMax = 24;
/** How a file begins that nobody wrote by hand. */
const written = "// Written by ";

export async function readHouse(): Promise<House> {
  const house: Record<string, string> = {};
  for (const folder of folders) {
    const form = folder === "web" ? /\.js$/ : /\.(ts|sql)$/;
    const entries = await readdir(join(root, folder), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => []); // A folder that is not there yet breaks no rule.
    for (const entry of entries) {
      if (!entry.isFile() || !form.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      house[posix.relative(root, path)] = await readFile(path, "utf8");
    }
  }
  for (const path of ["package.json", "package-lock.json"]) {
    house[path] = await readFile(join(root, path), "utf8");
  }
  return house;
}

type Role =
  | "root"
  | "routes"
  | "usecase"
  | "rules"
  | "store"
  | "schema"
  | "platform"
  | "kernel"
  | "test";

type Place = { readonly role: Role; readonly slice: string };

// Who may import whom inside one slice; read each row left to right.
const inside: Record<Role, readonly Role[]> = {
  root: ["root", "kernel", "platform", "routes", "usecase", "rules"],
  routes: ["kernel", "platform", "schema", "usecase"],
  usecase: ["kernel", "platform", "schema", "rules", "store", "usecase"],
  rules: ["kernel", "rules"],
  store: ["kernel", "platform", "rules", "store"],
  // A shape takes its enumerations from the rules, so that the wire and the rule cannot differ.
  schema: ["kernel", "rules", "schema"],
  platform: ["kernel", "platform"],
  kernel: ["kernel"],
  test: ["root", "kernel", "platform", "routes", "usecase", "rules", "store", "schema", "test"],
};

// Another slice is reached only by what it does or decides, never by its tables or routes.
const across: Partial<Record<Role, readonly Role[]>> = {
  // The document is made of the shapes of every slice.
  root: ["routes", "usecase", "rules", "schema"],
  usecase: ["usecase", "rules"],
  rules: ["rules"],
  // A thing that two slices show has one shape.
  schema: ["rules", "schema"],
  test: ["usecase", "rules", "store"],
};

/** The one file of platform that wire shapes are built from. */
const wire = "src/platform/http/wire.ts";

/** What rules and the kernel compute with: none of these can reach the outside. */
const pureModules = ["node:crypto", "node:net", "node:zlib"];

/** `store.ts` has this role, and so has `quote-store.ts`: a room has several where one would be long. */
const namedRoles: readonly Role[] = ["routes", "rules", "store", "schema"];

function findPlace(path: string): Place | undefined {
  const [top, folder = "", file] = path.split("/");
  if (top !== "src") return undefined;
  const slice = file === undefined ? "" : folder;
  if (path.endsWith(".test.ts")) return { role: "test", slice };
  if (file === undefined) return { role: "root", slice };
  if (slice === "kernel" || slice === "platform") return { role: slice, slice };
  const role = namedRoles.find((name) => file === `${name}.ts` || file.endsWith(`-${name}.ts`));
  return { role: role ?? "usecase", slice };
}

export function misdirectedImports(house: House): string[] {
  return listImports(house).flatMap(({ from, to }) => {
    const importer = findPlace(from);
    const imported = findPlace(to);
    if (!importer || !imported) return [];
    if (importer.role === "schema" && to === wire) return [];
    const isShared = imported.role === "kernel" || imported.role === "platform";
    const isNear = isShared || imported.slice === importer.slice;
    const allowed = isNear ? inside[importer.role] : (across[importer.role] ?? []);
    if (allowed.includes(imported.role)) return [];
    return [`${from} (${importer.role}) imports ${to} (${imported.role})`];
  });
}

export function impureImports(house: House): string[] {
  return Object.keys(house).flatMap((from) => {
    const role = findPlace(from)?.role;
    if (role !== "rules" && role !== "kernel") return [];
    const packages = parseSpecifiers(house[from] ?? "").filter((name) => !name.startsWith("."));
    const impure = packages.filter((name) => !pureModules.includes(name));
    return impure.map((name) => `${from} imports ${name}`);
  });
}

export function sliceCycles(house: House): string[] {
  const imports = listImports(house).flatMap(({ from, to }) => {
    const importer = findPlace(from);
    const imported = findPlace(to);
    if (!importer?.slice || !imported?.slice || importer.role === "test") return [];
    return importer.slice === imported.slice ? [] : [{ from: importer.slice, to: imported.slice }];
  });
  return findCycles(imports);
}

export function fileCycles(house: House): string[] {
  return findCycles(
    listImports(house).filter(({ from }) => from.startsWith("src/") && !from.endsWith(".test.ts")),
  );
}

/** Walks each node once; a step to a node that is on the path closes a cycle. */
function findCycles(imports: readonly { readonly from: string; readonly to: string }[]): string[] {
  const byImporter = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const cycles = new Set<string>();
  function walk(node: string, path: readonly string[]): void {
    if (path.includes(node)) cycles.add([...path.slice(path.indexOf(node)), node].join(" → "));
    if (done.has(node)) return;
    done.add(node);
    for (const { to } of byImporter.get(node) ?? []) walk(to, [...path, node]);
  }
  for (const node of byImporter.keys()) walk(node, []);
  return [...cycles];
}

/** A room with more files is two rooms, or has crumbs. */
export function crowdedRooms(house: House): string[] {
  const sources = Object.keys(house).filter(
    (path) => path.startsWith("src/") && path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  return [...Map.groupBy(sources, (path) => posix.dirname(path))].flatMap(([room, files]) =>
    files.length > roomFilesMax ? [`${room} has ${files.length} files`] : [],
  );
}

export function environmentReaders(house: House): string[] {
  return codeWhere(house, /process\s*\.\s*env\b(?!\["PATH"\])|import\.meta\.env/, (path) => {
    return !/^(cli|test|bench|client\/examples)\//.test(path);
  }).concat(
    codeWhere(house, /process\s*\.\s*env\["PATH"\]/, (path) => {
      return path.startsWith("src/") && path !== "src/platform/postgres/run-as.ts";
    }),
  );
}

export function statementsOutsideStores(house: House): string[] {
  return codeWhere(house, /\bsql`|\.query\s*[(<]/, (path) => {
    const role = findPlace(path)?.role;
    return role !== undefined && role !== "platform" && role !== "store" && role !== "test";
  });
}

export function clockReaders(house: House): string[] {
  return codeWhere(house, /new Date\(\s*\)|\bDate\.now\b|\bDate\(\)/, (path) => {
    // Whoever verifies a webhook has no clock to hand over but the machine's.
    if (path === "src/main.ts" || path === "client/src/webhooks.ts") return false;
    return /^(src|client)\//.test(path) && !path.endsWith(".test.ts");
  });
}

export function sharedTables(house: House): string[] {
  return [...findWriters(house)].flatMap(([table, paths]) =>
    paths.size > 1 ? [`${table} is written by ${[...paths].join(" and ")}`] : [],
  );
}

/** The writers of each table: a room for its stores, otherwise a file. */
function findWriters(house: House): Map<string, Set<string>> {
  const writers = new Map<string, Set<string>>();
  const write =
    /\b(?:insert\s+into|delete\s+from|truncate(?:\s+table)?|merge\s+into|update(?=\s+\w+(?:\s+as\s+\w+)?\s+set\b))\s+(\w+)/gi;
  const column = /\btable: "(\w+)"/g; // Of a sealed column.
  const described = /\bconst (\w+) = table\(\s*"(\w+)"/g;
  for (const [path, text] of Object.entries(house)) {
    if (!path.startsWith("src/") || path.endsWith(".test.ts")) continue;
    const code = withoutComments(text);
    const ofRows = [...code.matchAll(described)].flatMap(([, name, table]) =>
      code.includes(`rowsBy(${name},`) ? [["", table]] : [],
    );
    for (const [, table = ""] of [...code.matchAll(write), ...code.matchAll(column), ...ofRows]) {
      const writer = path.endsWith("store.ts") ? path.slice(0, path.lastIndexOf("/")) : path;
      writers.set(table, (writers.get(table) ?? new Set()).add(writer));
    }
  }
  return writers;
}

// Tables of other rooms that a room's stores join or count, because to ask their owner for the rows
// first would cost a round trip or a page of ids. A room depends on the columns of what it lists here.
const reads: Readonly<Record<string, readonly string[]>> = {
  access: ["firms"],
  credits: ["firms"],
  crosses: ["firms"],
  firms: ["credits"],
  funding: ["firms"],
  ledger: [
    "confirmed_accounts",
    "credit_uses",
    "credits",
    "firms",
    "payouts",
    "settlement_legs",
    "settlements",
  ],
  market: ["credits", "deal_minutes", "settlement_legs"],
  netting: [
    "credits",
    "crosses",
    "firms",
    "groups",
    "requirements",
    "settlement_legs",
    "settlements",
  ],
  overview: [
    "api_keys",
    "approvals",
    "bank_lines",
    "bank_statements",
    "confirmed_accounts",
    "credits",
    "cross_quotes",
    "crosses",
    "deal_minutes",
    "deliveries",
    "delivered_blocks",
    "deposits",
    "enquiries",
    "fee_invoices",
    "firms",
    "groups",
    "questions",
    "ledger_balances",
    "netting_runs",
    "notice_addresses",
    "notices",
    "operators",
    "orders",
    "payout_file_lines",
    "payout_files",
    "payouts",
    "quotes",
    "rate_cards",
    "requirements",
    "settlement_legs",
    "settlements",
    "webhooks",
  ],
  rates: ["sandbox_scenarios", "tax_rates"],
  reports: [
    "credits",
    "desk_clocks",
    "firms",
    "ledger_entries",
    "ledger_firm_entries",
    "settlement_legs",
    "settlements",
  ],
  notices: ["desk_sequences", "firms"],
  payouts: ["ledger_balances"],
  settlement: ["firms", "ledger_balances"],
  taxes: ["firms", "settlement_legs", "settlements"],
  trading: ["credits", "firms"],
  webhooks: ["desk_sequences", "firms"],
};

export function foreignReads(house: House): string[] {
  const writers = findWriters(house);
  return Object.entries(house).flatMap(([path, text]) => {
    const place = findPlace(path);
    if (place?.role !== "store") return [];
    const allowed = reads[place.slice] ?? [];
    const tables = [
      ...withoutComments(text).matchAll(/\b(?:from|join|using)\s+(?:only\s+)?(\w+)/gi),
    ].map(([, table = ""]) => table);
    return [...new Set(tables)].flatMap((table) => {
      const owners = writers.get(table);
      if (!owners || owners.has(`src/${place.slice}`) || allowed.includes(table)) return [];
      return [`${path} reads ${table} of ${[...owners].join(" and ")}`];
    });
  });
}

/** Reasons of several conditions, with their number: each condition has its own constructor. */
const sharedReasons: Readonly<Record<string, number>> = {
  /** The name of a group, the name of an operator. */
  name_taken: 2,
  /** The terms of a cross, the terms of a proposal. */
  terms_differ: 2,
};

/**
 * A refusal is identified by its reason, by its code and message where it has no reason, or by a field
 * and its problem. Each is written once, in the constructor that all callers share.
 */
export function repeatedRefusals(house: House): string[] {
  const places = new Map<string, string[]>();
  for (const [path, text] of Object.entries(house)) {
    if (!path.startsWith("src/") || path.endsWith(".test.ts")) continue;
    const code = withoutComments(text);
    for (const { 0: call, index } of code.matchAll(
      /\b(?:new Failure|super|\w*[cC]onflict|unprocessable)\(/g,
    )) {
      const refusal = describeRefusal(call, readArguments(code, index + call.length));
      if (refusal === undefined) continue;
      places.set(refusal, [...(places.get(refusal) ?? []), path]);
    }
  }
  return [...places].flatMap(([refusal, paths]) =>
    paths.length > (sharedReasons[refusal] ?? 1)
      ? [`${refusal} is refused in ${paths.join(" and ")}`]
      : [],
  );
}

function describeRefusal(call: string, given: string): string | undefined {
  const text = given
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\$\{[^}]*\}/g, "…")
    .trim();
  if (call === "unprocessable(") {
    return /^\{ path: "\w+", problem: (?:"[^"]*"|`[^`]*`),? \}/
      .exec(text)?.[0]
      .replace(", }", " }");
  }
  const reason = /\breason: "(\w+)"/.exec(text) ?? /^\w+, "(\w+)"/.exec(text);
  if (reason) return reason[1];
  const [, code, message] = /^"(\w+)", ("[^"]*"|`[^`]*`)/.exec(text) ?? [];
  return code && message && `${code} ${message}`;
}

/** The text between a parenthesis that is open before `from` and the one that closes it. */
function readArguments(code: string, from: number): string {
  let depth = 1;
  let at = from;
  while (depth > 0 && at < code.length) {
    if ("([{".includes(code[at] ?? "")) depth += 1;
    if (")]}".includes(code[at] ?? "")) depth -= 1;
    at += 1;
  }
  return code.slice(from, at - 1);
}

export function decidingRoutes(house: House): string[] {
  return codeWhere(house, /\bif\s*\(|\?\?|\s\?\s/, (path) => findPlace(path)?.role === "routes");
}

/** How a function is declared: by its keyword, as an arrow, as a method, or where one is expected. */
const functionForms: readonly RegExp[] = [
  /\bfunction\*?\s+(\w+)/g,
  /\b(?:const|let)\s+(\w+)\s*=\s*(?:async\s*)?(?:<[^<>]*>\s*)?(?:\((?:[^()]|\([^()]*\))*\)|\w+)\s*(?::[^=]*)?=>/g,
  /^\s+(?:async\s+|static\s+)*\*?#?(\w+)(?:<[^<>]*>)?\((?:[^()]|\([^()]*\))*\)\s*(?::[^;={]*)?\{/gm,
  /(\w+)\??:\s*(?:async\s*)?\((?:[^()]|\([^()]*\))*\)\s*(?::[^=]*)?=>/g,
];

/** A name that ends in `Of` says what a function is about and not what it does. */
export function namesWithoutVerb(house: House): string[] {
  return Object.entries(house).flatMap(([path, text]) => {
    if (!/\.[jt]s$/.test(path) || path === "test/tidy.test.ts") return [];
    const code = withoutComments(text);
    const names = functionForms.flatMap((form) => [...code.matchAll(form)].map(([, name]) => name));
    return names.filter((name) => name?.endsWith("Of")).map((name) => `${path} declares ${name}`);
  });
}

/** Words that readers had to decode, each with what to say instead. */
const retiredWords: Readonly<Record<string, string>> = {
  bereft: "without credits",
  doer: "actor",
  inquiries: "questions",
  inquiry: "question",
  kin: "related firms",
  knock: "request",
  mourned: "what still holds it",
  workings: "state",
};

/** In names, in comments and in text: `kinOfFirms` has the word `kin`, `making` does not. */
export function retiredWordsIn(house: House): string[] {
  return Object.entries(house).flatMap(([path, text]) => {
    if (!path.endsWith(".ts") || describesRules.has(path)) return [];
    const words = new Set(text.match(/[A-Z]?[a-z]+/g)?.map((word) => word.toLowerCase()));
    return Object.entries(retiredWords).flatMap(([word, instead]) =>
      words.has(word) ? [`${path} says ${word}: say ${instead}`] : [],
    );
  });
}

/** Exported types whose name another file declares, and types of one name in one room. */
export function typesNamedTwice(house: House): string[] {
  const places = new Map<string, string[]>();
  for (const [path, text] of Object.entries(house)) {
    if (!/^(?:src|cli)\/.*\.ts$/.test(path) || path.endsWith(".test.ts")) continue;
    const room = path.split("/").slice(0, 2).join("/");
    for (const [, exported, name = ""] of text.matchAll(
      /^(export )?(?:type|interface|class|enum) (\w+)/gm,
    )) {
      const scopes = exported === undefined ? [`${room}: `] : [`${room}: `, "exported: "];
      for (const scope of scopes) {
        places.set(scope + name, [...(places.get(scope + name) ?? []), path]);
      }
    }
  }
  return [...places].flatMap(([named, paths]) =>
    paths.length > 1 ? [`${named} is declared in ${paths.join(" and ")}`] : [],
  );
}

export function misnumberedMigrations(house: House): string[] {
  const others = ["grants.sql", "schema.sql"];
  const files = Object.keys(house)
    .filter((path) => path.startsWith("migrations/"))
    .map((path) => path.slice("migrations/".length))
    .filter((name) => !others.includes(name))
    .toSorted((a, b) => a.localeCompare(b));
  return files.flatMap((name, index) => {
    const due = String(index + 1).padStart(4, "0");
    const complaints: string[] = [];
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name)) complaints.push(`${name} is not NNNN-why.sql`);
    if (!name.startsWith(`${due}-`)) complaints.push(`${name} stands where ${due} is due`);
    if (!/^-- \S/.test(house[`migrations/${name}`] ?? "")) {
      complaints.push(`${name} does not open with a comment that says why`);
    }
    return complaints;
  });
}

export function defaultExports(house: House): string[] {
  return codeWhere(house, /\bexport\s+default\b|\bas\s+default\b/, (path) => path.endsWith(".ts"));
}

/** Sets whose columns are matched by their order, or whose lists travel in a way of their own. */
export function handWrittenSets(house: House): string[] {
  const severalArrays =
    /\bunnest\(\s*\$\{(?:[^{}`]|\{[^{}]*\})*\}::\w+\[\]\s*,|string_to_array\(\s*\$/;
  return codeWhere(house, severalArrays, (path) => {
    return path.startsWith("src/") && path !== "src/platform/postgres/table.ts";
  });
}

const moneyAdded =
  /\breduce(?:<[^>]*>)?\((?:(?!\breduce\b|;)[^]){0,120}?=>\s*\w+\s*\+\s*(?!BigInt)(?:[^,;()]|\([^()]*\))*?(?:paise|face|share|amount)|\+=[^;]*(?:paise|face)|\?\? 0\) \+ (?:\w+\.)*\w*(?:paise|face)/i;
/** Sums that were found to be one amount, or below a limit of one, before they are made here. */
const boundedSums = [
  "src/kernel/money.ts",
  "src/rates/open-quotes.ts",
  "src/cover/",
  "src/netting/",
];

export function moneyAddedByHand(house: House): string[] {
  return codeWhere(house, moneyAdded, (path) => {
    if (!path.startsWith("src/") || path.endsWith(".test.ts")) return false;
    return !boundedSums.some((bounded) => path.startsWith(bounded));
  });
}

export function inexactJson(house: House): string[] {
  return codeWhere(house, /\bJSON\s*\.\s*stringify\b/, (path) => {
    return path.startsWith("src/") && !path.endsWith(".test.ts") && path !== "src/kernel/json.ts";
  });
}

export function longFiles(house: House): string[] {
  return Object.entries(house).flatMap(([path, text]) => {
    const lines = text.split("\n").length - 1;
    const isMeant = /^(src|client)\//.test(path) && !text.startsWith(written);
    return isMeant && lines > linesMax ? [`${path} has ${lines} lines`] : [];
  });
}

type Manifest = { readonly [group: string]: Readonly<Record<string, string>> | undefined };

export function looseVersions(house: House): string[] {
  const manifest = JSON.parse(house["package.json"] ?? "{}") as Manifest;
  const groups = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  return groups.flatMap((group) =>
    Object.entries(manifest[group] ?? {})
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
      .map(([name, version]) => `${name} is asked for as ${version}`),
  );
}

type Locked = {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const platforms = ["linux x64", "linux arm64", "darwin x64", "darwin arm64"];

/** npm drops the variants of other machines from a lock file that it writes over node_modules. */
export function missingVariants(house: House): string[] {
  const locked = lockedPackages(house);
  return Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) => {
    const wanted = Object.keys(optionalDependencies);
    const variants = wanted.filter((name) => {
      return /(linux|darwin)[-_](x64|arm64)/.test(name) || findLocked(locked, path, name)?.os;
    });
    if (variants.length < 2) return [];
    const covered = variants.flatMap((name) => {
      const { os = [], cpu = [] } = findLocked(locked, path, name) ?? {};
      return [os].flat().flatMap((system) => [cpu].flat().map((on) => `${system} ${on}`));
    });
    return platforms
      .filter((platform) => !covered.includes(platform))
      .map((platform) => `${path || "the project"} has no variant for ${platform}`);
  });
}

export function lockedHosts(house: House): string[] {
  return Object.entries(lockedPackages(house)).flatMap(([path, { resolved, integrity }]) => {
    if (path === "") return [];
    if (resolved !== undefined) return [`${path} is tied to ${resolved}`];
    return integrity === undefined ? [`${path} has no integrity`] : [];
  });
}

function lockedPackages(house: House): Readonly<Record<string, Locked>> {
  const lock = JSON.parse(house["package-lock.json"] ?? "{}") as {
    packages?: Record<string, Locked>;
  };
  return lock.packages ?? {};
}

function findLocked(locked: Readonly<Record<string, Locked>>, path: string, name: string) {
  return locked[`${path}/node_modules/${name}`] ?? locked[`node_modules/${name}`];
}

function codeWhere(house: House, pattern: RegExp, isMeant: (path: string) => boolean): string[] {
  return Object.entries(house).flatMap(([path, text]) => {
    // The rules themselves spell out what they look for.
    if (!path.endsWith(".ts") || !isMeant(path) || describesRules.has(path)) return [];
    const found = pattern.exec(withoutComments(text));
    return found ? [`${path} has ${found[0].trim()}`] : [];
  });
}

const describesRules = new Set(["test/support/house.ts", "test/tidy.test.ts"]);

function listImports(house: House): { from: string; to: string }[] {
  return Object.entries(house).flatMap(([from, text]) =>
    from.endsWith(".ts")
      ? parseSpecifiers(text)
          .filter((name) => name.startsWith("."))
          .map((name) => ({ from, to: posix.join(posix.dirname(from), name) }))
      : [],
  );
}

function parseSpecifiers(text: string): string[] {
  const specifier =
    /(?:^|\n)\s*(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|(?:^|\n)\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g;
  return [...withoutComments(text).matchAll(specifier)].map(
    ([, named, bare, dynamic]) => named ?? bare ?? dynamic ?? "",
  );
}

/** A comment may speak of what code may not do. Strings and templates are kept whole. */
export function withoutComments(text: string): string {
  return text.replaceAll(
    /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (part) => (part.startsWith("//") || part.startsWith("/*") ? "" : part),
  );
}
