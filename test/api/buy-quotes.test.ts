import assert from "node:assert/strict";
import { test } from "node:test";

import { houseOffers, type OfferSource } from "../../src/trading/book.ts";
import type { Offer } from "../../src/cover/rules.ts";
import { dayNumber } from "../../src/kernel/time.ts";
import { applyRegistryNews } from "../../src/credits/registry-news.ts";
import { operator } from "../../src/kernel/actor.ts";
import { houseFirmId } from "../../src/kernel/ids.ts";
import { sql } from "../../src/platform/postgres/postgres.ts";
import { putCard } from "../support/dealing-house.ts";
import { addCredits } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import { mintChild } from "../support/keys.ts";
import { type Answer, type Service, startService } from "../support/service.ts";

const lakh = 10_000_000;
/** The starting card for this size: 9850 + 45 + 40. */
const ask = 9_935;

async function buyer(service: Service) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const quote = async (body: object, expect = 200, headers = {}): Promise<Answer> =>
    await service.send("POST", "/v1/quote", {
      key,
      body: { side: "buy", ...body },
      headers,
      expect,
    });
  const buy = async (requirementPaise: number, scheme = "RODTEP"): Promise<Answer["body"]> =>
    (await quote({ scheme, requirement_paise: requirementPaise })).body;
  return { key, deskId, quote, buy };
}

const none = (reason: string) => ({ no_quote: true, reason });

test("buy quotes", async (t) => {
  const service = await startService(t);
  const { key, deskId, quote, buy } = await buyer(service);

  await t.test("without offers there is no quote", async () => {
    assert.deepEqual(await buy(lakh), none("size_unavailable"));
  });

  const stocked = await stockHouse(service.ctx, [
    { face_paise: 6_000_000 },
    { face_paise: 4_000_000 },
    { face_paise: 4_000_000 },
    { face_paise: 9_900_000, expires_on: "2026-12-14" },
  ]);
  const [six, four, otherFour] = stocked.map(({ scrip_no }) => scrip_no);

  await t.test(
    "a requirement is covered by whole credits, with the fields of the contract only",
    async () => {
      const { body, headers } = await quote({ scheme: "RODTEP", requirement_paise: 10_000_050 });
      assert.deepEqual(body, {
        side: "buy",
        scheme: "RODTEP",
        requirement_paise: 10_000_050,
        price_bps: ask,
        all_in_paise: 9_935_000,
        savings_paise: 65_000,
        scrip_nos: [six, four],
        covered_paise: 10_000_000,
        residual_paise: 50,
        fully_covered: false,
        quote_ref: body.quote_ref,
      });
      assert.equal(headers.get("x-quote-valid-until"), "2026-11-15T14:47:00.000+05:30");
      assert.equal(headers.get("x-cover-residual"), "optimal", "what the search proved");
      assert.equal(headers.get("x-cover-residual-bound-paise"), "50");
    },
  );

  await t.test("a requirement that is met exactly is fully covered", async () => {
    const body = await buy(8_000_000);
    assert.deepEqual(body.scrip_nos, [four, otherFour]);
    assert.deepEqual([body.residual_paise, body.fully_covered], [0, true]);
  });

  await t.test(
    "a requirement above all offers takes every offer with enough days left",
    async () => {
      const body = await buy(Number.MAX_SAFE_INTEGER);
      assert.equal(body.covered_paise, 14_000_000);
      assert.equal(body.residual_paise, Number.MAX_SAFE_INTEGER - 14_000_000);
      assert.equal(body.scrip_nos.length, 3);
    },
  );

  await t.test("the buyer pays covered times price, rounded up to the paisa", async () => {
    await stockHouse(service.ctx, [{ face_paise: 1_234_567, scheme: "ROSCTL" }]);
    const body = await buy(1_234_567, "ROSCTL");
    assert.equal(body.price_bps, 9_990, "the most that is ever asked");
    assert.equal(body.all_in_paise, Math.ceil((1_234_567 * body.price_bps) / 10_000));
    assert.equal(body.savings_paise, body.covered_paise - body.all_in_paise);
  });

  await t.test("there is no quote for cover that saves nothing against cash", async () => {
    const [tiny] = await stockHouse(service.ctx, [{ face_paise: 30 }]);
    assert.deepEqual(await buy(30), none("size_unavailable"));
    await tellNews(service, tiny?.scrip_no, "cancel");
  });

  await t.test("there is no quote for a requirement below every face", async () => {
    assert.deepEqual(await buy(3_999_999), none("size_unavailable"));
  });

  await t.test("a key without the buy side is refused with a trading error", async () => {
    const child = await mintChild(service, key, { buy_side: false });
    const body = { side: "buy", scheme: "RODTEP", requirement_paise: lakh };
    const answer = await service.send("POST", "/v1/quote", {
      key: child.api_key,
      body,
      expect: 403,
    });
    assert.deepEqual([answer.body.error, answer.body.code], ["request_error", "forbidden"]);
    const shape = { ...body, requirement_paise: 0 };
    await service.send("POST", "/v1/quote", { key: child.api_key, body: shape, expect: 422 });
  });

  await t.test("a stored buy quote reads as it was answered, with its valid_until", async () => {
    const answered = await buy(10_000_000);
    const path = `/v1/quotes/${answered.quote_ref}`;
    const stored = (await service.send("GET", path, { key, expect: 200 })).body;
    assert.deepEqual(stored, {
      ...answered,
      valid_until: "2026-11-15T14:47:00.000+05:30",
      status: "open",
      order_id: null,
      firm_id: deskId,
      card_version: 1,
      terms: { default_bps: 50 },
      created_at: "2026-11-15T14:45:00.000+05:30",
      version: 1,
      allowed_actions: ["order"],
    });
  });

  await t.test("a dry run prices a bundle and stores nothing", async () => {
    const tried = await quote({ scheme: "RODTEP", requirement_paise: lakh }, 200, {
      "x-dry-run": "1",
    });
    assert.deepEqual(tried.body.scrip_nos, [six, four]);
    await service.send("GET", `/v1/quotes/${tried.body.quote_ref}`, { key, expect: 404 });
  });

  await t.test("concurrent requirements are covered independently", async () => {
    const bodies = await Promise.all(Array.from({ length: 40 }, async () => await buy(lakh)));
    for (const body of bodies) assert.deepEqual(body.scrip_nos, [six, four]);
    assert.equal(new Set(bodies.map((body) => body.quote_ref)).size, 40);
  });

  await t.test(
    "live has no quote before a card is published, and none from sandbox credits",
    async () => {
      const live = await service.issue({ environment: "live" });
      const body = { side: "buy", scheme: "RODTEP", requirement_paise: lakh };
      const send = async () =>
        (await service.send("POST", "/v1/quote", { key: live.api_key, body, expect: 200 })).body;
      assert.deepEqual(await send(), none("market_unavailable"));
      await putCard(service, { environment: "live" });
      assert.deepEqual(await send(), none("size_unavailable"));
      const [listed] = await stockHouse(service.ctx, [{ face_paise: lakh }], "live");
      assert.deepEqual((await send()).scrip_nos, [listed?.scrip_no]);
    },
  );
});

/** Every subset in turn: the largest sum, then the fewest, then the earliest. */
function bruteForce(offers: readonly Offer[], requirement: number): readonly string[] {
  const queue = offers.toSorted(
    (a, b) => a.expires_on - b.expires_on || (a.scrip_no < b.scrip_no ? -1 : 1),
  );
  let best: readonly number[] = [];
  const sumFaces = (places: readonly number[]) =>
    places.reduce((sum, place) => sum + (queue[place]?.face_paise ?? 0), 0);
  for (let mask = 1; mask < 2 ** queue.length; mask++) {
    const places = queue.map((_, place) => place).filter((place) => (mask >> place) & 1);
    if (sumFaces(places) > requirement) continue;
    const differing = places.findIndex((place, at) => place !== best[at]);
    const order =
      sumFaces(best) - sumFaces(places) ||
      places.length - best.length ||
      (places[differing] ?? 0) - (best[differing] ?? 0);
    if (order < 0) best = places;
  }
  return best.map((place) => queue[place]?.scrip_no ?? "");
}

test("the bundle equals that of an exhaustive search", async (t) => {
  const service = await startService(t);
  const { buy } = await buyer(service);
  const faces = [5, 5, 7, 11, 13, 17, 17, 23, 29, 41].map((thousands) => thousands * 100_000);
  const days = ["2027-06-30", "2027-03-31", "2028-01-01"];
  const credits = await stockHouse(
    service.ctx,
    faces.map((face_paise, at) => ({ face_paise, expires_on: days[at % 3] ?? "" })),
  );
  const offers = credits.map(({ scrip_no, face_paise, expires_on }) =>
    offer({ scrip_no, face_paise, expires_on: dayNumber(expires_on) }),
  );
  for (let requirement = 500_000; requirement < 17_000_000; requirement += 433_333) {
    const { scrip_nos } = await buy(requirement);
    assert.deepEqual(scrip_nos, bruteForce(offers, requirement), String(requirement));
  }
});

function offer(facts: Partial<Offer>): Offer {
  return {
    scrip_no: "REST-000001",
    face_paise: lakh,
    expires_on: dayNumber("2028-01-01"),
    limit_bps: 0,
    seller: "AAAAA0000A",
    order_id: null,
    ...facts,
  };
}

test("resting sells are part of the pool when they leave the house its margin", async (t) => {
  const resting: Offer[] = [];
  const source: OfferSource = {
    isOwn: ({ order_id }) => order_id !== null,
    async *all() {
      yield [];
    },
    async changes() {
      const changes = resting.map((each) => ({
        scripNo: each.scrip_no,
        scheme: "RODTEP" as const,
        offer: each,
      }));
      return { horizon: "0", changes };
    },
  };
  const service = await startService(t, { sources: [houseOffers, source] });
  const { deskId, buy } = await buyer(service);
  const { rows } = await service.ctx.db.pool.query<{ pan: string }>(
    "select pan from firms where firm_id = $1",
    [deskId],
  );
  const own = rows[0]?.pan ?? "";
  const rest = async (facts: Partial<Offer>) => {
    resting[0] = offer({ order_id: "ord_test", ...facts });
    return await buy(lakh);
  };
  assert.deepEqual((await rest({ limit_bps: ask - 20 })).scrip_nos, ["REST-000001"]);
  assert.deepEqual(await rest({ limit_bps: ask - 19 }), none("size_unavailable"));
  assert.deepEqual(await rest({ limit_bps: 9_000, seller: own }), none("size_unavailable"));
  assert.equal((await rest({ limit_bps: 9_000 })).price_bps, ask, "one price, whatever the limit");
});

test("the book follows the database", async (t) => {
  const one = await startService(t);
  const two = await startService(t, { beside: one });
  const ofOne = await buyer(one);
  const ofTwo = await buyer(two);
  const covers = async (requirement: number) => {
    const answers = [await ofOne.buy(requirement), await ofTwo.buy(requirement)];
    assert.deepEqual(answers[0].scrip_nos, answers[1].scrip_nos, "both nodes see the same");
    return answers[0].scrip_nos;
  };

  await t.test("every node offers a new credit at its next quote", async () => {
    assert.equal(await covers(lakh), undefined);
    const [credit] = await stockHouse(one.ctx, [{ face_paise: lakh }]);
    assert.deepEqual(await covers(lakh), [credit?.scrip_no]);
  });

  await t.test("every node follows suspensions, releases and ended credits", async () => {
    const [credit] = await stockHouse(one.ctx, [{ face_paise: 3 * lakh }]);
    const tell = async (news: "suspend" | "lift" | "cancel") =>
      await tellNews(one, credit?.scrip_no, news);
    assert.deepEqual(await covers(3 * lakh), [credit?.scrip_no]);
    await tell("suspend");
    assert.notDeepEqual(await covers(3 * lakh), [credit?.scrip_no]);
    await tell("lift");
    assert.deepEqual(await covers(3 * lakh), [credit?.scrip_no]);
    await tell("cancel");
    assert.notDeepEqual(await covers(3 * lakh), [credit?.scrip_no]);
  });

  await t.test("a change that commits late is not missed", async () => {
    await commitLate(one, ofOne.buy);
  });

  await t.test("more changes than one read lists are followed too", async () => {
    const firmId = houseFirmId.sandbox;
    const many = Array.from({ length: 5_200 }, (_, at) => ({
      firmId,
      scheme: "RODTEP" as const,
      facePaise: 11 * lakh + at * 100,
      expiresOn: "2028-01-01",
      state: "listed",
    }));
    const scripNos = await addCredits(one, firmId, many);
    assert.deepEqual(await covers(11 * lakh + 5_199 * 100), [scripNos.at(-1)]);
  });

  await t.test("a node that starts later loads the same offers", async () => {
    const three = await startService(t, { beside: one });
    const ofThree = await buyer(three);
    for (const requirement of [lakh, 5 * lakh, 9 * lakh, 100 * lakh]) {
      assert.deepEqual((await ofThree.buy(requirement)).scrip_nos, await covers(requirement));
    }
  });
});

/** Two changes, of which the one that began first commits last; the buyer must follow both. */
async function commitLate(
  { ctx }: Service,
  buy: (requirementPaise: number) => Promise<Answer["body"]>,
): Promise<void> {
  const [early, late] = await stockHouse(ctx, [{ face_paise: 5 * lakh }, { face_paise: 7 * lakh }]);
  const covers = async (requirement: number) => (await buy(requirement)).scrip_nos;
  assert.deepEqual(await covers(5 * lakh), [early?.scrip_no]);
  const client = await ctx.db.pool.connect();
  const lower = `update credits set face_paise = $2, changed_in = pg_current_xact_id()
    where scrip_no = $1`;
  await client.query("begin");
  await client.query(lower, [early?.scrip_no, 5 * lakh - 100]);
  await ctx.db.pool.query(lower, [late?.scrip_no, 7 * lakh - 100]);
  assert.deepEqual(await covers(7 * lakh - 100), [late?.scrip_no], "seen while the other runs");
  await client.query("commit");
  client.release();
  assert.deepEqual(await covers(5 * lakh - 100), [early?.scrip_no]);
}

test("control: a book that continues from the last change it saw misses late commits", async (t) => {
  const forgetful: OfferSource = {
    ...houseOffers,
    async changes(db, environment, since) {
      const { changes } = await houseOffers.changes(db, environment, since);
      const [row] = await db.rows<{ next: string }>(
        sql`select pg_snapshot_xmax(pg_current_snapshot()) as next`,
      );
      return { horizon: row?.next ?? "", changes };
    },
  };
  const service = await startService(t, { sources: [forgetful] });
  const { buy } = await buyer(service);
  await assert.rejects(commitLate(service, buy), assert.AssertionError);
});

async function tellNews(
  { ctx }: Service,
  scripNo: string | undefined,
  news: "suspend" | "lift" | "cancel",
): Promise<void> {
  const told = [{ scripNo: scripNo ?? "", news, reason: "a test" }];
  const [result] = await applyRegistryNews(ctx, operator, {
    environment: "sandbox",
    news: told,
    onLost: [],
  });
  assert.ok(result?.ok, result?.problem ?? "");
}
