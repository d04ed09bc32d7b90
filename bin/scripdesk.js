#!/usr/bin/env node
// What `npx scripdesk` runs: the compiled program of an installed package, or the sources of a checkout.
// It is plain JavaScript that any Node understands, so that an old one is told what is missing.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(`scripdesk needs Node 24.12 or later, and this is ${process.version}.`);
  process.exit(1);
}

const { existsSync } = await import("node:fs");
const compiled = new URL("../dist/cli/main.js", import.meta.url);
await import(
  existsSync(compiled) ? compiled.href : new URL("../cli/main.ts", import.meta.url).href
);
