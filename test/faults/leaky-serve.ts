// The service with one defect: each request leaves memory and an open file behind. The control of the
// soak.

import { openSync } from "node:fs";

import { serveWith } from "./serve-with.ts";

const leakedBytes = 128 * 1_024;
const leaked: { readonly bytes: Buffer; readonly file: number }[] = [];

await serveWith((ctx) => ctx, {
  breakServer(server) {
    server.on("request", () => {
      leaked.push({ bytes: Buffer.alloc(leakedBytes, 1), file: openSync("/dev/null", "r") });
    });
  },
});
