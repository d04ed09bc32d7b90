// Credits that pay duty part by part, and that nobody sells what was used.

import assert from "node:assert/strict";
import { test } from "node:test";

import { istDay } from "../../src/kernel/time.ts";
import { checkLedger } from "../../src/ledger/check-ledger.ts";
import { crore, quoteFor } from "../support/crosses.ts";
import { asOwner } from "../support/database.ts";
import { assertOrdersSound } from "../support/invariants.ts";
import { stockHouse } from "../support/inventory.ts";
import { payIn } from "../support/ledger.ts";
import { asBearer, startOps } from "../support/ops.ts";
import { type Dealer, dealer } from "../support/orders.ts";
import { addPerson } from "../support/people.ts";
import { type Answer, startService } from "../support/service.ts";

const face = 25_000_000;
const part = { bill_of_entry: "7781234", used_on: "2026-11-14", port: "INNSA1" };
const some = { ...part, amount_paise: 10_000_000 };

async function use({ post }: Dealer, scripNo: string, body: object, expect: number) {
  return (await post(`/v1/credits/${encodeURIComponent(scripNo)}/use`, body, expect)).body;
}

function figures({ status, face_paise, issued_paise, used_elsewhere_paise, uses }: Answer["body"]) {
  const told = uses.reduce((sum: number, one: Answer["body"]) => sum + one.amount_paise, 0);
  assert.equal(face_paise + told + used_elsewhere_paise, issued_paise, "each paisa is explained");
  return [status, face_paise, told];
}

test("a credit is used part by part", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  const firm = await dealer(
    service,
    Array.from({ length: 12 }, () => ({})),
  );
  let next = 0;
  const fresh = () => firm.scripNos[next++] ?? "";
  const declare = async (scrip_no: string, balances: object) => {
    const days = { issued_on: "2026-10-01", expires_on: "2028-09-30" };
    const credits = [{ scrip_no, scheme: "RODTEP", issued_paise: face, ...days, ...balances }];
    const path = `/v1/firms/${firm.firmId}/credits`;
    return (await firm.post(path, { credits }, 200)).body.results[0];
  };

  await t.test("each part lowers the balance, and the last one ends it", async () => {
    const scripNo = fresh();
    const used = await use(firm, scripNo, some, 200);
    assert.deepEqual(figures(used), ["listed", 15_000_000, 10_000_000]);
    assert.deepEqual(used.uses, [{ ...some, balance_paise: 15_000_000 }]);
    const rest = await use(firm, scripNo, { ...part, bill_of_entry: "7781235" }, 200);
    assert.deepEqual(figures(rest), ["used", 0, face]);
    assert.deepEqual(rest.uses[1].amount_paise, 15_000_000);
    assert.deepEqual(await firm.credit(scripNo), rest);
    const { credits } = await firm.get(`/v1/firms/${firm.firmId}/credits?status=used`);
    assert.deepEqual(credits, [rest]);
    await use(firm, scripNo, { ...part, bill_of_entry: "7781236" }, 409);
  });

  await t.test("without a body all is used, and marking it again is no conflict", async () => {
    const scripNo = fresh();
    const path = `/v1/credits/${scripNo}/use`;
    const { body } = await service.send("POST", path, { key: firm.key, expect: 200 });
    assert.deepEqual(figures(body), ["used", 0, face]);
    assert.equal(body.uses[0].bill_of_entry, null);
    assert.deepEqual(await use(firm, scripNo, {}, 200), body);
  });

  await t.test(
    "a bill is told once: the same again changes nothing, another is refused",
    async () => {
      const scripNo = fresh();
      const used = await use(firm, scripNo, some, 200);
      assert.deepEqual(await use(firm, scripNo, { ...some, port: " innsa1" }, 200), used);
      for (const other of [
        { ...some, amount_paise: 1 },
        { ...some, used_on: "2026-11-13" },
        { ...some, port: "INMAA1" },
        part,
      ]) {
        const { detail } = await use(firm, scripNo, other, 409);
        assert.equal(detail.reason, "bill_of_entry_told");
      }
      const all = { ...part, bill_of_entry: "7781235" };
      const last = await use(firm, scripNo, all, 200);
      assert.deepEqual(await use(firm, scripNo, all, 200), last);
    },
  );

  await t.test("what is not told whole, or cannot be, is refused", async () => {
    const scripNo = fresh();
    for (const [path, body] of [
      ["bill_of_entry", { ...some, bill_of_entry: undefined }],
      ["bill_of_entry", { ...some, bill_of_entry: "-1" }],
      ["used_on", { ...some, used_on: "2026-11-16" }],
      ["used_on", { ...some, used_on: "2026-02-30" }],
      ["used_on", { ...some, used_on: undefined }],
      ["port", { ...some, port: "INNSA" }],
      ["port", { ...some, port: undefined }],
    ] as const) {
      const { detail } = await use(firm, scripNo, body, 422);
      assert.equal(detail.fields[0].path, path);
    }
    const { detail } = await use(firm, scripNo, { ...some, amount_paise: face + 1 }, 409);
    assert.deepEqual(detail, { reason: "above_balance", face_paise: face });
    await firm.post(`/v1/credits/${scripNo}/use`, some, 200, { "x-dry-run": "1" });
    assert.deepEqual(figures(await firm.credit(scripNo)), ["listed", face, 0]);
  });

  await t.test("of many parts at once no more is used than there is", async () => {
    const scripNo = fresh();
    const beside = await startService(t, { beside: service });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 === 0 ? service : beside).send("POST", `/v1/credits/${scripNo}/use`, {
          key: firm.key,
          body: { ...some, bill_of_entry: `BE${at}` },
        }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 2);
    assert.deepEqual(figures(await firm.credit(scripNo)), ["listed", 5_000_000, 20_000_000]);
  });

  await t.test("taken back and declared anew, it is no larger for it", async () => {
    const scripNo = "ANEW000001";
    await declare(scripNo, { face_paise: face });
    await use(firm, scripNo, some, 200);
    await firm.post(`/v1/credits/${scripNo}/withdraw`, {}, 200);
    const larger = await declare(scripNo, { face_paise: face });
    assert.equal(larger.error.detail.reason, "was_used");
    const { credit: again } = await declare(scripNo, { face_paise: 15_000_000 });
    assert.deepEqual(figures(again), ["listed", 15_000_000, 10_000_000]);
    assert.deepEqual(await use(firm, scripNo, some, 200), again);
  });

  await t.test("a report may show parts that were used elsewhere, and raises nothing", async () => {
    const scripNo = "REPORT0001";
    const { credit: declared } = await declare(scripNo, { face_paise: face });
    assert.equal(declared.balance_shown_on, istDay(service.clock.now()));
    await use(firm, scripNo, some, 200);
    const report = async (rupees: string) => {
      const heading = "Scrip Number,Scheme,Amount,Balance,Issue Date,Expiry Date";
      const csv = `${heading}\n${scripNo},RODTEP,250000.00,${rupees},01/10/2026,30/09/2028\n`;
      const path = `/v1/firms/${firm.firmId}/credits:import`;
      return (await firm.post(path, { csv }, 200)).body.results[0];
    };
    assert.equal((await firm.credit(scripNo)).balance_shown_on, null);
    assert.equal((await report("150000.00")).ok, true);
    assert.equal((await report("250000.00")).ok, false, "an older report");
    const lowered = (await report("120000.00")).credit;
    assert.deepEqual(figures(lowered), ["listed", 12_000_000, 10_000_000]);
    assert.equal(lowered.used_elsewhere_paise, 3_000_000);
    assert.equal(lowered.balance_shown_on, null, "a firm's report proves nothing");
    const emptied = (await report("0.00")).credit;
    assert.deepEqual(figures(emptied), ["used", 0, 10_000_000]);
    assert.deepEqual((await report("0")).credit, emptied, "the same report again");
    assert.equal((await report("120000.00")).error.detail.reason, "ended");
  });

  await t.test(
    "a report of a credit that is used up makes nothing of what is not ours",
    async () => {
      const resting = fresh();
      await firm.post("/v1/orders", { side: "sell", scrip_no: resting, limit_bps: 9_980 }, 201);
      const rows = ["NEVER00001", resting].map(
        (scripNo) => `${scripNo},RODTEP,250000.00,0.00,01/10/2026,30/09/2028\n`,
      );
      const csv = `Scrip Number,Scheme,Amount,Balance,Issue Date,Expiry Date\n${rows.join("")}`;
      const path = `/v1/firms/${firm.firmId}/credits:import`;
      const { results } = (await firm.post(path, { csv }, 200)).body;
      assert.deepEqual(
        results.map(({ error }: Answer["body"]) => error.detail.reason),
        ["used_up", "facts_differ"],
      );
      assert.equal((await firm.credit(resting)).status, "reserved");
    },
  );

  await t.test("the events explain each paisa of every balance", async () => {
    const { events } = await firm.get("/v1/events?limit=500");
    const used = new Map<string, number>();
    for (const { event, data } of events) {
      if (event !== "credit.used") continue;
      used.set(data.scrip_no, (used.get(data.scrip_no) ?? 0) + data.amount_paise);
    }
    const { credits } = await firm.get(`/v1/firms/${firm.firmId}/credits`);
    assert.ok(credits.length > 5);
    for (const credit of credits) {
      if (["withdrawn", "reserved"].includes(credit.status)) continue;
      assert.equal(credit.face_paise + (used.get(credit.scrip_no) ?? 0), face, credit.scrip_no);
    }
  });

  await t.test("positions have the balance", async () => {
    const { credits } = await firm.get(`/v1/firms/${firm.firmId}/credits?status=listed`);
    const sum = credits.reduce((total: number, one: Answer["body"]) => total + one.face_paise, 0);
    const { schemes } = await firm.get(`/v1/positions?firm_id=${firm.firmId}`);
    assert.equal(schemes[0].available_paise, sum);
  });
});

/** The statement that takes another back. */
function undo(statement: string): string {
  if (statement.includes("ordinal = 3")) {
    return statement.replace("3", "2").replace(/2$/, "3");
  }
  const [head = "", condition = ""] = statement.split(" where ");
  const sign = head.includes("+ 1") ? "- 1" : "+ 1";
  return `${head.replace(/[+-] 1/, sign)} where ${condition}`;
}

test("a credit is not used from under a deal", async (t) => {
  const service = await startService(t);
  t.afterEach(() => assertOrdersSound(service));
  await stockHouse(service.ctx, [{ face_paise: face }]);
  const firm = await dealer(service, [{}, {}, {}, {}]);
  const seller = await dealer(service, [{ facePaise: crore }]);
  const other = await dealer(service, []);
  const [quoted = "", resting = "", sold = "", partly = ""] = firm.scripNos;

  await t.test("a quote binds the balance that it was given for", async () => {
    const { body: quote } = await firm.post("/v1/quote", { side: "sell", scrip_no: quoted }, 200);
    await use(firm, quoted, some, 200);
    const { body } = await firm.post("/v1/orders", { quote_ref: quote.quote_ref }, 409);
    assert.equal(body.detail.reason, "facts_changed");
    assert.equal(body.detail.quote.face_paise, 15_000_000);
    const order = { quote_ref: body.detail.quote.quote_ref };
    const { body: dealt } = await firm.post("/v1/orders", order, 201);
    assert.equal(dealt.covered_paise, 15_000_000);
  });

  await t.test("what an offer, a deal or a cross holds is not used", async () => {
    await firm.post("/v1/orders", { side: "sell", scrip_no: resting, limit_bps: 9_980 }, 201);
    const { detail } = await use(firm, resting, some, 409);
    assert.equal(detail.state, "reserved");
    await firm.post("/v1/orders", { side: "sell", scrip_no: sold }, 201);
    await use(firm, sold, some, 409);
    await service.work();
    await use(firm, sold, some, 409);
    const terms = { kind: "block", side: "sell", firm_id: seller.firmId, price_bps: 9_800 };
    const { cross_quote_ref } = await quoteFor(seller, {
      ...terms,
      counterparty_iec: other.pan,
      scrip_nos: [seller.scripNo],
    });
    const { body: cross } = await seller.post("/v1/cross", { cross_quote_ref }, 201);
    await use(seller, seller.scripNo, some, 200);
    const accept = { terms_hash: cross.terms_hash };
    const refused = await other.post(`/v1/cross/${cross.cross_id}/accept`, accept, 409);
    assert.ok(refused.body.detail.reason, "the proposal was for the balance of before");
  });

  await t.test(
    "a partly used credit is sold at its balance, and its buyer sees no bill",
    async () => {
      await use(firm, partly, some, 200);
      await payIn(service, other.firmId, 4 * face);
      await firm.post("/v1/orders", { side: "sell", scrip_no: partly, limit_bps: 9_800 }, 201);
      const buy = { side: "buy", scheme: "RODTEP", requirement_paise: 15_000_000 };
      const { body: bought } = await other.post(
        "/v1/orders",
        { ...buy, firm_id: other.firmId, limit_bps: 9_900 },
        201,
      );
      assert.deepEqual(bought.scrip_nos, [partly]);
      assert.equal(bought.covered_paise, 15_000_000);
      service.clock.advance({ seconds: 5 });
      await service.work();
      const held = await other.credit(partly);
      assert.deepEqual(
        [held.status, held.face_paise, held.issued_paise, held.uses, held.used_elsewhere_paise],
        ["listed", 15_000_000, face, [], 10_000_000],
      );
      const today = istDay(service.clock.now());
      assert.equal(held.balance_shown_on, today, "customs showed it with the transfer");
      const readShown = async () => {
        const [{ shown_by_customs_paise: paise, shown_from }] = (await other.get("/v1/positions"))
          .schemes;
        return [paise, shown_from];
      };
      assert.deepEqual(await readShown(), [15_000_000, today]);
      const paid = await use(other, partly, { ...some, amount_paise: 5_000_000 }, 200);
      assert.deepEqual(figures(paid), ["listed", 10_000_000, 5_000_000]);
      assert.equal(paid.balance_shown_on, null, "its firm alone told of the part");
      assert.deepEqual(await readShown(), [0, null]);
      await use(other, partly, { ...part, bill_of_entry: "99" }, 200);
    },
  );

  const ops = await startOps(t, service);
  const person = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await person.signIn()).token);
  const { credit_id: creditId } = await firm.credit(partly);
  const path = `/ops/credits/${creditId}`;
  const { body: seen } = await ops.send("GET", path, { headers, expect: 200 });
  assert.deepEqual([seen.status, seen.environment], ["transferred", "sandbox"]);
  assert.deepEqual(figures(seen), ["transferred", 15_000_000, 10_000_000]);
  await ops.send("GET", "/ops/credits/crd_01jd2m7q4x8r5v6w9y0abcdefg", { headers, expect: 404 });

  const verdict = await checkLedger(service.ctx);
  assert.deepEqual([verdict.sound, verdict.firstBreak], [true, null]);
  for (const wrong of [
    "update credit_uses set amount_paise = amount_paise + 1 where ordinal = 1",
    "update credit_uses set balance_paise = balance_paise - 1 where balance_paise > 0",
    "update credit_uses set ordinal = 3 where ordinal = 2",
    `update credits set face_paise = face_paise + 1 where credit_id = '${creditId}'`,
    "update credits set issued_paise = issued_paise - 1 where state = 'used'",
    "update credits set face_paise = face_paise - 1 where state = 'transferred'",
  ]) {
    await asOwner(service.ctx.db, async (owner) => {
      await owner.query("begin");
      await owner.query("set local session_replication_role = replica");
      const { rowCount } = await owner.query(wrong);
      assert.ok(rowCount, wrong);
      await owner.query("commit");
    });
    const { firstBreak } = await checkLedger(service.ctx);
    assert.equal(firstBreak?.check, "uses_explained", wrong);
    await asOwner(service.ctx.db, async (owner) => {
      await owner.query("set session_replication_role = replica");
      await owner.query(undo(wrong));
    });
  }
  assert.deepEqual((await checkLedger(service.ctx)).firstBreak, null);
});
