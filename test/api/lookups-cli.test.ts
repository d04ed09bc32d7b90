import assert from "node:assert/strict";
import { test } from "node:test";

import { commandLine } from "../support/cli.ts";
import { dealer } from "../support/orders.ts";
import { startService } from "../support/service.ts";

test("orders, desks, find and today work on the command line, in rupees and names or as raw JSON", async (t) => {
  const service = await startService(t);
  const { run } = await commandLine(t, service);
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words, "--json");
    assert.equal(code, 0, stderr);
    assert.equal(stderr, "");
    return JSON.parse(stdout);
  };
  const table = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(...words);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.equal(await table("orders", "list"), "none\n");
  assert.deepEqual(await json("orders", "list"), []);

  const desk = await dealer(service, [{}, {}]);
  for (const scrip_no of desk.scripNos) {
    await desk.post("/v1/orders", { side: "sell", scrip_no, limit_bps: 9_990 }, 201);
  }
  const [newest, oldest] = await json("orders", "list", "--env", "sandbox", "--firm", desk.firmId);
  assert.deepEqual(
    [newest.firm_id, newest.desk_id, newest.asked_paise, newest.status],
    [desk.firmId, desk.deskId, 25_000_000, "open"],
  );
  const listed = await run("orders", "list", "--limit", "1");
  assert.match(listed.stdout, /^order_id +env +desk +firm +side +scheme +status +asked /);
  assert.match(listed.stdout, /Client firm +sell +RODTEP +open +₹2,50,000\.00/);
  const [, cursor = ""] = /--cursor (\S+)/.exec(listed.stderr) ?? assert.fail(listed.stderr);
  const [next] = await json("orders", "list", "--limit", "1", "--cursor", cursor);
  assert.equal(next.order_id, oldest.order_id);
  assert.deepEqual(await json("orders", "list", "--to", "2026-01-01"), []);

  assert.match(await table("orders", "show", newest.order_id), /^firm +Client firm$/m);
  assert.equal((await json("orders", "show", newest.order_id)).firm_id, desk.firmId);
  const [cancelled] = await json("orders", "cancel", newest.order_id);
  assert.deepEqual([cancelled.order_id, cancelled.status], [newest.order_id, "cancelled"]);

  const [found] = await json("find", newest.order_id);
  assert.deepEqual([found.kind, found.id, found.env], ["order", newest.order_id, "sandbox"]);
  assert.match(await table("find", "client"), /^firm +authorized/m);
  const [, ...ids] = (await table("find", "client")).match(/(?<= )\S+$/gm) ?? [];
  assert.ok(ids.includes(desk.firmId), "a firm is found with its id beside its name");
  const nothing = await run("find", "no such thing");
  assert.deepEqual([nothing.code, nothing.stdout], [1, "none\n"]);

  const [first] = await json("desks", "list");
  assert.deepEqual([first.id, first.client_firms], [desk.deskId, 1]);
  assert.match(await table("desks", "show", desk.deskId), /^client_firms +1$[^]*\nkeys\nkey_id/m);
  assert.match(
    await table("today", "--env", "sandbox"),
    /\nwaiting\n[^]*\nscheme +market +mid_bps/,
  );
  assert.equal((await json("today")).environment, "live");
});
