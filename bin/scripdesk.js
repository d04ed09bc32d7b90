#!/usr/bin/env node
// What `npx scripdesk` runs: the compiled program of an installed package, or the sources of a checkout.
// It is plain JavaScript that any Node understands: an old one hands over to the Node that came with the
// packages, and says what is missing where none did.

const { enableCompileCache, createRequire } = await import("node:module");
const { fileURLToPath } = await import("node:url");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 24 || (major === 24 && minor >= 12)) await start();
else await handOver();

async function handOver() {
  const { spawn } = await import("node:child_process");
  const child = spawn(findNode(), [...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
  });
  child.on("error", refuse);
  child.on("exit", (code) => process.exit(code ?? 1));
  // A terminal's Ctrl-C reaches both; the child decides when it ends.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
}

function findNode() {
  try {
    const name = `node-${process.platform}-${process.arch}`;
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    return refuse();
  }
}

function refuse() {
  console.error(`scripdesk needs Node 24.12 or later, and this is ${process.version}.`);
  process.exit(1);
}

// What Node has compiled and freed of types is kept beside the packages for the next run, which halves
// the time that a command takes to start. It is switched on before anything is loaded: to free one file
// of types without it took a fifth of a start.
async function start() {
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/scripdesk", import.meta.url)));

  const { existsSync } = await import("node:fs");
  const compiled = new URL("../dist/cli/main.js", import.meta.url);
  await import(
    existsSync(compiled) ? compiled.href : new URL("../cli/main.ts", import.meta.url).href
  );
}
