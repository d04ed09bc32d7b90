#!/usr/bin/env node
// What `npx scripdesk` runs: the compiled program of an installed package, or the sources of a checkout.
// It is plain JavaScript that any Node understands, so that an old one is told what is missing.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(`scripdesk needs Node 24.12 or later, and this is ${process.version}.`);
  process.exit(1);
}

// What Node has compiled and freed of types is kept beside the packages for the next run, which halves
// the time that a command takes to start. It is switched on before anything is loaded: to free one file
// of types without it took a fifth of a start.
const { enableCompileCache } = await import("node:module");
const { fileURLToPath } = await import("node:url");
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/scripdesk", import.meta.url)));

const { existsSync } = await import("node:fs");
const compiled = new URL("../dist/cli/main.js", import.meta.url);
await import(
  existsSync(compiled) ? compiled.href : new URL("../cli/main.ts", import.meta.url).href
);
