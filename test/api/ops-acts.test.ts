// Every operation of the operators' API is called once, through the front door; its answer is checked
// against the document. Every act leaves an audit record that names the person and the request. An
// operation that is not in this list fails the last assertion.

import assert from "node:assert/strict";
import { test } from "node:test";

import { operations } from "../../src/ops/operations.ts";
import { computeCode, fromBase32, computeStep } from "../../src/operators/credentials.ts";
import { bank, firmBody } from "../support/client-firms.ts";
import { crores, crossThatIs } from "../support/crosses.ts";
import { mintChild } from "../support/keys.ts";
import { assertLedgerSound } from "../support/ledger.ts";
import { assertWireNames, asBearer, startOps } from "../support/ops.ts";
import { dealer } from "../support/orders.ts";
import { addPerson, password, settleLiveSale } from "../support/people.ts";
import { addNotice } from "../support/mail.ts";
import { addDeadLetters, registerWebhook, startReceiver } from "../support/receivers.ts";
import { liveHouse } from "../support/live-house.ts";
import { type Answer, startService } from "../support/service.ts";
import { addCredit, buyerPaise, makeDeal, openTestDesk } from "../support/settlements.ts";
import { countStatuses } from "../support/usage.ts";
import { askJournal } from "../support/journal.ts";

/** They show something and change nothing. */
const notActs = ["previewCard", "previewBankStatement", "enrol"];

const utr = (number: number) => `HDFCR520261115${String(number).padStart(5, "0")}`;

test("every operation answers as the document says, and every act has an audit record that names the person", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const first = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const second = await addPerson(service, { name: "ravi", role: "admin", by: [first] });
  let token = "";
  let name = "";
  const done = new Set<string>();
  let requests = 0;

  const listRecords = async (requestId: string) => {
    const { rows } = await askJournal<{ line: string }>(
      service.ctx.db.pool,
      `select actor_kind || ' ' || actor_id as line from audit_records where request_id = $1`,
      [requestId],
    );
    return rows.map(({ line }) => line);
  };
  /** Calls an operation by its name; the path's parameters are given in their order. */
  const call = async (
    operationId: string,
    params: readonly string[] = [],
    body: object = {},
    query = "",
  ) => {
    const operation = operations.find(({ id }) => id === operationId);
    assert.ok(operation, operationId);
    const rest = [...params];
    const path = operation.path.replaceAll(/:\w+/g, () => rest.shift() ?? "");
    const requestId = `req-${operationId}-${++requests}`;
    const answer = await send(operation.method, `${path}${query}`, {
      headers: { ...(token !== "" && asBearer(token)), "x-request-id": requestId },
      ...(operation.body && { body }),
    });
    assert.equal(answer.status, 200, `${operationId}: ${answer.text}`);
    assertWireNames(answer.body, operationId);
    done.add(operationId);
    if (operation.method === "GET") return answer.body;
    if (notActs.includes(operationId)) return answer.body;
    const records = await listRecords(requestId);
    assert.ok(records.length > 0, `${operationId} left no record`);
    assert.deepEqual([...new Set(records)], [`operator ${name}`], operationId);
    return answer.body;
  };
  /** Calls lists, which must have something to show. */
  const assertRows = async (...lists: readonly string[]) => {
    for (const list of lists) {
      const [operationId = "", query] = list.split("?");
      const body = await call(operationId, [], {}, query === undefined ? "" : `?${query}`);
      const [rows] = Object.values<readonly object[]>(body);
      assert.ok(rows && rows.length > 0, `${operationId} has rows`);
    }
  };
  const become = async (person: typeof first) => {
    name = person.name;
    token = "";
    token = (await call("signIn", [], { name, password, code: person.code() })).token;
  };

  await become(first);
  const { permissions, ...who } = await call("whoIsSignedIn");
  assert.deepEqual(who, {
    name: "Asha Rao",
    role: "admin",
    directory: false,
    recovery_codes_left: 10,
  });
  assert.ok(permissions.includes("keys.write"));

  // People
  const added = await call("addOperator", [], { name: "mira", role: "dealer" });
  assert.equal(added.outcome, "proposed");
  const refused = await call("addOperator", [], { name: "nobody", role: "dealer" });
  await become(second);
  const { result } = await call("approveProposal", [added.approval_id]);
  await call("rejectProposal", [refused.approval_id], { reason: "who is that?" });
  name = "mira";
  token = "";
  const enrolment = { name, codes: [added.code, result.code], password };
  const { totp_secret, ticket } = await call("enrol", [], enrolment);
  const showCode = (secret: string) => {
    service.clock.advance({ seconds: 30 });
    return computeCode(fromBase32(secret), computeStep(service.clock.now()));
  };
  const { codes } = enrolment;
  await call("confirmEnrolment", [], { name, codes, ticket, code: showCode(totp_secret) });
  token = (await call("signIn", [], { name, password, code: showCode(totp_secret) })).token;
  await call("renewRecoveryCodes", [], { password, code: showCode(totp_secret) });
  const offered = await call("beginAuthenticator", [], { password, code: showCode(totp_secret) });
  const shown = showCode(offered.totp_secret);
  await call("confirmAuthenticator", [], { ticket: offered.ticket, code: shown });
  await call("signOut");
  await become(second);
  await call("grantRole", [], { name: "mira", role: "settlement" });
  await call("disableOperator", [], { name: "mira" });
  const machine = await call("addMachine", [], {
    name: "night-run",
    permissions: ["read"],
    networks: ["127.0.0.1"],
    day_limit_paise: 0,
    expires_at: new Date(service.clock.now().getTime() + 86_400_000).toISOString(),
  });
  await become(first);
  await call("approveProposal", [machine.approval_id]);
  await assertRows("listMachines");
  await call("listSchedules");
  await call("listDroppedFiles");
  await call("disableMachine", [], { name: "night-run" });
  await become(second);
  await call("resetOperator", [], { name: "mira" });

  // Keys, plans, firms
  await call("setPlan", ["tiny"], { per_minute: 1_000, monthly_quota: 100_000 });
  const desk = { firm: "Ops Desk", environment: "live", scopes: ["*"], plan: "tiny" };
  const { api_key: key, key_id, firm_id: deskId } = await call("issueKey", [], desk);
  const firm = await service.send("POST", "/v1/firms", {
    key,
    body: firmBody({ bank: bank("Ops Firm") }),
    expect: 201,
  });
  const firmId = firm.body.firm_id as string;
  await call("verifyAnyFirm", [firmId]);
  const { questions } = await call("listQuestions");
  const findings = questions.map(({ question_id }: { question_id: string }) => ({
    question_id,
    reference: "TICKET-1",
  }));
  assert.equal((await call("attestQuestions", [], { findings })).outcome, "done");
  await call("authorizeAnyFirm", [firmId], {
    signatory_name: "R. Mehta",
    reference: "M-1",
    valid_until: "2099-03-31",
  });
  await call("suspendAnyFirm", [firmId], { reason: "review" });
  await call("resumeAnyFirm", [firmId]);
  const { account_no } = await call("revealAccount", [firmId], { reason: "the bank asked" });
  assert.equal(account_no, bank("x").account_no);

  // Notices
  const own = await call("addNoticeAddress", [], { email: "a@ops.example", desk_id: deskId });
  await call("addNoticeAddress", [], { email: "ravi@house.example", person: "ravi" });
  await call("setNoticeOptOuts", [own.address_id], { opted_out: ["payout.paid"] });
  await addNotice(service, own.address_id);
  const dead = await call("listNotices", [], {}, "?status=dead");
  await call("sendNoticeAgain", [dead.notices[0].notice_id]);
  await assertRows("listNoticeAddresses", "listNotices");
  await call("removeNoticeAddress", [own.address_id]);

  // Prices and stock
  const rodtep = { environment: "live", scheme: "RODTEP" };
  await call("setHouse", [], { environment: "sandbox", signatory: "Asha Rao, Director" });
  const proposed = await call("setHouse", [], { environment: "live", ...liveHouse });
  assert.equal(proposed.outcome, "proposed");
  await become(first);
  await call("approveProposal", [proposed.approval_id]);
  await become(second);
  assert.deepEqual((await call("showHouse", [], {}, "?environment=live")).missing, []);
  const numbers = { prefix: "SCRIP", length: 16, alphabet: "letters", ifsc: "HDFC0000001" };
  await call("setNumberForm", [], { environment: "sandbox", ...numbers });
  await call("listNumberForms", [], {}, "?environment=sandbox");
  const card = await call("publishCard", [], { ...rodtep, terms: { mid_bps: 9_800 } });
  assert.equal(card.outcome, "proposed", "two may publish, so a first card takes two");
  await become(first);
  await call("approveProposal", [card.approval_id]);
  await become(second);
  const preview = await call("previewCard", [], { ...rodtep, terms: { mid_bps: 9_900 } });
  assert.deepEqual([preview.move_bps, preview.people, preview.open_quotes.count], [100, 2, 0]);
  await call("haltMarket", [], { environment: "live", all: true });
  await call("openMarket", [], rodtep);
  const credits = [
    { scheme: "RODTEP", scrip_no: "OPS/00001", face_paise: 100, expires_on: "2028-03-31" },
  ];
  assert.equal((await call("addInventory", [], { environment: "live", credits })).outcome, "done");
  const about = { environment: "live", scrip_no: "OPS/00001" };
  await call("recordNews", [], { ...about, news: "suspend", reason: "notice 7" });
  const heading = "Scrip Number,Scheme,IEC,Amount,Balance,Issue Date,Expiry Date";
  const csv = `${heading}\nREP/00001,RODTEP,,100.00,100.00,01/10/2026,01/10/2028\n`;
  await call("importAnyCredits", [firmId], { csv });
  await call("setOutage", [], { environment: "live", port: "bank", note: "maintenance" });
  await call("setOutage", [], { environment: "live", port: "bank" });

  // Calendar
  const day = { office: "bank", day: "2027-12-07", name: "Declared" };
  await call("importCalendar", [], { days: [day] });
  await call("addCalendarDay", [], { ...day, day: "2027-12-08" });
  await call("removeCalendarDay", [], { office: "bank", day: "2027-12-08" });

  // Taxes
  const from = "2027-04-01";
  const parts = { cgst_bps: 900, sgst_bps: 900, igst_bps: 1_800, house_state: "27" };
  await call("setGstLine", [], { environment: "live", from, ...parts });
  const withheld = { section: "194Q", rate_bps: 10, threshold_paise: 500_000_000 };
  await call("setTdsLine", [], { environment: "live", from, ...withheld });
  const law = { hsn: "4907", exemption: "Notification 10/2025, entry 1" };
  await call("setScripLine", [], { environment: "live", from, ...law });
  await call("setFeeLine", [], { environment: "live", from, sac: "997159", gst_bps: 1_800 });
  const amounts = { rtgs_from_paise: 20_000_000, imps_to_paise: 50_000_000 };
  await call("setRailLimits", [], { environment: "live", from, ...amounts, citation: "RBI/1" });
  await call("confirmTaxLine", ["tds"], { environment: "live", from: "2026-04-01" });
  await call("addTdsCertificate", [], {
    environment: "live",
    certificate_no: "LDC/1",
    pan: "AAPFU0939F",
    rate_bps: 2,
    limit_paise: 1_000_000,
    effective_from: "2026-04-01",
    effective_until: "2027-03-31",
  });
  await call("endTaxLine", ["tds"], { environment: "live", from: "2028-04-01" });

  // Money
  assert.equal((await call("checkLedger")).sound, true);
  await call("setCommission", [deskId], { bps: 7 });
  await call("payCommission", [deskId], { amount_paise: 1_000_000_000, utr: utr(1) });
  const deposit = { environment: "live", firm_id: firmId, amount_paise: 100, reference: utr(2) };
  assert.equal((await call("addDeposit", [], deposit)).outcome, "added");
  const wrong = { environment: "live", reason: "another firm's" };
  assert.equal((await call("reverseDeposit", [utr(2)], wrong)).outcome, "reversed");
  const seller = await openTestDesk(service, "live");
  const buyer = await openTestDesk(service, "live");
  const deal = async () => {
    const legs = [{ seller, scripNo: await addCredit(service, seller) }];
    return await makeDeal(service, { environment: "live", buyer, legs });
  };
  const [funded, failed] = [await deal(), await deal()];
  const part = await call("fundSettlement", [funded], { reference: utr(6), amount_paise: 1_000 });
  assert.equal(part.outcome, "received");
  await call("fundSettlement", [await deal()], { reference: utr(7) });
  const environment = "live";
  const parties = {
    seller: await dealer(service, crores(1), { environment }),
    buyer: await dealer(service, [], { environment }),
  };
  const { cross_id } = await crossThatIs(parties, "agreed");
  const toCross = await call("fundAnyCross", [cross_id], { reference: utr(8), amount_paise: 500 });
  assert.equal(toCross.outcome, "received");
  await call("fundSettlement", [funded], { reference: utr(3), amount_paise: buyerPaise - 1_000 });
  await service.work();
  const begun = await call("markInitiated", [funded], { reference: "ICEGATE-0" });
  assert.equal(begun.initiated, 1);
  const report =
    "Scrip No,Scrip Amount,Transferor IEC,Transferee IEC,Status,Initiated On,Accepted On\n";
  const as_of = service.ctx.now().toISOString();
  await call("importLedgerReport", [], { csv: report, as_of });
  await assertRows("listLedgerReports");
  await call("confirmTransfer", [funded], { reference: "ICEGATE-1", outcome: "transferred" });
  await call("failSettlement", [failed]);
  const [{ scrip_no }] = (await call("readAnySettlement", [failed])).legs;
  await call("takeBackRefund", [failed], { scrip_no, reference: "ICEGATE-2" });
  const unpaid = await deal();
  await call("fundSettlement", [unpaid], { reference: "CALL-1", missing: true });
  await assertRows("listUnpaidDeals?environment=live");
  const lifted = await call("liftUnpaid", [unpaid], { reason: "their bank was shut" });
  assert.deepEqual(lifted.settlement_ids, [unpaid]);
  const sold = await settleLiveSale(service, 24_400_000);
  const other = await settleLiveSale(service, 24_500_000);
  const filed = await settleLiveSale(service, 24_600_000);
  await call("reverseSettlement", [sold.settlementId], { reason: "forged mandate" });
  await call("releasePayout", [sold.payoutId]);
  await call("sendPayout", [sold.payoutId], { utr: utr(4) });
  await call("confirmPayout", [sold.payoutId], { reference: "STATEMENT-1" });
  await call("sendPayout", [other.payoutId], { utr: utr(5) });
  assert.equal(
    (await call("returnPayout", [other.payoutId], { reason: "account_closed" })).outcome,
    "returned",
  );
  await call("resendPayout", [other.payoutId]);
  assert.ok(filed.payoutId);
  const planned = await call("previewFiles", [], {}, "?environment=live");
  assert.ok(planned.files[0].remittances.length > 0);
  const { payout_files } = await call("makeFiles", [], { environment: "live" });
  const [file] = payout_files;
  assert.equal(file.outcome, "made", JSON.stringify(payout_files));
  assert.match((await call("readFile", [file.file_id])).text, /5020001/);
  assert.ok((await call("readFileFacts", [file.file_id])).lines[0].payouts[0].lines.length > 0);
  await call("voidFile", [file.file_id], { reason: "the bank refused it" });

  // The bank
  const lines = [
    "date,reference,description,debit,credit,balance,remitter_name,remitter_account",
    `15/11/2026,${utr(71)},FROM A STRANGER,,100.00,100.00,A Stranger,99`,
    `15/11/2026,${utr(72)},FROM A STRANGER,,200.00,300.00,A Stranger,99`,
    `15/11/2026,,FROM A STRANGER,,300.00,600.00,A Stranger,99`,
  ];
  const content_base64 = Buffer.from(`${lines.join("\n")}\n`).toString("base64");
  const imported = await call("importBankStatement", [], { content_base64 });
  assert.equal(imported.queued, 3, JSON.stringify(imported));
  // A part of the day without balances: whether its line is the same, nobody can tell.
  const partOfDay =
    "date,reference,description,debit,credit\n15/11/2026,,FROM A STRANGER,,300.00\n";
  const form = { name: "bare", day: "date", reference: "reference", narration: "description" };
  const sides = { debit: "debit", credit: "credit" };
  const bare = {
    content_base64: Buffer.from(partOfDay).toString("base64"),
    format: { ...form, ...sides },
  };
  const previewed = await call("previewBankStatement", [], bare);
  assert.deepEqual([previewed.queued, previewed.results[0].reason], [1, "perhaps_counted"]);
  await call("importBankStatement", [], bare);
  await call("reconcileBank");
  const { statements } = await call("listBankStatements");
  const { lines: seen } = await call("readBankStatement", [statements[0].statement_id]);
  assert.equal(statements[0].line_count, seen.length);
  const { lines: queued } = await call("listBankQueue");
  await call("readBankLine", [queued[0].line_id]);
  await call("assignBankLine", [queued[0].line_id], { to: firmId, reason: "their letter" });
  const undone = await call("undoBankAssignment", [queued[0].line_id], { reason: "a slip" });
  assert.equal(undone.outcome, "queued");
  await call("assignBankLine", [queued[0].line_id], { to: firmId, reason: "their letter" });
  const doubtful = queued.find(({ reason }: { reason: string }) => reason === "perhaps_counted");
  await call("repeatBankLine", [doubtful.line_id], { reason: "it is the same" });
  const secondAccount = {
    account_no: "911010002000",
    ifsc: "UTIB0000001",
    name: "Their second bank",
  };
  await call("addPayingAccount", [firmId], { ...secondAccount, reason: "letter of the bank" });
  await call("showPayingAccount", [firmId]);
  await call("removePayingAccount", [firmId], { reason: "closed" });
  await call("returnBankLine", [queued[1].line_id], { utr: utr(73), reason: "a stranger's" });

  // Orders
  const resting = await dealer(service);
  const { body: rests } = await resting.post(
    "/v1/orders",
    { side: "sell", scrip_no: resting.scripNo, limit_bps: 9_990 },
    201,
  );
  assert.equal((await call("cancelAnyOrder", [rests.order_id])).status, "cancelled");
  assert.equal((await call("readAnyOrder", [rests.order_id])).desk_id, resting.deskId);

  // Support
  const enquiry = await service.send("POST", "/public/enquiry/contact", {
    body: { name: "Visitor", email: "v@example.com", message: "hello", consent: true },
    expect: 201,
  });
  await call("closeEnquiry", [enquiry.body.enquiry_ref], { outcome: "called back" });
  await call("readEnquiry", [enquiry.body.enquiry_ref]);
  const subscriber = await service.issue();
  await mintChild(service, subscriber.api_key);
  const receiver = await startReceiver(t);
  const webhook = await registerWebhook(service, subscriber.api_key, receiver.url);
  await addDeadLetters(service, webhook.webhook_id);
  await assertRows("listAllFailures");
  const replayed = await call("replayAnyDeliveries", [], { webhook_id: webhook.webhook_id });
  assert.equal(replayed.queued, 2);
  await mintChild(service, key);
  const successor = await call("issueKey", [], { ...desk, name: "next" });
  await call("moveChildKeys", [key_id], { to_key_id: successor.key_id });
  await call("revokeAnyKey", [key_id]);
  assert.equal((await call("verifyAudit")).whole, true);

  // What there is now
  await call("readApproval", [added.approval_id]);
  await call("readAnyFirm", [firmId]);
  await call("listAllRequests");
  const account = await call("readAccount", [firmId]);
  assert.ok(account.posted_paise > 0 && account.deposits.length > 0);
  const ofDesk = `?environment=live&desk_id=${account.desk_id}&entity_id=${firmId}`;
  const { records } = await call("listAuditRecords", [], undefined, ofDesk);
  assert.ok(records.some(({ action }: { action: string }) => action.startsWith("firm.")));
  const ofHouse = await call("listAuditRecords", [], undefined, "?environment=live&limit=2");
  assert.equal(ofHouse.records.length, 2);
  assert.ok(ofHouse.next_cursor);
  await call("listFirmTasks", [firmId]);
  await call("readAnySettlement", [funded]);
  await call("listUnpaidDeals", [], undefined, "?environment=live");
  await call("readAnyCross", [cross_id]);
  await call("showDesk", [deskId]);
  await call("showToday");
  await call("showLiveReadiness");
  const bankForm = { name: "first-bank", day: "Day", reference: "Ref", narration: "Text" };
  await call("saveStatementForm", [], { ...bankForm, amount: "Amount", direction: "Cr/Dr" });
  await assertRows("listStatementForms");
  await call("removeStatementForm", ["first-bank"]);
  await call("listRegister", [], {}, "?environment=live&period=2026-10");
  await call("readBoard", [], {}, "?environment=live");
  await call("readHouseDay", [], {}, "?environment=live");
  await call("sumStockByExpiry", [], {}, "?environment=live");
  await call("sumOpenDealsByAge", [], {}, "?environment=live");
  await call("streamBoard", [], {}, "?environment=live");
  await call("nameFirms", [], {}, `?ids=${firmId},none`);
  await assertRows("listSettlementQueue?environment=live");
  await call("readAnyPayout", [sold.payoutId]);
  const statement = await call("showAnyStatement", [sold.seller.firmId, "2026-11"]);
  assert.ok(statement.lines.length > 0);
  const ofFirm = [sold.seller.firmId, "2026-11"];
  const { name: fileName } = await call("readStatementFile", ofFirm, {}, "?format=xlsx");
  assert.match(fileName, /^statement-2026-11-frm_.*\.xlsx$/);
  const { papers } = await call("listFirmPapers", [sold.seller.firmId]);
  const paper = [sold.seller.firmId, papers[0].settlement_id];
  await call("readPaperFile", paper, {}, "?paper=bill_of_supply");
  const ofMonth = "?environment=live&period=2026-10";
  assert.ok((await call("readStatementArchive", [], {}, ofMonth)).content.startsWith("H4sI"));
  const inLive = "?environment=live";
  await assertRows("listOperators", "listApprovals", "listAllKeys", "listPlans", "listAllFirms");
  await assertRows("listCalendar", "listEnquiries", "listAllWebhooks", "listCards", "listTaxRates");
  const [credit] = (await call("listAllCredits", [], {}, inLive)).credits;
  await call("readAnyCredit", [credit.credit_id]);
  await assertRows(
    "listAllOrders",
    "listDesks",
    `listEvidence?about=${funded}`,
    `findAnything?q=${firmId}`,
  );
  await assertRows("listAllSettlements", "listAllCrosses", "listAllPayouts", "listFiles");
  await assertRows(`listAllCredits${inLive}`, `listInventory${inLive}`);
  await call("listFeeInvoices", [], {}, inLive);
  await assertRows(`listTdsCertificates${inLive}`);
  await call("listDeductions", [], {}, `${inLive}&year=2026-27`);
  const pack = await call("readMonthPack", ["2026-11"], {}, inLive);
  assert.ok(pack.ties.every(({ ties }: { ties: boolean }) => ties));

  const missing = operations.map(({ id }) => id).filter((name) => !done.has(name));
  assert.deepEqual(missing, []);
  await assertLedgerSound(service);
});

test("a person's calls and an address's attempts are throttled", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const { token } = await asha.signIn();
  const headers = asBearer(token);
  const answers: Answer[] = [];
  // Few enough at once for a slow machine.
  for (let sent = 0; sent < 610; sent += 61) {
    const calls = Array.from({ length: 61 }, () => send("GET", "/ops/whoami", { headers }));
    answers.push(...(await Promise.all(calls)));
  }
  assert.deepEqual(countStatuses(answers), { 200: 600, 429: 10 });
  service.clock.advance({ seconds: 61 });
  const attempts = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      send("POST", "/ops/sign-in", {
        body: { name: `guess ${index}`, password: "whatever it is", code: "123456" },
      }),
    ),
  );
  assert.equal(attempts.filter(({ status }) => status === 401).length, 30);
  const refused = attempts.filter(({ status }) => status === 429);
  assert.equal(refused.length, 10);
  assert.ok(refused.every(({ headers }) => headers.has("retry-after")));
});

test("the operators' API refuses unknown fields, parameters and dry runs", async (t) => {
  const service = await startService(t);
  const { send } = await startOps(t, service);
  const asha = await addPerson(service, { name: "asha", role: "admin" });
  const headers = asBearer((await asha.signIn()).token);
  await send("GET", "/ops/firms?utm=1", { headers, expect: 422 });
  await send("POST", "/ops/market/halt", { headers, body: { environmnt: "live" }, expect: 400 });
  const dryRun = { ...headers, "x-dry-run": "1" };
  await send("POST", "/ops/market/halt", {
    headers: dryRun,
    body: { environment: "sandbox", all: true },
    expect: 400,
  });
  await send("POST", "/ops/market/halt", { headers, body: { environment: "live" }, expect: 422 });
  await send("GET", "/ops/payouts/pay_none", { headers, expect: 404 });
  await send("GET", "/ops/firms/frm_none", { headers, expect: 404 });
  await send("DELETE", "/ops/firms", { headers, expect: 404 });
});
