import assert from "node:assert/strict";
import { test } from "node:test";

import { commandLine } from "../support/cli.ts";
import { startService } from "../support/service.ts";

test("an operator reads enquiries and closes them on the command line", async (t) => {
  const service = await startService(t);
  const { send } = service;
  const { run: scripdesk } = await commandLine(t, service);
  const run = async (...words: string[]) => await scripdesk("enquiries", ...words);
  const body = {
    scheme: "RODTEP",
    requirement_paise: 250_000_000,
    name: "Asha Rao",
    email: "asha@acme.example",
    consent: true,
  };
  const { enquiry_ref } = (await send("POST", "/public/enquiry/buy", { body, expect: 201 })).body;

  const listed = await run("list", "--status", "received");
  assert.match(
    listed.stdout,
    new RegExp(`^${enquiry_ref}  buy   RODTEP  ₹25,00,000\\.00 +Asha Rao`, "m"),
  );
  assert.equal(listed.stdout.includes("asha@acme.example"), false, "a list is for a glance");
  const shown = JSON.parse((await run("show", enquiry_ref, "--json")).stdout);
  assert.equal(shown.email, "asha@acme.example");
  assert.equal(shown.phone, null);

  assert.equal((await run("close", enquiry_ref)).code, 2, "without an outcome");
  assert.equal((await run("close", enquiry_ref, "--outcome", " ")).code, 2);
  const closed = await run("close", enquiry_ref, "--outcome", "called back", "--json");
  assert.equal(JSON.parse(closed.stdout).status, "closed");
  const again = await run("close", enquiry_ref, "--outcome", "again");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /does not allow close/);
  assert.equal((await run("show", "enq_nothing")).code, 1);
  assert.equal((await run("list", "--status", "lost")).code, 2);
  assert.deepEqual(JSON.parse((await run("list", "--status", "received", "--json")).stdout), []);
  const status = await send("GET", `/public/enquiry/${enquiry_ref}`, { expect: 200 });
  assert.equal(status.body.status, "closed");
});
