// What one person must not do alone in live, and every way around it that was thought of.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds, attesting } from "../../src/approval-kinds.ts";
import { actWithApproval } from "../../src/operators/act-with-approval.ts";
import type { ApprovalKind } from "../../src/operators/approval-kind.ts";
import { showApproval } from "../../src/operators/list-approvals.ts";
import { approveProposal } from "../../src/operators/decide-approval.ts";
import { addInventoryWithApproval } from "../../src/credits/inventory.ts";
import { listAllCredits } from "../../src/credits/read-credits.ts";
import { everything } from "../../src/kernel/desk-search.ts";
import { addDeposit } from "../../src/payouts/deposits.ts";
import { attestWithApproval } from "../../src/outside/attest.ts";
import { readOpenQuestions } from "../../src/outside/ask.ts";
import { type Actor, namedOperator } from "../../src/kernel/actor.ts";
import { Failure } from "../../src/kernel/failure.ts";
import { releasePayout, sendPayout } from "../../src/payouts/send-payout.ts";
import { FundsMoved } from "../../src/settlement/open-settlements.ts";
import { listCards } from "../../src/rates/current-cards.ts";
import { previewCard, publishCard, publishCardWithApproval } from "../../src/rates/publish-card.ts";
import { haltMarket, setAllMarkets } from "../../src/rates/set-market.ts";
import { verifyFirm } from "../../src/firms/check-firm.ts";
import { toOperatorRequester } from "../../src/firms/find-firms.ts";
import { bank, firmBody } from "../support/client-firms.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { giveAccount } from "../support/live-sales.ts";
import { addPerson, settleLiveSale, type TestPerson } from "../support/people.ts";
import { addLiveHouse } from "../support/live-house.ts";
import { type Service, startService } from "../support/service.ts";
import { listPayouts, openTestDesk, readBalance } from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

const crore = 1_000_000_000;

const hasReason = (reason: string) => (error: unknown) =>
  error instanceof Failure && error.detail?.["reason"] === reason;

type People = { readonly asha: TestPerson; readonly ravi: TestPerson; readonly mira: TestPerson };

async function people(service: Service): Promise<People> {
  await addLiveHouse(service);
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const ravi = await addPerson(service, { name: "ravi", role: "settlement", by: [asha] });
  const mira = await addPerson(service, { name: "mira", role: "dealer", by: [asha] });
  return { asha, ravi, mira };
}

const approve = async (
  { ctx }: Service,
  { actor }: { readonly actor: Actor },
  approvalId: string,
) => await approveProposal(ctx, actor, { approvalId, kinds: approvalKinds });

const utr = (number: number) => `HDFCR520261115${String(number).padStart(5, "0")}`;

test("one person alone cannot create money by a deposit", async (t) => {
  const service = await startService(t);
  const { asha, ravi, mira } = await people(service);
  const { firmId } = await openTestDesk(service, "live");
  const add = async ({ actor }: TestPerson, paise: number, number: number) =>
    await addDeposit(service.ctx, actor, {
      environment: "live",
      firmId,
      paise,
      reference: utr(number),
    });
  const available = async () =>
    Number((await readBalance(service, { firmId }, "live")).available_paise);

  const large = await add(ravi, crore, 1);
  assert.equal(large.outcome, "proposed");
  assert.equal((await add(ravi, crore, 1)).outcome, "proposed", "one person is one");
  assert.equal(await available(), 0, "nothing counts before");
  await assert.rejects(add(mira, crore, 1), hasReason("role"));
  const { approval_id = "" } = large as { approval_id?: string };
  await assert.rejects(approve(service, ravi, approval_id), hasReason("own_proposal"));
  await assert.rejects(approve(service, mira, approval_id), hasReason("role"));
  await approve(service, asha, approval_id);
  assert.equal(await available(), crore);
  assert.equal((await add(ravi, crore, 1)).outcome, "known", "the same money again is no proposal");

  // Many small ones are a large one.
  assert.equal((await add(ravi, crore / 2, 2)).outcome, "added");
  assert.equal((await add(ravi, crore / 2 - 1, 3)).outcome, "added");
  assert.equal((await add(ravi, 1, 4)).outcome, "proposed");
  const before = await available();
  const attempts = Array.from({ length: 5 }, (_, index) => add(asha, crore / 2, 10 + index));
  const outcomes = (await Promise.all(attempts)).map(({ outcome }) => outcome);
  assert.equal(outcomes.filter((outcome) => outcome === "added").length, 1);
  assert.equal(await available(), before + crore / 2);
  service.clock.advance({ days: 1 });
  assert.equal((await add(ravi, 1, 5)).outcome, "added");
  await assertLedgerSound(service);
});

test("both people name the same firm for a deposit, and its reference counts once", async (t) => {
  const service = await startService(t);
  const { firmId } = await openTestDesk(service, "live");
  const other = await openTestDesk(service, "live");
  const deposit = { environment: "live", reference: utr(1) } as const;
  const add = async (name: string, to: string, paise = crore) =>
    await addDeposit(service.ctx, namedOperator(name), { ...deposit, firmId: to, paise });
  await add("asha", firmId);
  await assert.rejects(add("ravi", other.firmId), hasReason("terms_differ"));
  assert.equal((await add("ravi", firmId)).outcome, "added");
  await assert.rejects(add("asha", other.firmId), hasReason("reference_used"));
});

test("inventory of a large face is listed when a second person approves it", async (t) => {
  const service = await startService(t);
  const { asha, mira } = await people(service);
  const item = (scrip_no: string, face_paise: number) => ({
    scrip_no,
    face_paise,
    scheme: "RODTEP" as const,
    expires_on: "2028-03-31",
  });
  const add = async ({ actor }: TestPerson, ...items: ReturnType<typeof item>[]) =>
    await addInventoryWithApproval(service.ctx, actor, {
      environment: "live",
      inventory: { items },
    });
  const listed = async () =>
    (await listAllCredits(service.ctx, { ...everything, environment: "live" })).rows.map(
      (c) => c.scrip_no,
    );

  const large = await add(mira, item("INV/00001", crore / 2), item("INV/00002", crore / 2));
  assert.equal(large.outcome, "proposed");
  assert.deepEqual(await listed(), []);
  await approve(service, asha, (large as { approval_id: string }).approval_id);
  assert.deepEqual((await listed()).toSorted(), ["INV/00001", "INV/00002"]);
  assert.equal((await add(mira, item("INV/00003", crore - 1))).outcome, "done");

  const heading = "Scrip Number,Scheme,IEC,Amount,Balance,Issue Date,Expiry Date";
  const row = `REP/00001,RODTEP,,"1,00,00,000.00","1,00,00,000.00",01/10/2026,01/10/2028`;
  const inventory = { csv: `${heading}\n${row}\n` };
  const report = await addInventoryWithApproval(service.ctx, mira.actor, {
    environment: "live",
    inventory,
  });
  assert.equal(report.outcome, "proposed");
  await approve(service, asha, (report as { approval_id: string }).approval_id);
  assert.ok((await listed()).includes("REP/00001"));
});

test("an attestation of a large sum takes two operators", async (t) => {
  const service = await startService(t);
  const { asha, ravi } = await people(service);
  const { api_key: key } = await service.issue({ environment: "live", plan: "desk" });
  const { deskId, firmId } = await openTestDesk(service, "live");
  assert.ok(key && deskId);
  const facts = { firm_id: firmId, paise: crore };
  await service.ctx.db.pool.query(
    `insert into questions (
      question_id, environment, desk_id, port, kind, subject_id, facts, state, due_at, created_at
    ) values (
      'inq_01m7f7t3h0emw5rrq4ephkn736', 'live', $1, 'registry', 'credit_holding', 'crd_none', $2,
      'open', now(), now()
    )`,
    [
      deskId,
      {
        iec: "X",
        scrip_no: "S",
        scheme: "RODTEP",
        face_paise: facts.paise,
        expires_on: "2028-01-01",
      },
    ],
  );
  const attest = async ({ actor }: TestPerson, held: boolean) =>
    await attestWithApproval(service.ctx, actor, {
      attestations: [
        {
          questionId: "inq_01m7f7t3h0emw5rrq4ephkn736",
          answer: { held, reason: held ? null : "not_held" },
          reference: "ICEGATE-1",
        },
      ],
      kind: attesting,
    });
  const seen = await attest(ravi, true);
  assert.ok(seen.outcome === "proposed");
  const look = await showApproval(service.ctx, seen.approval_id, approvalKinds);
  assert.equal(
    look.summary,
    "customs shows S of 1,00,00,000.00 rupees with IEC X, seen in ICEGATE-1",
  );
  const [row] = look.shown[0]?.rows ?? [];
  assert.deepEqual(
    [row?.["desk_id"], row?.["scrip_no"], row?.["face_paise"], row?.["held"], row?.["reference"]],
    [deskId, "S", crore, true, "ICEGATE-1"],
  );
  const open = await readOpenQuestions(service.ctx, { environment: "live", port: null });
  assert.equal(open.length, 1, "the question is open until then");
  await approve(service, asha, seen.approval_id);
  assert.equal(
    (await readOpenQuestions(service.ctx, { environment: "live", port: null })).length,
    0,
  );
});

test("changing the account of a firm with money takes two operators", async (t) => {
  const service = await startService(t);
  const { asha, ravi } = await people(service);
  const { api_key: key } = await service.issue({ environment: "live", plan: "desk" });
  const body = firmBody({ bank: bank("Live Firm") });
  const firm = (await service.send("POST", "/v1/firms", { key, body, expect: 201 })).body;
  const firmId = firm.firm_id as string;
  const confirmAll = async ({ actor }: TestPerson) => {
    const open = await readOpenQuestions(service.ctx, { environment: "live", port: null });
    const outcomes: string[] = [];
    for (const question of open) {
      const checks =
        question.kind === "bank_account"
          ? ["BANK_NAME_MATCH" as const]
          : (["IEC_ACTIVE", "PAN_MATCH", "FLAGGED_IEC"] as const);
      const answer = {
        checks: checks.map((check) => ({ check, outcome: "pass" as const, cure: null })),
      };
      const attestations = [{ questionId: question.question_id, answer, reference: "T-1" }];
      const done = await attestWithApproval(service.ctx, actor, { attestations, kind: attesting });
      outcomes.push(`${question.kind} ${done.outcome}`);
    }
    return outcomes.toSorted();
  };
  await verifyFirm(service.ctx, await toOperatorRequester(service.ctx, firmId, ravi.actor), firmId);
  assert.deepEqual(await confirmAll(ravi), ["bank_account done", "firm_identity done"]);

  await addDeposit(service.ctx, ravi.actor, {
    environment: "live",
    firmId,
    paise: 100,
    reference: utr(1),
  });
  const changed = { bank: { ...bank("Live Firm"), account_no: "99887766554433" } };
  await service.send("PATCH", `/v1/firms/${firmId}`, { key, body: changed, expect: 200 });
  assert.deepEqual(await confirmAll(ravi), ["bank_account proposed", "firm_identity done"]);
  assert.deepEqual(await confirmAll(ravi), ["bank_account proposed"]);
  assert.deepEqual(await confirmAll(asha), ["bank_account done"]);
});

test("two people approve a large payout before it leaves, for that account only", async (t) => {
  const service = await startService(t);
  const { asha, ravi } = await people(service);
  const { seller, payoutId } = await settleLiveSale(service, crore);
  const send = async ({ actor }: TestPerson) =>
    await sendPayout(service.ctx, actor, { payoutId, utr: utr(1) });
  await assert.rejects(send(ravi), hasReason("approval_required"));
  const asked = await releasePayout(service.ctx, ravi.actor, payoutId);
  assert.ok(asked.outcome === "proposed");
  await assert.rejects(send(asha), hasReason("approval_required"));
  await approve(service, asha, asked.approval_id);
  assert.equal((await listPayouts(service, seller))[0].status, "scheduled");

  await giveAccount(service, seller, "50200019999");
  await assert.rejects(send(ravi), hasReason("approval_required"));
  const again = await releasePayout(service.ctx, asha.actor, payoutId);
  assert.ok(again.outcome === "proposed");
  await approve(service, ravi, again.approval_id);
  assert.deepEqual(await send(ravi), { outcome: "sent" });
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select actor_id, action from audit_records where entity_id = $1 and actor_id <> 'cli' order by seq",
    [payoutId],
  );
  assert.deepEqual(
    rows.map(({ actor_id, action }) => `${actor_id} ${action}`),
    [
      "ravi payout.propose_release",
      "Asha Rao payout.approve_release",
      "Asha Rao payout.propose_release",
      "ravi payout.approve_release",
      "ravi payout.send",
    ],
  );
});

const rodtep = { environment: "live", scheme: "RODTEP" } as const;

async function currentCard({ ctx }: Service) {
  const [card] = await listCards(ctx, { ...rodtep, history: false });
  return card ?? assert.fail("there is no card");
}

test("a large price change takes two people, in one step or in several", async (t) => {
  const service = await startService(t);
  const { asha, mira, ravi } = await people(service);
  const publish = async ({ actor }: TestPerson, mid_bps: number) =>
    await publishCardWithApproval(service.ctx, actor, { ...rodtep, terms: { mid_bps } });
  const first = await publish(mira, 9_700);
  assert.equal(first.outcome, "proposed", "two may publish a scheme's first card");
  await approve(service, asha, first.outcome === "proposed" ? first.approval_id : "");
  assert.equal((await currentCard(service)).published_by, "mira");
  assert.equal((await publish(mira, 9_760)).outcome, "published");
  assert.equal((await publish(mira, 9_799)).outcome, "published");
  const far = await publish(mira, 9_800);
  assert.equal(far.outcome, "proposed", "100 bps from where the day began");
  assert.equal((await currentCard(service)).mid_bps, 9_799);
  await assert.rejects(publish(ravi, 9_800), hasReason("role"));
  const { approval_id = "" } = far as { approval_id?: string };
  const [terms, prices] = (await showApproval(service.ctx, approval_id, approvalKinds)).shown;
  assert.deepEqual(terms?.rows, [{ term: "mid_bps", before: 9_799, after: 9_800 }]);
  assert.equal(prices?.title, "Prices before and after");
  for (const { bid_before_bps, bid_after_bps } of prices.rows) {
    assert.equal(Number(bid_after_bps) - Number(bid_before_bps), 1);
  }
  await assert.rejects(approve(service, mira, approval_id), hasReason("own_proposal"));
  await haltMarket(service.ctx, ravi.actor, rodtep);
  await approve(service, asha, approval_id);
  const card = await currentCard(service);
  assert.deepEqual(
    [card.mid_bps, card.published_by, card.approved_by, card.state],
    [9_800, "mira", "Asha Rao", "halted"],
  );
  // From here the next moves are small again.
  assert.equal((await publish(mira, 9_860)).outcome, "published");
  assert.equal((await publish(mira, 9_760)).outcome, "proposed", "down counts as up");
});

test("a proposed price is void when another was published meanwhile", async (t) => {
  const service = await startService(t);
  const { asha, mira } = await people(service);
  const publish = async (mid_bps: number) =>
    await publishCardWithApproval(service.ctx, mira.actor, { ...rodtep, terms: { mid_bps } });
  await publishCard(service.ctx, mira.actor, { ...rodtep, terms: { mid_bps: 9_700 } });
  const far = await publish(9_850);
  await publish(9_710);
  const { approval_id = "" } = far as { approval_id?: string };
  await assert.rejects(approve(service, asha, approval_id), hasReason("voided"));
  assert.equal((await currentCard(service)).mid_bps, 9_710);
});

test("a change of spread or band counts as a price change", async (t) => {
  const service = await startService(t);
  const { mira } = await people(service);
  const publish = async (terms: object) =>
    (await publishCardWithApproval(service.ctx, mira.actor, { ...rodtep, terms })).outcome;
  const first = { mid_bps: 9_700, ask_ceiling_bps: 9_990 };
  await publishCard(service.ctx, mira.actor, { ...rodtep, terms: first });
  assert.equal(await publish({ half_spread_bps: 140 }), "proposed");
  const validity_bands = [
    { from_days: 365, bps: 0 },
    { from_days: 30, bps: -400 },
  ];
  assert.equal(await publish({ validity_bands }), "proposed");
  assert.equal(await publish({ half_spread_bps: 100 }), "published");
});

test("raising a limit of a card takes two people, in one step or in several; lowering one takes one", async (t) => {
  const service = await startService(t);
  const { asha, mira } = await people(service);
  const limits = {
    house_limit_paise: 100 * crore,
    face_max_paise: 10 * crore,
    desk_share_bps: 1_000,
  };
  await publishCard(service.ctx, mira.actor, { ...rodtep, terms: limits });
  service.clock.advance({ seconds: 25 * 3_600 });
  const publish = async (terms: object) =>
    await publishCardWithApproval(service.ctx, mira.actor, { ...rodtep, terms });
  for (const raised of [
    { house_limit_paise: 1_000 * crore },
    { face_max_paise: 10 * crore + crore / 10 },
    { desk_share_bps: 1_010 },
    { house_limit_paise: Number.MAX_SAFE_INTEGER },
  ]) {
    assert.equal((await publish(raised)).outcome, "proposed", JSON.stringify(raised));
  }
  const limit = async (crores: number) => await publish({ house_limit_paise: crores * crore });
  assert.equal((await limit(100.5)).outcome, "published");
  assert.equal((await limit(101)).outcome, "proposed", "1 % more than when the day began");
  assert.equal((await limit(50)).outcome, "published");
  const raise = await limit(51);
  const { approval_id: approvalId = "" } = raise as { approval_id?: string };
  const shown = await showApproval(service.ctx, approvalId, approvalKinds);
  assert.match(shown.summary, /some price moves by 0\.00 %; a limit is raised by 2\.00 %/);
  assert.deepEqual(shown.shown[0]?.rows, [
    { term: "house_limit_paise", before: 50 * crore, after: 51 * crore },
  ]);
  await approve(service, asha, approvalId);
  assert.equal((await currentCard(service)).house_limit_paise, 51 * crore);
});

test("a preview of a first card has its starting terms and moves nothing", async (t) => {
  const service = await startService(t);
  await addLiveHouse(service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const preview = async () => await previewCard(service.ctx, asha.actor, { ...rodtep, terms: {} });
  const first = await preview();
  assert.deepEqual([first.move_bps, first.limit_move_bps, first.people], [null, null, 1]);
  const mid = first.terms.find(({ term }) => term === "mid_bps");
  assert.deepEqual(mid, { term: "mid_bps", before: null, after: 9_850 });
  await addPerson(service, { name: "mira", role: "dealer", by: [asha] });
  assert.equal((await preview()).people, 2);
});

test("a preview shows bid and ask per band and publishes nothing", async (t) => {
  const service = await startService(t);
  const { mira } = await people(service);
  const terms = { mid_bps: 9_700 };
  await publishCard(service.ctx, mira.actor, { ...rodtep, terms });
  const preview = await previewCard(service.ctx, mira.actor, {
    ...rodtep,
    terms: { mid_bps: 9_835 },
  });
  assert.deepEqual([preview.version, preview.move_bps, preview.people], [2, 135, 2]);
  assert.equal(preview.bands.length, 6 * 5);
  for (const band of preview.bands) {
    assert.equal((band.bid_after_bps ?? 0) - (band.bid_before_bps ?? 0), 135);
    assert.ok((band.ask_after_bps ?? 0) > (band.bid_after_bps ?? 0));
  }
  assert.equal((await currentCard(service)).version, 1);
});

test("all schemes are halted and opened at once, with the operator's name on the card", async (t) => {
  const service = await startService(t);
  const { mira } = await people(service);
  for (const scheme of ["RODTEP", "ROSCTL"] as const) {
    const terms = { mid_bps: 9_700 };
    await publishCard(service.ctx, mira.actor, { environment: "live", scheme, terms });
  }
  for (const state of ["halted", "halted", "open"] as const) {
    const cards = await setAllMarkets(service.ctx, mira.actor, { environment: "live", state });
    assert.deepEqual(
      cards.map((card) => `${card.scheme} ${card.state} ${card.published_by}`),
      [`RODTEP ${state} mira`, `ROSCTL ${state} mira`],
    );
  }
  const { rows } = await askJournal(
    service.ctx.db.pool,
    "select action from audit_records where actor_id = 'mira' and entity_type = 'rate_card'",
  );
  assert.equal(rows.length, 2 + 2 + 2);
});

test("an approved act is tried again after an error that has passed, and done once", async (t) => {
  const service = await startService(t);
  const { asha, ravi } = await people(service);
  let attempts = 0;
  const kind: ApprovalKind = {
    name: "deal.fund",
    proposers: ["settlement"],
    approvers: ["settlement"],
    validHours: 1,
    isPassing: (error) => error instanceof FundsMoved,
    prepare: async () => ({
      summary: "money that moves meanwhile",
      valuePaise: null,
      facts: {},
      async carryOut() {
        attempts += 1;
        if (attempts === 1) throw new FundsMoved();
        if (attempts === 3) throw new Error("this does not pass");
        return { changes: [] };
      },
    }),
  };
  const proposeAndApprove = async (subjectId: string) => {
    const act = { kind, environment: "live", subjectId, terms: {}, people: 2 } as const;
    const proposed = await actWithApproval(service.ctx, asha.actor, act);
    assert.ok(proposed.outcome === "proposed");
    const asked = { approvalId: proposed.approval_id, kinds: [kind] };
    return await approveProposal(service.ctx, ravi.actor, asked);
  };
  assert.equal((await proposeAndApprove("first")).approval.state, "approved");
  assert.equal(attempts, 2);
  await assert.rejects(proposeAndApprove("second"), /does not pass/);
  assert.equal(attempts, 3, "another error is not tried again");
});

test("the sandbox takes no approvals", async (t) => {
  const service = await startService(t);
  await people(service);
  const { firmId } = await openTestDesk(service);
  const nobody = namedOperator("cli");
  const deposit = { environment: "sandbox", firmId, paise: crore * 5, reference: utr(1) } as const;
  assert.equal((await addDeposit(service.ctx, nobody, deposit)).outcome, "added");
  const terms = { mid_bps: 9_000 };
  const card = { environment: "sandbox", scheme: "RODTEP", terms } as const;
  assert.equal((await publishCardWithApproval(service.ctx, nobody, card)).outcome, "published");
});
