#!/usr/bin/env node
// What `npx scripdesk` runs. What Node has compiled is kept beside the packages for the next run,
// which halves the time a command takes to start; it must be switched on before anything is loaded.

import { enableCompileCache } from "node:module";
import { join } from "node:path";

enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/scripdesk"));

// Whoever reads the output may have seen enough (`| head`); what the command does, it does to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));
