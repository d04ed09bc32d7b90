import assert from "node:assert/strict";
import { test } from "node:test";

import type { Scheme } from "../../src/kernel/scheme.ts";
import { addCard } from "../support/cards.ts";
import { assertAbsent, checkDoors } from "../support/doors.ts";
import { addCredits, addFirm, listAuditRecords } from "../support/holdings.ts";
import { mintChild } from "../support/keys.ts";
import { raiseDues } from "../support/ledger.ts";
import { type Service, startService } from "../support/service.ts";

const noGroup = "grp_01jd2m7q4x8r5v6w9y0abcdefg";
const noNetting = "net_01jd2m7q4x8r5v6w9y0abcdefg";
const rupees = (amount: number) => amount * 100;

type Held = { readonly scheme?: Scheme; readonly expiresOn?: string; readonly state?: string };

/** A desk with a group, and words to furnish it. */
async function openGroup(service: Service) {
  const { api_key: key, firm_id: deskId } = await service.issue();
  const send = async (method: string, path: string, expect: number, body?: unknown, headers = {}) =>
    (await service.send(method, path, { key, body, expect, headers })).body;
  const { group_id: groupId } = await send("POST", "/v1/groups", 201, { name: "Sahyadri" });
  let duties = 0;
  const path = `/v1/groups/${groupId}/netting`;
  return {
    key,
    deskId,
    groupId,
    path,
    send,
    async member(options: Parameters<typeof addFirm>[1] | object = {}): Promise<string> {
      const firm = await addFirm(service, { deskId, ...options });
      service.clock.advance({ ms: 1 });
      await send("PUT", `/v1/groups/${groupId}/members/${firm}`, 200);
      return firm;
    },
    async holds(firmId: string, faces: readonly number[], held: Held = {}): Promise<string[]> {
      const { scheme = "RODTEP", expiresOn = "2028-09-30", state = "listed" } = held;
      const credits = faces.map((facePaise) => ({ firmId, scheme, facePaise, expiresOn, state }));
      return await addCredits(service, deskId, credits);
    },
    async owes(firmId: string, amount_paise: number, duty: object = {}): Promise<string> {
      const body = {
        scheme: "RODTEP",
        amount_paise,
        due_on: "2027-01-31",
        reference: `BE-${++duties}`,
        ...duty,
      };
      const path = `/v1/firms/${firmId}/requirements`;
      return (await send("POST", path, 201, body)).requirement_id;
    },
    net: async () => await send("GET", path, 200),
    cross: async (nettingRef: string, expect: number, headers = {}) =>
      await send("POST", `${path}/crosses`, expect, { netting_ref: nettingRef }, headers),
  };
}

/** A mill that exports, and a trader that imports and has one small credit of its own. */
async function openExample(service: Service) {
  const group = await openGroup(service);
  const mill = await group.member();
  const trader = await group.member();
  const [large = "", middle = "", small = ""] = await group.holds(mill, [
    rupees(2_500_000),
    rupees(1_500_000),
    rupees(800_000),
  ]);
  const [own = ""] = await group.holds(trader, [rupees(200_000)]);
  const duty = await group.owes(trader, rupees(4_205_000));
  return { ...group, mill, trader, large, middle, small, own, duty };
}

async function queryRows({ ctx }: Service, text: string, values: unknown[]) {
  return (await ctx.db.pool.query(text, values)).rows;
}

async function readCreditState(service: Service, scripNo: string): Promise<string> {
  const [row] = await queryRows(service, "select state from credits where scrip_no = $1", [
    scripNo,
  ]);
  return row.state;
}

test("netting", async (t) => {
  const service = await startService(t);

  await t.test("every netting route checks key, scope, rate and body", async (t) => {
    const path = `/v1/groups/${noGroup}/netting`;
    const body = { netting_ref: noNetting };
    await checkDoors(t, service, [
      { method: "GET", path, scope: "orders:read" },
      { method: "POST", path: `${path}/crosses`, scope: "orders:write", body },
    ]);
  });

  await t.test(
    "own credits pay first, credits move whole, and the figures account for every paisa",
    async () => {
      const group = await openExample(service);
      const answer = await service.send("GET", group.path, { key: group.key, expect: 200 });
      const { netting_ref, ...netting } = answer.body;
      assert.match(netting_ref, /^net_/);
      assert.equal(
        Date.parse(answer.headers.get("x-quote-valid-until") ?? "") - Date.parse(netting.as_of),
        120_000,
      );
      const move = { from_firm_id: group.mill, to_firm_id: group.trader, scheme: "RODTEP" };
      const proposals = [
        { ...move, scrip_no: group.large, face_paise: rupees(2_500_000), price_bps: 9_850 },
        { ...move, scrip_no: group.middle, face_paise: rupees(1_500_000), price_bps: 9_850 },
      ].toSorted((a, b) => (a.scrip_no < b.scrip_no ? -1 : 1));
      assert.deepEqual(netting, {
        group_id: group.groupId,
        as_of: netting.as_of,
        proven_optimal: true,
        schemes: [
          {
            scheme: "RODTEP",
            gross_credit_paise: rupees(5_000_000),
            gross_requirement_paise: rupees(4_205_000),
            internal_match_paise: rupees(4_200_000),
            net_sell_paise: rupees(800_000),
            net_buy_paise: rupees(5_000),
            // ₹40,00,000 at an ask of 98.90 %, less ₹25,00,000 at 98.10 % and ₹15,00,000 at 97.95 %.
            spread_saved_paise: rupees(3_956_000 - 2_452_500 - 1_469_250),
          },
          {
            scheme: "ROSCTL",
            gross_credit_paise: 0,
            gross_requirement_paise: 0,
            internal_match_paise: 0,
            net_sell_paise: 0,
            net_buy_paise: 0,
            spread_saved_paise: 0,
          },
        ],
        entities: [
          {
            firm_id: group.trader,
            give_paise: 0,
            take_paise: rupees(4_000_000),
            net_cash_paise: -rupees(3_940_000),
            uncovered_paise: rupees(5_000),
          },
          {
            firm_id: group.mill,
            give_paise: rupees(4_000_000),
            take_paise: 0,
            net_cash_paise: rupees(3_940_000),
            uncovered_paise: 0,
          },
        ],
        proposals,
      });
    },
  );

  await t.test("a group without members or without duty has nothing to move", async () => {
    const group = await openGroup(service);
    const empty = await group.net();
    assert.deepEqual([empty.entities, empty.proposals, empty.proven_optimal], [[], [], true]);
    const firm = await group.member();
    await group.holds(firm, [500], { scheme: "ROSCTL" });
    const { proposals, schemes } = await group.net();
    assert.deepEqual(proposals, []);
    assert.equal(schemes[1].net_sell_paise, 500);
  });

  await t.test("only listed credits that are valid on the due day can pay a duty", async () => {
    const group = await openGroup(service);
    const [giver, taker] = [await group.member(), await group.member()];
    for (const state of ["reserved", "in_settlement", "suspended", "declared", "withdrawn"]) {
      await group.holds(giver, [1_000], { state });
    }
    await group.holds(giver, [1_000], { expiresOn: "2027-01-30" });
    await group.owes(taker, 10_000);
    assert.deepEqual((await group.net()).proposals, []);
    const [alive] = await group.holds(giver, [1_000], { expiresOn: "2027-01-31" });
    const { proposals, schemes } = await group.net();
    assert.deepEqual(
      proposals.map(({ scrip_no }: { scrip_no: string }) => scrip_no),
      [alive],
    );
    assert.equal(schemes[0].gross_credit_paise, 2_000);
  });

  await t.test(
    "a credit too short to be sold pays its own firm's duty and no other's",
    async () => {
      const group = await openGroup(service);
      const [giver, taker] = [await group.member(), await group.member()];
      const short = { expiresOn: "2026-11-30" };
      await group.holds(giver, [1_000], short);
      await group.owes(taker, 1_000, { due_on: "2026-11-20" });
      assert.equal((await group.net()).schemes[0].internal_match_paise, 0);
      await group.owes(giver, 1_000, { due_on: "2026-11-20" });
      const { schemes, proposals } = await group.net();
      assert.deepEqual([schemes[0].internal_match_paise, proposals], [1_000, []]);
    },
  );

  await t.test(
    "a firm that may not trade, or of the same company, neither gives nor receives credits",
    async () => {
      const group = await openGroup(service);
      const taker = await group.member();
      const paused = await group.member({ state: "verified" });
      const twin = await group.member();
      await queryRows(
        service,
        "update firms set pan = (select pan from firms where firm_id = $1) where firm_id = $2",
        [taker, twin],
      );
      await group.holds(paused, [1_000]);
      await group.holds(twin, [1_000]);
      await group.owes(taker, 5_000);
      assert.deepEqual((await group.net()).proposals, []);
      const free = await group.member();
      await group.holds(free, [700]);
      await group.owes(paused, 900);
      const { proposals } = await group.net();
      assert.deepEqual(
        proposals.map((move: { from_firm_id: string; to_firm_id: string }) => [
          move.from_firm_id,
          move.to_firm_id,
        ]),
        [[free, taker]],
      );
    },
  );

  await t.test("without an open market a scheme has no price to move at", async (t) => {
    const group = await openExample(service);
    await addCard(service, { state: "halted" });
    t.after(() => addCard(service, { state: "open" }));
    const { proposals, schemes } = await group.net();
    assert.deepEqual(proposals, []);
    assert.equal(schemes[0].internal_match_paise, rupees(200_000), "own credits need no price");
    await addCard(service, { state: "open" });
    assert.equal((await group.net()).proposals.length, 2);
  });

  await t.test("duty that either scheme may pay counts where it is paid", async () => {
    const group = await openGroup(service);
    const [giver, taker] = [await group.member(), await group.member()];
    await group.holds(giver, [rupees(600_000)], { scheme: "ROSCTL" });
    await group.holds(giver, [rupees(300_000)]);
    await group.owes(taker, rupees(1_000_000), { scheme: undefined });
    const { schemes } = await group.net();
    const lines = schemes.map((line: Record<string, number>) => [
      line["gross_requirement_paise"],
      line["internal_match_paise"],
      line["net_buy_paise"],
    ]);
    // The rest would cost 98.90 % as RODTEP and 98.80 % as ROSCTL, each with the same band.
    assert.deepEqual(lines, [
      [rupees(300_000), rupees(300_000), 0],
      [rupees(700_000), rupees(600_000), rupees(100_000)],
    ]);
  });

  await t.test("sums beyond a JSON number are refused, never rounded", async () => {
    const group = await openGroup(service);
    const firm = await group.member();
    await group.owes(firm, Number.MAX_SAFE_INTEGER);
    await group.net();
    await group.owes(firm, 1);
    const refused = await group.send("GET", group.path, 409);
    assert.equal(refused.detail.reason, "sum_too_large");
  });

  await t.test(
    "a group with too much to be netted at once is refused, not netted in part",
    async () => {
      const group = await openGroup(service);
      const firm = await group.member();
      await group.owes(firm, 100);
      const more = `insert into requirements (
        requirement_id, environment, desk_id, firm_id, scheme, amount_paise, due_on, reference,
        version, created_at, updated_at
      )
      select 'rqm_' || right(md5(number::text), 26), environment, desk_id, firm_id, scheme,
        amount_paise, due_on, 'more ' || number, version, created_at, updated_at
      from requirements, generate_series($1::int, $2::int) as number
      where firm_id = $3 and reference not like 'more%'`;
      await queryRows(service, more, [1, 999, firm]);
      assert.equal((await group.net()).entities[0].uncovered_paise, 100_000);
      await queryRows(service, more, [1_000, 1_000, firm]);
      const refused = await group.send("GET", group.path, 409);
      assert.equal(refused.detail.reason, "group_too_large");
    },
  );

  await t.test("a netting becomes crosses that both sides have agreed on", async () => {
    const group = await openExample(service);
    const { netting_ref, proposals } = await group.net();
    const made = await group.cross(netting_ref, 201);
    const [cross] = made.crosses;
    assert.deepEqual(made, {
      group_id: group.groupId,
      netting_ref,
      crosses: [
        {
          cross_id: cross.cross_id,
          from_firm_id: group.mill,
          to_firm_id: group.trader,
          scheme: "RODTEP",
          scrip_nos: proposals.map(({ scrip_no }: { scrip_no: string }) => scrip_no),
          face_paise: rupees(4_000_000),
          price_bps: 9_850,
          all_in_paise: rupees(3_940_000),
          status: "agreed",
          version: 1,
        },
      ],
    });
    const [row] = await queryRows(
      service,
      "select netting_ref, kind from crosses where cross_id = $1",
      [cross.cross_id],
    );
    assert.deepEqual(row, { netting_ref, kind: "intra_group" });
    for (const scripNo of [group.large, group.middle]) {
      assert.equal(await readCreditState(service, scripNo), "reserved");
    }
    assert.equal(await readCreditState(service, group.small), "listed");
    const { events } = await group.send("GET", "/v1/events", 200);
    const told = events.filter(({ event }: { event: string }) => event === "cross.agreed");
    assert.deepEqual(
      told.map(({ firm_id }: { firm_id: string }) => firm_id).toSorted(),
      [group.mill, group.trader].toSorted(),
    );
    const after = await group.net();
    assert.deepEqual(after.proposals, [], "what is on its way counts, and is not asked for twice");
    assert.equal(after.schemes[0].internal_match_paise, rupees(4_200_000));
  });

  await t.test("a netting is used once, even concurrently", async () => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        service.send("POST", `${group.path}/crosses`, { key: group.key, body: { netting_ref } }),
      ),
    );
    const [made, ...rest] = answers.toSorted((a, b) => a.status - b.status);
    assert.equal(made?.status, 201);
    const cross_ids = made?.body.crosses.map(({ cross_id }: { cross_id: string }) => cross_id);
    for (const { status, body } of rest) {
      assert.equal(status, 409);
      assert.deepEqual(body.detail, { reason: "netting_used", cross_ids });
    }
  });

  await t.test(
    "an idempotency key finds its crosses again, and stands for one netting",
    async () => {
      const group = await openExample(service);
      const { netting_ref } = await group.net();
      const other = await group.net();
      const headers = { "idempotency-key": `n-${group.groupId}` };
      const made = await group.cross(netting_ref, 201, headers);
      service.clock.advance({ seconds: 600 });
      assert.deepEqual(await group.cross(netting_ref, 200, headers), made);
      const reused = await group.cross(other.netting_ref, 409, headers);
      assert.deepEqual(reused.detail, {
        reason: "idempotency_key_reused",
        netting_ref,
        differs: ["netting_ref"],
      });
    },
  );

  await t.test("a netting expires at the end of its window, to the second", async () => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    service.clock.advance({ seconds: 119 });
    await group.cross(netting_ref, 200, { "x-dry-run": "1" });
    service.clock.advance({ seconds: 1 });
    const refused = await group.cross(netting_ref, 409);
    assert.equal(refused.detail.reason, "netting_expired");
  });

  await t.test("the price of a netting holds when the market moves", async (t) => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    await addCard(service, { midBps: 9_700 });
    t.after(() => addCard(service, { midBps: 9_850 }));
    const { crosses } = await group.cross(netting_ref, 201);
    assert.equal(crosses[0].price_bps, 9_850);
  });

  await t.test("a netting without moves makes no cross", async () => {
    const group = await openGroup(service);
    const refused = await group.cross((await group.net()).netting_ref, 409);
    assert.equal(refused.detail.reason, "nothing_to_cross");
  });

  await t.test(
    "a change since the netting is a conflict that names it, and no cross is made",
    async () => {
      type Example = Awaited<ReturnType<typeof openExample>>;
      const cases: [string, (group: Example) => Promise<unknown>][] = [
        ["credit_unavailable", (g) => g.send("POST", `/v1/credits/${g.middle}/withdraw`, 200)],
        [
          "firm_not_authorized",
          (g) => g.send("POST", `/v1/firms/${g.trader}/suspend`, 200, { reason: "a pause" }),
        ],
        [
          "netting_outdated",
          (g) => g.send("DELETE", `/v1/groups/${g.groupId}/members/${g.mill}`, 200),
        ],
        [
          "netting_outdated",
          (g) =>
            g.send("PATCH", `/v1/firms/${g.trader}/requirements/${g.duty}`, 200, {
              amount_paise: 1,
            }),
        ],
        [
          "netting_outdated",
          (g) => g.send("DELETE", `/v1/firms/${g.trader}/requirements/${g.duty}`, 200),
        ],
      ];
      for (const [reason, change] of cases) {
        const group = await openExample(service);
        const { netting_ref } = await group.net();
        await change(group);
        const refused = await group.cross(netting_ref, 409);
        assert.equal(refused.detail.reason, reason);
        assert.equal(await readCreditState(service, group.large), "listed");
        const crosses = "select cross_id from crosses where netting_ref = $1";
        assert.deepEqual(await queryRows(service, crosses, [netting_ref]), []);
      }
    },
  );

  await t.test("changes that do not concern the moves are allowed", async () => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    await group.member();
    await group.owes(group.mill, 5_000);
    await group.send("POST", `/v1/credits/${group.small}/withdraw`, 200);
    await group.cross(netting_ref, 201);
  });

  await t.test("a dry run answers the crosses and stores none", async () => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    const before = await listAuditRecords(service, group.deskId);
    const tried = await group.cross(netting_ref, 200, { "x-dry-run": "1" });
    assert.equal(tried.crosses.length, 1);
    assert.deepEqual(await listAuditRecords(service, group.deskId), before);
    assert.equal(await readCreditState(service, group.large), "listed");
    await group.cross(netting_ref, 201);
  });

  await t.test("each giver, taker and scheme is one cross, and money is rounded once", async () => {
    const group = await openGroup(service);
    const [giver, taker, third] = [
      await group.member(),
      await group.member(),
      await group.member(),
    ];
    await group.holds(giver, [101, 103, 107]);
    await group.holds(giver, [1_009], { scheme: "ROSCTL" });
    await group.owes(taker, 311);
    await group.owes(third, 1_009, { scheme: "ROSCTL" });
    const { netting_ref, entities } = await group.net();
    const { crosses } = await group.cross(netting_ref, 201);
    const values = crosses.map((cross: Record<string, unknown>) => [
      cross["to_firm_id"],
      cross["face_paise"],
      cross["all_in_paise"],
    ]);
    // 311 at 98.50 % is 306.335, and 1,009 at 98.35 % is 992.3515.
    const expected = [
      [taker, 311, 306],
      [third, 1_009, 992],
    ];
    assert.deepEqual(values, expected);
    const cash = new Map(
      entities.map((entity: { firm_id: string; net_cash_paise: number }) => [
        entity.firm_id,
        entity.net_cash_paise,
      ]),
    );
    assert.deepEqual([cash.get(giver), cash.get(taker), cash.get(third)], [1_298, -306, -992]);
  });

  await t.test("another desk's group and netting are not found", async () => {
    const [mine, theirs] = [await openExample(service), await openExample(service)];
    const [own, foreign] = [await mine.net(), await theirs.net()];
    const second = await openGroup(service);
    const beside = await mine.send("POST", "/v1/groups", 201, { name: "Beside" });
    const live = (await service.issue({ environment: "live" })).api_key;
    const get = (path: string, key = mine.key) => service.send("GET", path, { key });
    await assertAbsent([
      get(theirs.path),
      get(second.path),
      get(`/v1/groups/${noGroup}/netting`),
      get("/v1/groups/no-id-at-all/netting"),
      get(mine.path, live),
    ]);
    const post = (path: string, netting_ref: string, key = mine.key) =>
      service.send("POST", `${path}/crosses`, { key, body: { netting_ref } });
    const noPath = `/v1/groups/${noGroup}/netting`;
    await assertAbsent([
      post(mine.path, foreign.netting_ref),
      post(mine.path, noNetting),
      post(mine.path, "no-id-at-all"),
      post(`/v1/groups/${beside.group_id}/netting`, own.netting_ref),
    ]);
    await assertAbsent([post(theirs.path, foreign.netting_ref), post(noPath, noNetting)]);
    await assertAbsent([post(mine.path, own.netting_ref, live), post(noPath, noNetting, live)]);
    await mine.cross(own.netting_ref, 201);
  });

  await t.test("a sub_account key cannot net", async () => {
    const group = await openExample(service);
    const { netting_ref } = await group.net();
    const child = { kind: "sub_account", firm_id: group.mill };
    const { api_key: key } = await mintChild(service, group.key, child);
    for (const [method, path, body] of [
      ["GET", group.path, undefined],
      ["POST", `${group.path}/crosses`, { netting_ref }],
    ] as const) {
      const refused = await service.send(method, path, { key, body, expect: 403 });
      assert.equal(refused.body.detail.reason, "sub_account_key");
    }
  });
});

test("a netting moves no credit of a member that owes the house", async (t) => {
  const service = await startService(t);
  const { net, cross, mill } = await openExample(service);
  const { netting_ref, proposals } = await net();
  assert.equal(proposals.length, 2);
  await raiseDues(service, mill, 1);
  const refused = await cross(netting_ref, 409);
  assert.equal(refused.detail.reason, "dues_outstanding");
  assert.deepEqual((await net()).proposals, []);
});
