// What operators are told they can do with a thing is what the service lets them do. The console shows
// its buttons by that and knows no lifecycle of its own.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { liveSeller, sellLive } from "../support/live-sales.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { addCredit, house, makeDeal } from "../support/settlements.ts";

/** The body that each act takes, by its name; the last part of its path where that is another. */
type Acts = Readonly<Record<string, { readonly body: object; readonly path?: string }>>;

async function startDesk(t: TestContext) {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const post = async (path: string, body: object = {}, expect = 200) =>
    (await send("POST", path, { headers, body, expect })).body;
  const read = async (path: string) => (await send("GET", path, { headers, expect: 200 })).body;
  /** Those that are offered are these, and the service does none of the others. */
  const assertOffered = async (path: string, acts: Acts, offered: readonly string[]) => {
    const before = await read(path);
    assert.deepEqual(before.allowed_actions, offered, `${path} that is ${before.status}`);
    for (const [name, { body, path: end = name }] of Object.entries(acts)) {
      if (offered.includes(name)) continue;
      const { status, text } = await send("POST", `${path}/${end}`, { headers, body });
      const isRefused = [404, 409, 422].includes(status);
      // What was initiated before is not initiated again.
      const isNothing = text === '{"initiated":0}';
      assert.ok(isRefused || isNothing, `${name} of ${before.status}: ${status} ${text}`);
    }
    assert.equal((await read(path)).version, before.version, "nothing was done");
  };
  return { service, post, read, assertOffered };
}

test("a payout offers what the service does with it in its state", async (t) => {
  const { service, post, read, assertOffered } = await startDesk(t);
  const seller = await liveSeller(service);
  await sellLive(service, seller, 1_000_000, 2_000_000, 3_000_000);
  const { payouts } = await read("/ops/payouts?environment=live");
  const [first, second] = payouts.map(({ payout_id }: { payout_id: string }) => payout_id);
  const acts: Acts = {
    release: { body: {} },
    send: { body: { utr: "HDFCR52026111500099" } },
    confirm: { body: { reference: "STATEMENT-15" } },
    return: { body: { reason: "account_closed" } },
    resend: { body: {} },
  };
  const assertActs = async (id: string, offered: readonly string[]) =>
    await assertOffered(`/ops/payouts/${id}`, acts, offered);

  await assertActs(first, ["release", "send", "return"]);
  await post(`/ops/payouts/${first}/send`, { utr: "HDFCR52026111500011" });
  await assertActs(first, ["confirm", "return"]);
  await post(`/ops/payouts/${first}/confirm`, { reference: "STATEMENT-15" });
  await assertActs(first, []);

  await post(`/ops/payouts/${second}/return`, { reason: "wrong_firm" });
  await assertActs(second, ["resend"]);
  const { payout_id: resent } = await post(`/ops/payouts/${second}/resend`);
  await assertActs(resent, ["release", "send", "return"]);

  await post("/ops/payout-files", { environment: "live" });
  await assertActs(resent, []);

  const held = await liveSeller(service);
  await sellLive(service, held, 4_000_000);
  await post(`/ops/firms/${held.firmId}/suspend`, { reason: "a court order" });
  service.clock.advance({ seconds: 120 });
  await service.work();
  const [waiting] = (await read("/ops/payouts?environment=live&status=held")).payouts;
  await assertActs(waiting.payout_id, ["release", "send", "return"]);
});

test("a settlement offers what the service does with it in its state", async (t) => {
  const { service, post, assertOffered } = await startDesk(t);
  const seller = await liveSeller(service);
  const buyer = await liveSeller(service);
  const deal = async (of: typeof buyer | ReturnType<typeof house>) => {
    const scripNo = await addCredit(service, seller);
    const legs = [{ seller, scripNo }];
    const settlementId = await makeDeal(service, { environment: "live", buyer: of, legs });
    await service.work();
    return { path: `/ops/settlements/${settlementId}`, scripNo };
  };
  const assertActs = async (
    { path, scripNo }: Awaited<ReturnType<typeof deal>>,
    offered: readonly string[],
  ) => {
    const reference = "PORTAL-7";
    const acts: Acts = {
      fund: { body: { reference: "HDFCR52026111500077" } },
      initiate: { path: "initiated", body: { reference } },
      confirm_transfer: {
        path: "confirm-transfer",
        body: { reference, outcome: "transferred" },
      },
      fail: { body: { reference } },
      take_back: { path: "take-back", body: { reference, scrip_no: scripNo } },
      reverse: { body: { reason: "forged" } },
    };
    await assertOffered(path, acts, offered);
  };

  const unpaid = await deal(buyer);
  await assertActs(unpaid, ["fund", "fail"]);
  await post(`${unpaid.path}/fail`);
  await assertActs(unpaid, ["take_back"]);

  const paid = await deal(house("live"));
  await assertActs(paid, ["initiate", "confirm_transfer", "fail"]);
  await post(`${paid.path}/initiated`, { reference: "PORTAL-7" });
  await assertActs(paid, ["confirm_transfer", "fail"]);
  await post(`${paid.path}/confirm-transfer`, { reference: "PORTAL-7", outcome: "transferred" });
  await service.work();
  await assertActs(paid, ["reverse"]);
});
