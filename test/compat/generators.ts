// `npm run compat`, first part: clients that others' generators make from the document compile strictly
// and sell a credit or hold for a strict reader of types, Postman's converter makes calls that are no dry
// runs, Spectral finds nothing in either document, and the types of our Python client hold for its own
// code and for its caller's. The tools are installed from the registry in a temporary folder.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { endOnSignals, openStack } from "../support/programme-stack.ts";
import { serverVariable, startTestServer } from "../support/server.ts";
import { startService } from "../support/service.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const installMsMax = 300_000;

const packages = [
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "orval@7.13.2",
  "swagger-typescript-api@13.13.0",
  "openapi-to-postmanv2@6.3.3",
  "@stoplight/spectral-cli@6.16.3",
  "typescript@5.9.3",
  "pyright@1.1.414",
];

const configuration = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: [],
    allowImportingTsExtensions: true,
    skipLibCheck: false,
  },
};

const sell = `
if (!seeded) throw new Error("nothing was seeded");
const scrip_no = seeded.scrip_nos[0] ?? "";
`;

/** A sale with the types of openapi-typescript. */
const withTypes = `
import createClient from "openapi-fetch";
import type { components, paths } from "./types.ts";
const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { "X-Service-Key": key } });
const { data: seeded } = await client.POST("/v1/sandbox/credits:seed", { body: { count: 1, scheme: "RODTEP" } });
${sell}
const { data: quote } = await client.POST("/v1/quote", { body: { side: "sell", scrip_no } });
const told = quote as components["schemas"]["SellQuote"] | components["schemas"]["NoQuote"];
if ("no_quote" in told) throw new Error(told.reason);
const price: number = told.price_bps;
const { data: order, error } = await client.POST("/v1/orders", { body: { quote_ref: told.quote_ref } });
if (!order) throw new Error(error.message);
const { data: again } = await client.GET("/v1/orders/{order_id}", { params: { path: { order_id: order.order_id } } });
console.log(again?.status, again?.price_bps === price);
`;

/** The same with what hey-api makes. */
const withSdk = `
import { client } from "./sdk/client.gen.ts";
import { placeOrder, readOrder, seedSandbox, takeQuote } from "./sdk/sdk.gen.ts";
import type { NoQuote, SellQuote } from "./sdk/types.gen.ts";
const [baseUrl = "", key = ""] = process.argv.slice(2);
client.setConfig({ baseUrl, headers: { "X-Service-Key": key } });
const { data: seeded } = await seedSandbox({ body: { count: 1, scheme: "RODTEP" } });
${sell}
const { data: quote } = await takeQuote({ body: { side: "sell", scrip_no } });
const told = quote as SellQuote | NoQuote;
if ("no_quote" in told) throw new Error(told.reason);
const price: number = Number(told.price_bps);
const { data: order, error } = await placeOrder({ body: { quote_ref: told.quote_ref } });
if (!order) throw new Error(JSON.stringify(error));
const { data: again } = await readOrder({ path: { order_id: order.order_id } });
console.log(again?.status, Number(again?.price_bps) === price);
`;

/** A caller of the Python client, who tells the kinds of a quote apart. */
const withPython = `
from scripdesk_client import Scripdesk

desk = Scripdesk(base_url="http://127.0.0.1:1", api_key="x")
quote = desk.take_quote({"side": "sell", "scrip_no": "0310165320"})
if "no_quote" in quote:
    print(quote["reason"])
elif quote["side"] == "sell":
    price: int = quote["price_bps"]
    order = desk.place_order({"quote_ref": quote["quote_ref"]}, idempotency_key="a")
    print(order["status"], price)
for credit in desk.list_credits("frm_1", {"status": "listed"}):
    print(credit["scrip_no"].lower())
`;

async function checkPython(folder: string): Promise<void> {
  const client = join(root, "client/python");
  const settings = { extraPaths: [client], pythonVersion: "3.10", include: ["sell.py"] };
  await writeFile(join(folder, "sell.py"), withPython);
  await writeFile(join(folder, "pyrightconfig.json"), JSON.stringify(settings));
  const inFolder = { cwd: folder, timeout: installMsMax };
  await run("npx", ["pyright"], inFolder);
  await run(
    "npx",
    ["pyright", "--pythonversion", "3.10", join(client, "scripdesk_client")],
    inFolder,
  );
  console.log("the types of the Python client hold");
}

/** What Spectral recommends, and that every parameter is described. */
const spectralRules = `extends: ["spectral:oas"]
rules:
  oas3-parameter-description: warn
`;

async function lint(folder: string): Promise<void> {
  await writeFile(join(folder, ".spectral.yaml"), spectralRules);
  const documents = ["docs/openapi.json", "docs/ops-openapi.json"].map((name) => join(root, name));
  const words = ["spectral", "lint", "--fail-severity", "hint", ...documents];
  await run("npx", words, { cwd: folder, timeout: installMsMax, maxBuffer: 1 << 24 });
  console.log("Spectral finds nothing");
}

async function generate(folder: string): Promise<void> {
  const inFolder = { cwd: folder, timeout: installMsMax, maxBuffer: 1 << 24 };
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--no-audit", "--no-fund", ...packages], inFolder);
  const document = join(root, "docs/openapi.json");
  await run("npx", ["openapi-typescript", document, "-o", "types.ts"], inFolder);
  const importing = { name: "@hey-api/client-fetch" };
  const settings = { input: document, output: { path: "sdk", module: { extension: ".ts" } } };
  const made = `module.exports = ${JSON.stringify({ ...settings, plugins: [importing, "@hey-api/typescript", "@hey-api/sdk"] })}`;
  await writeFile(join(folder, "openapi-ts.config.cjs"), made);
  await run("npx", ["openapi-ts", "-f", "openapi-ts.config.cjs"], inFolder);
  await writeFile(
    join(folder, "types-sell.ts"),
    `declare const process: { argv: string[] };\n${withTypes}`,
  );
  await writeFile(
    join(folder, "sdk-sell.ts"),
    `declare const process: { argv: string[] };\n${withSdk}`,
  );
  await run(
    "npx",
    ["orval", "--input", document, "--output", "orval.ts", "--client", "fetch"],
    inFolder,
  );
  // As the client's README tells its users: the tool takes a colon for a parameter.
  const page = await readFile(join(root, "client/README.md"), "utf8");
  const hooks = /^```js\n(\/\/ scripdesk\.config\.mjs[\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
  await writeFile(join(folder, "scripdesk.config.mjs"), hooks);
  const told = ["--custom-config", "scripdesk.config.mjs"];
  const swagger = ["generate", "-p", document, "-o", ".", "-n", "swagger.ts", ...told];
  await run("npx", ["swagger-typescript-api", ...swagger], inFolder);
  await run("npx", ["openapi2postmanv2", "-s", document, "-o", "postman.json"], inFolder);
  const collection = await readFile(join(folder, "postman.json"), "utf8");
  const dryRuns = [...collection.matchAll(/"key":\s*"X-Dry-Run",\s*"value":\s*"(\d)"/g)];
  if (dryRuns.some(([, value]) => value !== "0")) throw new Error("Postman makes dry runs");
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(configuration));
  await run("npx", ["tsc", "-p", "tsconfig.json"], inFolder);
}

async function compare(): Promise<void> {
  await using stack = openStack();
  const scope = { after: (work: unknown) => stack.defer(work as () => Promise<void>) }; // As a test context.
  const folder = await mkdtemp(join(tmpdir(), "scripdesk-generators-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await generate(folder);
  await lint(folder);
  await checkPython(folder);
  const server = await startTestServer();
  stack.defer(() => server.stop());
  process.env[serverVariable] = JSON.stringify([server.connection]);
  const service = await startService(scope);
  for (const script of ["types-sell.ts", "sdk-sell.ts"]) {
    // Each sells on a desk of its own: a desk's seed gives the same credit again.
    const { api_key } = await service.issue();
    const words = [join(folder, script), service.url, api_key];
    const { stdout } = await run(process.execPath, words);
    if (stdout !== "matched true\n") throw new Error(`${script} answered ${stdout}`);
    console.log(`${script}: compiled strictly, and sold a credit`);
  }
}

if (import.meta.main) {
  endOnSignals();
  await compare().catch((error: { stdout?: string; stderr?: string; message?: string }) => {
    console.error([error.message, error.stdout, error.stderr].filter(Boolean).join("\n"));
    process.exitCode = 1;
  });
}
