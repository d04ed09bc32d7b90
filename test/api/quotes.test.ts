import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAbsent, checkDoors } from "../support/doors.ts";
import { addCredits, addFirm, listAuditRecords, type TestCredit } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { putCard, setTaken } from "../support/dealing-house.ts";
import { type Answer, readSlug, type Service, startService } from "../support/service.ts";

const noQuoteRef = "qte_01jd2m7q4x8r5v6w9y0abcdefg";
const face = 25_000_000;
/** The starting card: 9850 − 45 for the size − 40 for the spread; long-lived. */
const bid = 9_765;

/** A desk with one client firm and a credit of it; the test clock says 15 November 2026. */
async function openDesk(service: Service, credit: Partial<TestCredit> = {}) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const firmId = await addFirm(service, { deskId });
  const [scripNo = ""] = await addCredits(service, deskId, [
    {
      firmId,
      scheme: "RODTEP",
      facePaise: face,
      expiresOn: "2028-10-01",
      state: "listed",
      ...credit,
    },
  ]);
  const quote = async (body: object, expect = 200, headers = {}): Promise<Answer> =>
    await service.send("POST", "/v1/quote", { key, body, headers, expect });
  return { key, deskId, firmId, scripNo, quote };
}

async function storedQuotes({ ctx }: Service, deskId: string): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ count: string }>(
    "select count(*) from quotes where desk_id = $1",
    [deskId],
  );
  return Number(rows[0]?.count);
}

test("sell quotes", async (t) => {
  const service = await startService(t);

  await t.test("every quote route checks key, scope, rate and body", async (t) => {
    const body = { side: "sell", scheme: "RODTEP", face_paise: face };
    await checkDoors(t, service, [
      { method: "POST", path: "/v1/quote", scope: "quote", body },
      { method: "GET", path: `/v1/quotes/${noQuoteRef}`, scope: "quote" },
    ]);
  });

  await t.test(
    "a credit is priced by its number, with the fields of the contract only",
    async () => {
      const { quote, scripNo } = await openDesk(service);
      const { body, headers } = await quote({ side: "sell", scrip_no: scripNo });
      assert.deepEqual(body, {
        side: "sell",
        scheme: "RODTEP",
        scrip_no: scripNo,
        face_paise: face,
        price_bps: bid,
        all_in_paise: 24_412_500,
        valid_until: "2026-11-15T14:47:00.000+05:30",
        quote_ref: body.quote_ref,
      });
      assert.match(body.quote_ref, /^qte_[0-9a-z]{26}$/);
      assert.equal(headers.get("x-quote-valid-until"), body.valid_until);
    },
  );

  await t.test(
    "an amount is priced like a credit with 365 days left, and names no credit",
    async () => {
      const { quote } = await openDesk(service);
      const { body, headers } = await quote({ side: "sell", scheme: "ROSCTL", face_paise: face });
      assert.deepEqual(body, {
        side: "sell",
        scheme: "ROSCTL",
        face_paise: face,
        price_bps: 9_835 - 45 - 45,
        all_in_paise: 24_362_500,
        valid_until: "2026-11-15T14:47:00.000+05:30",
        quote_ref: body.quote_ref,
      });
      assert.equal(headers.get("x-quote-valid-until"), body.valid_until);
    },
  );

  await t.test("fewer days left give a lower price, by the bands of the card", async () => {
    const lives: readonly (readonly [string, number])[] = [
      ["2027-11-15", 0],
      ["2027-11-14", -15],
      ["2027-05-13", -50],
      ["2027-02-12", -110],
      ["2027-01-13", -250],
      ["2026-12-15", -250],
    ];
    for (const [expiresOn, bps] of lives) {
      const { quote, scripNo } = await openDesk(service, { expiresOn });
      const { body } = await quote({ side: "sell", scrip_no: scripNo });
      assert.equal(body.price_bps, bid + bps, expiresOn);
    }
  });

  await t.test("the house pays face times price, rounded down to the paisa", async () => {
    const { quote, scripNo } = await openDesk(service, { facePaise: 123_457 });
    const { body } = await quote({ side: "sell", scrip_no: scripNo });
    assert.equal(body.price_bps, 9_660);
    assert.equal(body.all_in_paise, Math.floor((123_457 * 9_660) / 10_000));
    const large = { side: "sell", scheme: "RODTEP", face_paise: 14_999_999_999 };
    const { body: exact } = await quote(large);
    assert.equal(BigInt(exact.all_in_paise), (14_999_999_999n * BigInt(exact.price_bps)) / 10_000n);
  });

  await t.test("a scrip number is trimmed and put in capitals", async () => {
    const { quote, scripNo } = await openDesk(service);
    const { body } = await quote({ side: "sell", scrip_no: ` ${scripNo.toLowerCase()} ` });
    assert.equal(body.scrip_no, scripNo);
  });

  await t.test(
    "an amount that is missing, not positive, not whole or not exact is 422",
    async () => {
      const { quote } = await openDesk(service);
      const wrong = [undefined, null, 0, -1, 1.5, "100", true, 2 ** 53, 1e300];
      for (const amount of wrong) {
        const sell = await quote({ side: "sell", scheme: "RODTEP", face_paise: amount }, 422);
        const buy = await quote({ side: "buy", scheme: "RODTEP", requirement_paise: amount }, 422);
        for (const { body } of [sell, buy]) {
          assert.equal(body.error, "request_error");
          assert.equal(body.code, "unprocessable");
        }
        assert.deepEqual(pickPaths(sell), ["face_paise"]);
        assert.deepEqual(pickPaths(buy), ["requirement_paise"]);
      }
      await quote({ side: "sell", scheme: "RODTEP", face_paise: 2 ** 53 - 1 }, 200);
    },
  );

  await t.test(
    "every other combination of fields is 422, and says which field is wrong",
    async () => {
      const { quote, scripNo } = await openDesk(service);
      const combinations: readonly (readonly [object, readonly string[]])[] = [
        [{}, ["side"]],
        [{ scheme: "RODTEP", face_paise: 1 }, ["side"]],
        [{ side: "sell" }, ["scheme", "face_paise"]],
        [{ side: "sell", scheme: "RODTEP" }, ["face_paise"]],
        [{ side: "sell", face_paise: 1 }, ["scheme"]],
        [
          { side: "sell", scheme: "RODTEP", requirement_paise: 1 },
          ["face_paise", "requirement_paise"],
        ],
        [
          { side: "sell", scheme: "RODTEP", face_paise: 1, requirement_paise: 1 },
          ["requirement_paise"],
        ],
        [{ side: "sell", scrip_no: scripNo, scheme: "RODTEP" }, ["scheme"]],
        [{ side: "sell", scrip_no: scripNo, face_paise: 1 }, ["face_paise"]],
        [{ side: "sell", scrip_no: scripNo, requirement_paise: 1 }, ["requirement_paise"]],
        [{ side: "sell", scrip_no: "" }, ["scrip_no"]],
        [{ side: "sell", scrip_no: 7 }, ["scrip_no"]],
        [{ side: "buy" }, ["scheme", "requirement_paise"]],
        [{ side: "buy", scheme: "RODTEP" }, ["requirement_paise"]],
        [{ side: "buy", requirement_paise: 1 }, ["scheme"]],
        [{ side: "buy", scrip_no: scripNo }, ["scheme", "requirement_paise", "scrip_no"]],
        [{ side: "buy", scheme: "RODTEP", requirement_paise: 1, scrip_no: scripNo }, ["scrip_no"]],
        [{ side: "buy", scheme: "RODTEP", requirement_paise: 1, face_paise: 1 }, ["face_paise"]],
      ];
      for (const [body, paths] of combinations) {
        const answer = await quote(body, 422);
        assert.equal(answer.body.code, "unprocessable");
        assert.deepEqual(pickPaths(answer), paths, JSON.stringify(body));
      }
    },
  );

  await t.test("an unknown side, scheme or field is 400", async () => {
    const { quote } = await openDesk(service);
    const known = { side: "sell", scheme: "RODTEP", face_paise: face };
    const unknown = [{ side: "lend" }, { scheme: "MEIS" }, { price_bps: 9_999 }, { firm_id: "x" }];
    for (const change of unknown) {
      const answer = await quote({ ...known, ...change }, 400);
      assert.equal(answer.body.error, "request_error");
      assert.equal(readSlug(answer), "bad_request");
      assert.equal(answer.body.detail.field, Object.keys(change)[0]);
    }
  });

  await t.test("a credit that is not the caller's is not found", async () => {
    const mine = await openDesk(service);
    const other = await openDesk(service);
    const sibling = await addFirm(service, { deskId: mine.deskId });
    const sub = await mintChild(service, mine.key, { kind: "sub_account", firm_id: sibling });
    const ask = async (key: string, scripNo: string) =>
      await service.send("POST", "/v1/quote", {
        key,
        body: { side: "sell", scrip_no: scripNo },
      });
    await assertAbsent([
      ask(mine.key, "NOSUCH0000001"),
      ask(mine.key, "?"),
      ask(mine.key, other.scripNo),
      ask(sub.api_key, mine.scripNo),
    ]);
    assert.equal((await ask(other.key, other.scripNo)).status, 200);
  });

  await t.test("a sub_account key prices the credits of its firm", async () => {
    const { key, firmId, scripNo } = await openDesk(service);
    const sub = await mintChild(service, key, { kind: "sub_account", firm_id: firmId });
    const body = { side: "sell", scrip_no: scripNo };
    await service.send("POST", "/v1/quote", { key: sub.api_key, body, expect: 200 });
  });

  await t.test("a credit that cannot be sold is 409, with its status and the reason", async () => {
    const states = ["declared", "reserved", "in_settlement", "transferred", "suspended"];
    const ended = ["cancelled", "expired", "used", "withdrawn", "rejected"];
    for (const state of [...states, ...ended]) {
      const { quote, scripNo } = await openDesk(service, { state });
      const answer = await quote({ side: "sell", scrip_no: scripNo }, 409);
      assert.equal(readSlug(answer), "conflict");
      assert.equal(answer.body.detail.credit_status, state);
      assert.equal(answer.body.detail.reason, state);
      assert.ok(Array.isArray(answer.body.detail.allowed_actions));
    }
    const short = await openDesk(service, { expiresOn: "2026-12-14" });
    const tooShort = await short.quote({ side: "sell", scrip_no: short.scripNo }, 409);
    assert.equal(tooShort.body.detail.credit_status, "listed");
    assert.equal(tooShort.body.detail.reason, "too_short");

    const paused = await openDesk(service);
    await service.send("POST", `/v1/firms/${paused.firmId}/suspend`, {
      key: paused.key,
      body: { reason: "a pause" },
      expect: 200,
    });
    const refused = await paused.quote({ side: "sell", scrip_no: paused.scripNo }, 409);
    assert.equal(refused.body.detail.reason, "firm_not_authorized");
  });

  await t.test("an order for a credit that cannot be sold is refused as its quote is", async () => {
    const refused = async (desk: Awaited<ReturnType<typeof openDesk>>, path: string) => {
      const body = { side: "sell", scrip_no: desk.scripNo };
      const answer = await service.send("POST", path, { key: desk.key, body, expect: 409 });
      return answer.body.detail;
    };
    const desks = [
      await openDesk(service, { state: "suspended" }),
      await openDesk(service, { expiresOn: "2026-12-14" }),
    ];
    for (const desk of desks) {
      const detail = await refused(desk, "/v1/quote");
      assert.equal(detail.scrip_no, desk.scripNo);
      assert.deepEqual(await refused(desk, "/v1/orders"), detail);
    }
  });

  await t.test("a refusal in a set of requests disturbs none of the others", async () => {
    const desk = await openDesk(service);
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const body = { side: "sell", scrip_no: at % 2 === 0 ? desk.scripNo : "NOSUCH0000001" };
        return await service.send("POST", "/v1/quote", { key: desk.key, body });
      }),
    );
    answers.forEach(({ status }, at) => assert.equal(status, at % 2 === 0 ? 200 : 404));
    const refs = answers.flatMap(({ body }) => body.quote_ref ?? []);
    assert.equal(new Set(refs).size, 20);
    assert.equal(await storedQuotes(service, desk.deskId), 20);
  });

  await t.test(
    "in a set of requests a scrip number resolves to each desk's own credit",
    async () => {
      const holder = await openDesk(service);
      const former = await openDesk(service, { scripNo: holder.scripNo, state: "withdrawn" });
      const stranger = await openDesk(service);
      const meant = [
        { key: holder.key, scripNo: holder.scripNo, status: 200 },
        { key: former.key, scripNo: former.scripNo, status: 409 },
        { key: stranger.key, scripNo: holder.scripNo, status: 404 },
        { key: former.key, scripNo: stranger.scripNo, status: 404 },
        { key: stranger.key, scripNo: stranger.scripNo, status: 200 },
      ];
      await Promise.all(
        Array.from({ length: 8 }, () => meant)
          .flat()
          .map(async ({ key, scripNo, status }) => {
            const body = { side: "sell", scrip_no: scripNo };
            await service.send("POST", "/v1/quote", { key, body, expect: status });
          }),
      );
      const kept = [holder, former, stranger].map(({ deskId }) => storedQuotes(service, deskId));
      assert.deepEqual(await Promise.all(kept), [8, 0, 8]);
    },
  );

  await t.test(
    "a scrip number resolves to the same credit for a quote and for a read",
    async () => {
      const { key, deskId, firmId, scripNo } = await openDesk(service, { state: "withdrawn" });
      const sibling = await addFirm(service, { deskId });
      const sub = await mintChild(service, key, { kind: "sub_account", firm_id: firmId });
      const assertMeant = async (apiKey: string, state: string) => {
        const body = { side: "sell", scrip_no: scripNo };
        const refused = await service.send("POST", "/v1/quote", { key: apiKey, body, expect: 409 });
        assert.equal(refused.body.detail.credit_status, state);
        const read = await service.send("GET", `/v1/credits/${scripNo}`, {
          key: apiKey,
          expect: 200,
        });
        assert.equal(read.body.status, state);
      };
      const history = [
        { holder: sibling, state: "rejected", ofDesk: "rejected", ofFirm: "withdrawn" },
        { holder: firmId, state: "declared", ofDesk: "declared", ofFirm: "declared" },
        { holder: firmId, state: "cancelled", ofDesk: "declared", ofFirm: "declared" },
        { holder: sibling, state: "suspended", ofDesk: "suspended", ofFirm: "declared" },
        { holder: sibling, state: "expired", ofDesk: "suspended", ofFirm: "declared" },
      ];
      for (const { holder, state, ofDesk, ofFirm } of history) {
        service.clock.advance({ seconds: 1 });
        const terms = { scheme: "RODTEP", facePaise: face, expiresOn: "2028-10-01" } as const;
        await addCredits(service, deskId, [{ ...terms, firmId: holder, scripNo, state }]);
        await assertMeant(key, ofDesk);
        await assertMeant(sub.api_key, ofFirm);
      }
    },
  );

  await t.test("a dry run is priced and not stored", async () => {
    const { quote, scripNo, deskId } = await openDesk(service);
    const ask = { side: "sell", scrip_no: scripNo };
    const tried = await quote(ask, 200, { "x-dry-run": "1" });
    assert.equal(tried.headers.get("x-dry-run"), "1");
    assert.equal(tried.body.price_bps, bid);
    assert.equal(await storedQuotes(service, deskId), 0);
    await quote(ask);
    assert.equal(await storedQuotes(service, deskId), 1);
  });

  await t.test("a quote makes no event and no audit record", async () => {
    const { quote, scripNo, deskId, key } = await openDesk(service);
    const before = (await service.send("GET", "/v1/events", { key })).text;
    await quote({ side: "sell", scrip_no: scripNo });
    assert.equal((await service.send("GET", "/v1/events", { key })).text, before);
    assert.deepEqual(await listAuditRecords(service, deskId), []);
  });
});

function pickPaths({ body }: Answer): string[] {
  return body.detail.fields.map(({ path }: { path: string }) => path);
}

test("when there is no binding price", async (t) => {
  const service = await startService(t);
  const desk = await openDesk(service);
  const assertNone = async (ask: object, reason: string) => {
    const before = await storedQuotes(service, desk.deskId);
    const { body, headers } = await desk.quote(ask);
    assert.deepEqual(body, { no_quote: true, reason });
    assert.equal(headers.has("x-quote-valid-until"), false);
    assert.equal(await storedQuotes(service, desk.deskId), before);
  };
  const amount = (facePaise: number) => ({
    side: "sell",
    scheme: "RODTEP",
    face_paise: facePaise,
  });

  await t.test("live has no quote before a card is published", async () => {
    const { api_key: key } = await service.issue({ environment: "live" });
    const ask = async () =>
      (await service.send("POST", "/v1/quote", { key, body: amount(face), expect: 200 })).body;
    assert.deepEqual(await ask(), { no_quote: true, reason: "market_unavailable" });
    await putCard(service, { environment: "live" });
    assert.equal((await ask()).price_bps, bid);
  });

  await t.test("an amount above the largest face or the day limit has no quote", async () => {
    await desk.quote(amount(15_000_000_000));
    service.clock.advance({ seconds: 121 });
    await assertNone(amount(15_000_000_001), "size_unavailable");
    await assertNone(amount(Number.MAX_SAFE_INTEGER), "size_unavailable");
    await setTaken(service, 1_000_000_000_000 - face);
    assert.equal((await desk.quote(amount(face))).body.price_bps, bid);
    await assertNone(amount(face + 1), "size_unavailable");
    service.clock.advance({ days: 1 });
    assert.equal((await desk.quote(amount(face + 1))).body.price_bps, bid);
  });

  await t.test("a face worth less than a paisa has no quote", async () => {
    await assertNone(amount(1), "size_unavailable");
    assert.equal((await desk.quote(amount(2))).body.all_in_paise, 1);
  });

  await t.test("a credit with fewer days left than the last band has no quote", async () => {
    await putCard(service, { validity_bands: [{ from_days: 900, bps: 0 }] });
    await assertNone({ side: "sell", scrip_no: desk.scripNo }, "size_unavailable");
    await assertNone(amount(face), "size_unavailable");
    await putCard(service, {});
  });

  await t.test("a halted market has no quotes on either side until it opens", async () => {
    await putCard(service, { state: "halted" });
    await assertNone({ side: "sell", scrip_no: desk.scripNo }, "market_unavailable");
    await assertNone(amount(face), "market_unavailable");
    const buy = { side: "buy", scheme: "RODTEP", requirement_paise: face };
    await assertNone(buy, "market_unavailable");
    assert.equal(
      (await desk.quote({ ...amount(face), scheme: "ROSCTL" })).body.price_bps,
      9_835 - 45 - 45,
    );
    await putCard(service, {});
    assert.equal((await desk.quote(amount(face))).body.price_bps, bid);
  });
});

test("stored quotes", async (t) => {
  const service = await startService(t);
  const read = async (key: string, ref: string, expect = 200) =>
    (await service.send("GET", `/v1/quotes/${ref}`, { key, expect })).body;

  await t.test("a stored quote reads as it was answered, with its outcome", async () => {
    const desk = await openDesk(service);
    const { body } = await desk.quote({ side: "sell", scrip_no: desk.scripNo });
    const stored = await read(desk.key, body.quote_ref);
    assert.deepEqual(stored, {
      ...body,
      status: "open",
      order_id: null,
      firm_id: desk.firmId,
      card_version: 1,
      terms: { default_bps: 50 },
      created_at: "2026-11-15T14:45:00.000+05:30",
      version: 1,
      allowed_actions: ["order"],
    });
  });

  await t.test("a quote is unchanged by a new card and binds for its window", async () => {
    const desk = await openDesk(service, { scheme: "ROSCTL" });
    const { body } = await desk.quote({ side: "sell", scrip_no: desk.scripNo });
    await putCard(service, { scheme: "ROSCTL", mid_bps: 9_000, quote_window_s: 5 });
    const next = await desk.quote({ side: "sell", scrip_no: desk.scripNo });
    assert.equal(next.body.valid_until, "2026-11-15T14:45:05.000+05:30");
    service.clock.advance({ seconds: 120 });
    const last = await read(desk.key, body.quote_ref);
    assert.deepEqual([last.status, last.price_bps, last.card_version], ["open", body.price_bps, 1]);
    assert.equal((await read(desk.key, next.body.quote_ref)).status, "expired");
    service.clock.advance({ ms: 1 });
    const over = await read(desk.key, body.quote_ref);
    assert.deepEqual([over.status, over.allowed_actions], ["expired", []]);
  });

  await t.test("a quote by amount belongs to the firm of the key", async () => {
    const desk = await openDesk(service);
    const sub = await mintChild(service, desk.key, { kind: "sub_account", firm_id: desk.firmId });
    const body = { side: "sell", scheme: "RODTEP", face_paise: face };
    const own = await desk.quote(body);
    const theirs = await service.send("POST", "/v1/quote", { key: sub.api_key, body, expect: 200 });
    assert.equal((await read(desk.key, own.body.quote_ref)).firm_id, desk.deskId);
    assert.equal((await read(desk.key, theirs.body.quote_ref)).firm_id, desk.firmId);
    await read(sub.api_key, theirs.body.quote_ref);
    await read(sub.api_key, own.body.quote_ref, 404);
  });

  await t.test("a quote of another desk or of a sibling firm is not found", async () => {
    const [mine, other] = [await openDesk(service), await openDesk(service)];
    const sibling = await addFirm(service, { deskId: mine.deskId });
    const sub = await mintChild(service, mine.key, { kind: "sub_account", firm_id: sibling });
    const ref = (await mine.quote({ side: "sell", scrip_no: mine.scripNo })).body.quote_ref;
    const get = async (key: string, quoteRef: string) =>
      await service.send("GET", `/v1/quotes/${quoteRef}`, { key });
    await assertAbsent([
      get(other.key, ref),
      get(sub.api_key, ref),
      get(mine.key, noQuoteRef),
      get(mine.key, "qte_x"),
    ]);
  });
});
