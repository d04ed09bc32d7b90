#!/usr/bin/env node
// What `bin/scripdesk.js` loads.

import { run } from "./run.ts";

// Whoever reads the output may have seen enough (`| head`); what the command does, it does to its end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await run(process.argv.slice(2));
