import assert from "node:assert/strict";
import { test } from "node:test";

import { addNoticeAddress, removeNoticeAddress } from "../../src/notices/manage-addresses.ts";
import { listNotices, sendNoticeAgain } from "../../src/notices/read-notices.ts";
import { addOperator, disableOperator } from "../../src/operators/manage-operators.ts";
import { warnOrDisable } from "../../src/webhooks/change-webhooks.ts";
import { recordChanges } from "../../src/journal/record-changes.ts";
import { type Actor, operator } from "../../src/kernel/actor.ts";
import { addCredits } from "../support/holdings.ts";
import { firmThatIs } from "../support/client-firms.ts";
import { commandLine } from "../support/cli.ts";
import { addNotice, startMailServer, subjectsTo, workNotices } from "../support/mail.ts";
import { addPerson } from "../support/people.ts";
import { registerWebhook } from "../support/receivers.ts";
import { type Service, startService } from "../support/service.ts";
import {
  addCredit,
  house,
  letSettle,
  makeDeal,
  openTestDesk,
  type TestDesk,
} from "../support/settlements.ts";

const worker: Actor = { kind: "worker", id: "test", requestId: null };

/** An event of a desk, as a use case records it. */
async function tell(
  { ctx }: Service,
  { deskId, firmId, environment }: TestDesk,
  name: string,
  data: object,
) {
  const change = {
    environment,
    deskId,
    firmId,
    action: name,
    entity: {
      type: "payout",
      id: "pay_00000000000000000000000001",
      version: 1,
      href: "/v1/payouts/x",
    },
    before: null,
    after: null,
    event: { name, from: null, to: null, data },
  };
  await ctx.db.transaction((tx) => recordChanges(tx, worker, [change], ctx.now()));
}

const paid = (paise: number) => ({ amount_paise: paise, utr: "HDFCR52026111500001", reason: null });

async function startWithDesk(t: Parameters<typeof startService>[0]) {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  const desk = await openTestDesk(service, "live");
  const { address_id: addressId } = await addNoticeAddress(service.ctx, operator, {
    deskId: desk.deskId,
    email: "Accounts@Acme.example",
  });
  return { mail, service, desk, addressId, email: "accounts@acme.example" };
}

test("each occasion reaches those whom it concerns, in plain words and rupees, and nobody else", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  const { ctx, clock, send } = service;
  const asha = await addPerson(service, { name: "Asha Rao", role: "admin" });
  const ravi = await addPerson(service, { name: "Ravi", role: "admin", by: [asha] });
  await addPerson(service, { name: "Dev", role: "dealer", by: [asha, ravi] });
  const emails = {
    "Asha Rao": "asha@house.example",
    Ravi: "ravi@house.example",
    Dev: "dev@house.example",
  };
  for (const [person, email] of Object.entries(emails)) {
    await addNoticeAddress(ctx, operator, { person, email });
  }
  const desk = await openTestDesk(service, "sandbox");
  const email = "accounts@acme.example";
  await addNoticeAddress(ctx, operator, { deskId: desk.deskId, email });
  const other = await openTestDesk(service, "sandbox");
  await addNoticeAddress(ctx, operator, { deskId: other.deskId, email: "other@else.example" });
  const findMailText = (subject: RegExp, to = email) => {
    const found = mail.mails.find(
      (one) => one.recipients.includes(to) && subject.test(one.subject),
    );
    assert.ok(found, `${to} was told ${String(subject)} among ${subjectsTo(mail, to).join("; ")}`);
    return found.text;
  };

  // Of the house: enquiries to those who may read them, approvals to those who may decide.
  const person = { name: "M. Visitor", email: "visitor@else.example", consent: true };
  const enquiry = { ...person, scheme: "RODTEP", face_paise: 1_234_567_800 };
  await send("POST", "/public/enquiry/sell", { body: enquiry, expect: 201 });
  await addOperator(ctx, asha.actor, { name: "Mira", role: "viewer" });
  await workNotices(service);
  assert.match(findMailText(/enquiry/, emails.Dev), /sell ₹1,23,45,678\.00 of RODTEP/);
  assert.doesNotMatch(findMailText(/enquiry/, emails.Dev), /visitor/i);
  assert.match(findMailText(/approval waits: operator\.add/, emails.Ravi), /proposed by Asha Rao/);
  assert.deepEqual(
    subjectsTo(mail, emails["Asha Rao"]).filter((one) => /approval/.test(one)),
    [],
  );
  assert.deepEqual(
    subjectsTo(mail, emails.Dev).filter((one) => /approval/.test(one)),
    [],
  );
  assert.deepEqual(subjectsTo(mail, email), []);

  // Of a desk: payouts, credits, mandates, webhooks, statements.
  const scripNo = await addCredit(service, desk);
  await makeDeal(service, { buyer: house(), legs: [{ seller: desk, scripNo }] });
  await letSettle(service, 6);
  assert.match(
    findMailText(/^\[Sandbox\] .*: paid out ₹2,44,000\.00/),
    /No real money or credit is meant/,
  );
  await tell(service, desk, "payout.returned", { ...paid(100_000), reason: "account_closed" });
  const soon = {
    firmId: desk.firmId,
    scheme: "RODTEP",
    facePaise: 25_000_000,
    expiresOn: "2026-11-15",
    state: "listed",
  } as const;
  const expiring = await addCredits(service, desk.deskId, [soon, soon, soon]);
  const client = await firmThatIs(service, desk.key, "authorized");
  const webhook = await registerWebhook(
    service,
    desk.key,
    "https://hooks.acme.example/secret-path?token=secret",
  );
  const days = (count: number) => new Date(clock.now().getTime() - count * 86_400_000);
  for (let stage = 0; stage < 3; stage++) await warnOrDisable(ctx, webhook.webhook_id, days(6));
  await service.work();
  assert.match(findMailText(/a payout of ₹1,000\.00 came back/), /account closed/);
  const expiries = mail.mails.filter(({ subject }) => /expires? soon/.test(subject));
  assert.equal(expiries.length, 1, "what happened together is one notice");
  assert.match(expiries[0]?.subject ?? "", /and 2 more$/);
  for (const one of expiring) assert.ok(expiries[0]?.text.includes(one), one);
  assert.match(expiries[0]?.text ?? "", /₹2,50,000\.00: last day 15 Nov 2026, today/);
  assert.match(findMailText(/Webhook of .* to hooks\.acme\.example is disabled/), /failing since/);
  clock.set(new Date("2027-03-01T10:00:00+05:30"));
  await service.work();
  assert.match(
    findMailText(/the mandate of .* ends soon/),
    new RegExp(`${client.legal_name}, mandate MND-2026-0042: last day 31 Mar 2027, 30 days left`),
  );
  assert.match(findMailText(/statement of \w+ 202\d is ready/), /final/);

  assert.deepEqual(subjectsTo(mail, "other@else.example"), []);
  for (const one of mail.mails) {
    assert.doesNotMatch(`${one.text}${one.subject}`, /secret|502000\d+|undefined|NaN|\{/);
    assert.equal(one.from, "desk@house.example");
    assert.match(one.header("Message-ID") ?? "", /^<ntc_[0-9a-z]{26}@house\.example>$/);
    assert.equal(one.header("Auto-Submitted"), "auto-generated");
    assert.equal(one.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
  }
  const ids = mail.mails.map((one) => one.header("Message-ID"));
  assert.equal(new Set(ids).size, ids.length, "nothing was sent twice");

  // A live desk's webhook concerns operators too.
  const live = await openTestDesk(service, "live");
  const hook = await registerWebhook(service, live.key, "https://hooks.live.example/");
  for (let stage = 0; stage < 3; stage++) await warnOrDisable(ctx, hook.webhook_id, days(6));
  await workNotices(service);
  assert.match(findMailText(/Webhook of .* is disabled/, emails.Ravi), /hooks\.live\.example/);

  // Whoever is shut out is told nothing more, not even what waits already.
  const before = subjectsTo(mail, emails.Dev).length;
  await send("POST", "/public/enquiry/sell", { body: { ...enquiry, name: "Third" }, expect: 201 });
  await service
    .workers()
    .find(({ name }) => name === "notice-queue")
    ?.work();
  await disableOperator(ctx, asha.actor, "Dev");
  await send("POST", "/public/enquiry/sell", {
    body: { ...enquiry, name: "Another" },
    expect: 201,
  });
  await workNotices(service);
  assert.equal(subjectsTo(mail, emails.Dev).length, before);
});

test("what was queued before a restart is sent after it, once, and an address begins when it was added", async (t) => {
  const { mail, service, desk, email } = await startWithDesk(t);
  const queue = service.workers().find(({ name }) => name === "notice-queue");
  await tell(service, desk, "payout.paid", paid(100_000));
  await queue?.work();
  assert.deepEqual(mail.mails, []);
  await addNoticeAddress(service.ctx, operator, {
    deskId: desk.deskId,
    email: "late@acme.example",
  });
  const again = await startService(t, { mail, beside: service });
  await workNotices(again);
  await workNotices(service);
  assert.equal(subjectsTo(mail, email).length, 1);
  assert.deepEqual(subjectsTo(mail, "late@acme.example"), []);
});

test("two nodes that work at once send each notice once", async (t) => {
  const { mail, service, desk } = await startWithDesk(t);
  const beside = await startService(t, { mail, beside: service });
  for (let number = 1; number <= 12; number++) {
    await tell(service, desk, "payout.paid", paid(number * 100));
    const occasion = number % 2 === 0 ? "payout.returned" : "statement.ready";
    await tell(service, desk, occasion, { ...paid(number), period: "2026-10", statement_no: "S" });
    await Promise.all([workNotices(service), workNotices(beside)]);
  }
  await Promise.all([workNotices(service), workNotices(beside)]);
  const ids = mail.mails.map((one) => one.header("Message-ID"));
  assert.equal(new Set(ids).size, ids.length);
  const text = mail.mails.map((one) => one.text).join("\n");
  for (let number = 1; number <= 12; number++) {
    const amount = `₹${number}.00 to `;
    assert.equal(text.split(`* ${amount}`).length - 1, 1, amount);
  }
});

test("while the mail server is down nothing counts as an attempt, and all is sent when it is up", async (t) => {
  const { mail, service, desk, email } = await startWithDesk(t);
  await mail.down();
  await tell(service, desk, "payout.paid", paid(100_000));
  const workers = service.workers().filter(({ name }) => name.startsWith("notice"));
  const work = async () => {
    for (const { work: run, settled } of workers) {
      while ((await run()) === "more") await settled?.();
    }
  };
  for (let look = 0; look < 10; look++) {
    await work();
    service.clock.advance({ seconds: 301 });
  }
  const [waiting] = await listNotices(service.ctx, { limit: 10 });
  assert.deepEqual([waiting?.state, waiting?.attempts], ["waiting", 0]);
  await mail.up();
  await work();
  assert.equal(subjectsTo(mail, email).length, 1);
  const counted = await service.metrics.registry.metrics();
  assert.match(counted, /scripdesk_notice_attempts_total\{result="sent"\} 1/);
  assert.match(counted, /scripdesk_notice_attempts_total\{result="unreachable"\} 10/);
});

test("a recipient who is refused for good is dead at once and can be sent to again; one that is deferred is tried by the schedule", async (t) => {
  const { mail, service, desk, email } = await startWithDesk(t);
  await addNoticeAddress(service.ctx, operator, {
    deskId: desk.deskId,
    email: "slow@acme.example",
  });
  await addNoticeAddress(service.ctx, operator, {
    deskId: desk.deskId,
    email: "well@acme.example",
  });
  mail.refuse((to) => ({ [email]: 550, "slow@acme.example": 450 })[to]);
  await tell(service, desk, "payout.paid", paid(100_000));
  await workNotices(service);
  const of = async (to: string) =>
    (await listNotices(service.ctx, { limit: 10 })).find((one) => one.email === to);
  const dead = await of(email);
  assert.deepEqual([dead?.state, dead?.reason, dead?.attempts], ["dead", "refused", 1]);
  assert.match(dead?.answer ?? "", /550 no such mailbox/);
  assert.equal((await of("slow@acme.example"))?.state, "waiting");
  assert.equal((await of("well@acme.example"))?.state, "sent");
  for (let hour = 0; hour < 16; hour++) {
    service.clock.advance({ seconds: 3_600 });
    await workNotices(service);
  }
  const slow = await of("slow@acme.example");
  assert.deepEqual([slow?.state, slow?.reason, slow?.attempts], ["dead", "deferred", 7]);
  mail.refuse(undefined);
  await sendNoticeAgain(service.ctx, operator, dead?.notice_id ?? "");
  await workNotices(service);
  assert.equal(subjectsTo(mail, email).length, 1);
  await assert.rejects(
    sendNoticeAgain(service.ctx, operator, dead?.notice_id ?? ""),
    /only a dead/,
  );
});

test("opening the link of a notice changes nothing; the one-click request stops that occasion for that address", async (t) => {
  const { mail, service, desk, addressId, email } = await startWithDesk(t);
  await addNoticeAddress(service.ctx, operator, {
    deskId: desk.deskId,
    email: "second@acme.example",
  });
  await tell(service, desk, "payout.paid", paid(100_000));
  await workNotices(service);
  const [first] = mail.mails.filter(({ recipients }) => recipients.includes(email));
  const link = new URL(/^<(.*)>$/.exec(first?.header("List-Unsubscribe") ?? "")?.[1] ?? "");
  const path = `${link.pathname}${link.search}`;
  assert.ok(first?.text.includes(link.href));
  const asked = await service.send("GET", path, { expect: 200 });
  assert.match(asked.text, /a\*\*\*@acme\.example when a payout is paid/);
  assert.match(asked.text, /<form method="post">/);
  assert.match(asked.headers.get("content-security-policy") ?? "", /form-action 'self'/);
  for (let opened = 0; opened < 3; opened++) await service.send("GET", path, { expect: 200 });
  await tell(service, desk, "payout.paid", paid(200_000));
  await workNotices(service);
  assert.equal(subjectsTo(mail, email).length, 2, "a link that was only opened stops nothing");

  // What waits already is dropped, and the other address and occasions go on.
  await tell(service, desk, "payout.paid", paid(300_000));
  await service
    .workers()
    .find(({ name }) => name === "notice-queue")
    ?.work();
  const oneClick = {
    body: "List-Unsubscribe=One-Click",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    expect: 200,
  };
  const forged = `${path.slice(0, -20)}${"A".repeat(20)}`;
  await service.send("POST", forged, { ...oneClick, expect: 404 });
  assert.match((await service.send("POST", path, oneClick)).text, /stopped/);
  await service.send("POST", path, oneClick);
  await tell(service, desk, "payout.paid", paid(400_000));
  await tell(service, desk, "payout.returned", paid(400_000));
  await workNotices(service);
  assert.equal(subjectsTo(mail, email).filter((one) => /paid out/.test(one)).length, 2);
  assert.equal(subjectsTo(mail, email).filter((one) => /came back/.test(one)).length, 1);
  assert.equal(subjectsTo(mail, "second@acme.example").length, 5);

  // Removed and added again, it still does not want them.
  await removeNoticeAddress(service.ctx, operator, addressId);
  const added = await addNoticeAddress(service.ctx, operator, { deskId: desk.deskId, email });
  assert.deepEqual([added.address_id, added.opted_out], [addressId, ["payout.paid"]]);
});

test("no name can add a line, a header or a recipient to a mail", async (t) => {
  const { mail, service, desk, email } = await startWithDesk(t);
  const evil = "Acme\r\nBcc: victim@else.example\r\n\r\n<b>x</b>\u2028{house} {link}";
  await service.ctx.db.pool.query("update firms set legal_name = $2 where firm_id = any($1)", [
    [desk.deskId, desk.firmId],
    evil,
  ]);
  await tell(service, desk, "payout.returned", {
    ...paid(100_000),
    reason: `x\r\n.\r\nMAIL FROM:<a@b.c>${evil}`,
  });
  await workNotices(service);
  assert.equal(mail.mails.length, 1);
  const [one] = mail.mails;
  assert.deepEqual(one?.recipients, [email]);
  assert.ok(!one?.head.some((line) => /^(bcc|cc):/i.test(line)), one?.head.join("\n"));
  assert.equal(one?.head.filter((line) => /^to:/i.test(line)).length, 1);
  assert.match(one?.subject ?? "", /Acme Bcc: victim@else\.example/);
  for (const bad of [
    "a@b",
    "a b@c.in",
    "a@b.in,c@d.in",
    "a@b.in\r\nBcc: c@d.in",
    "<a@b.in>",
    "ä@b.in",
    `${"a".repeat(250)}@b.in`,
  ]) {
    await assert.rejects(
      addNoticeAddress(service.ctx, operator, { deskId: desk.deskId, email: bad }),
      /unprocessable|email/,
      bad,
    );
  }
});

test("a mail server that takes a password gets it, one that refuses it is waited for, and neither is logged", async (t) => {
  const credentials = { user: "desk", pass: "correct horse" };
  const mail = await startMailServer(t, { credentials });
  const lines: string[] = [];
  const log = { ...silent(lines) };
  const good = await startService(t, { mail: { port: mail.port, credentials }, log: log as never });
  const desk = await openTestDesk(good, "live");
  await addNoticeAddress(good.ctx, operator, { deskId: desk.deskId, email: "a@acme.example" });
  const wrong = { ...credentials, pass: "wrong battery staple" };
  const bad = await startService(t, {
    mail: { port: mail.port, credentials: wrong },
    beside: good,
  });
  await tell(good, desk, "payout.paid", paid(100));
  await workNotices(bad);
  assert.deepEqual(mail.mails, []);
  await workNotices(good);
  assert.equal(mail.mails.length, 1);
  assert.match(lines.join("\n"), /sign_in_refused/);
  assert.doesNotMatch(lines.join("\n"), /battery|horse|d3Jvbmc|Y29ycmVjd/);
});

test("live goes before the sandbox, and one desk's backlog does not delay another's notice", async (t) => {
  const { mail, service, addressId } = await startWithDesk(t);
  const { ctx } = service;
  const add = async (environment: "live" | "sandbox", email: string) => {
    const { deskId } = await openTestDesk(service, environment);
    return (await addNoticeAddress(ctx, operator, { deskId, email })).address_id;
  };
  const trial = await add("sandbox", "trial@acme.example");
  const other = await add("live", "other@acme.example");
  await addNotice(service, trial, { state: "waiting" });
  for (let number = 1; number <= 30; number++) {
    await addNotice(service, addressId, { state: "waiting", number });
  }
  await addNotice(service, other, { state: "waiting" });
  await workNotices(service);
  const order = mail.mails.map(({ recipients }) => recipients[0]);
  assert.equal(order.length, 32);
  assert.equal(order.at(-1), "trial@acme.example");
  assert.ok(order.indexOf("other@acme.example") <= 5, order.join(" "));
});

test("a node that hangs after a mail was taken leaves it to another, under the same Message-ID, and settles nothing late", async (t) => {
  const { mail, service, desk } = await startWithDesk(t);
  await tell(service, desk, "payout.paid", paid(100_000));
  const release = mail.hold();
  const [queue, sender] = service.workers().filter(({ name }) => name.startsWith("notice"));
  await queue?.work();
  assert.equal(await sender?.work(), "more", "the worker waits for no mail server");
  while (mail.mails.length === 0) await sender?.work();
  await service.work(["notices", "notice-queue"]);
  service.clock.advance({ seconds: 301 });
  const beside = await startService(t, { mail, beside: service });
  const other = beside.workers().find(({ name }) => name === "notices");
  await other?.work();
  while (mail.mails.length < 2) await other?.work();
  release();
  await Promise.all([sender?.settled?.(), other?.settled?.()]);
  const [first, second] = mail.mails;
  assert.equal(first?.header("Message-ID"), second?.header("Message-ID"));
  const [notice] = await listNotices(service.ctx, { limit: 10 });
  assert.deepEqual([notice?.state, notice?.attempts], ["sent", 1]);
  await workNotices(service);
  assert.equal(mail.mails.length, 2);
});

test("a service that stops cuts off a mail server that does not answer, and gives back what it claimed", async (t) => {
  const mail = await startMailServer(t);
  const stop = new AbortController();
  const service = await startService(t, { mail: { port: mail.port, stop: stop.signal } });
  const desk = await openTestDesk(service, "live");
  const email = "accounts@acme.example";
  await addNoticeAddress(service.ctx, operator, { deskId: desk.deskId, email });
  await tell(service, desk, "payout.paid", paid(100_000));
  const release = mail.hold();
  const [queue, sender] = service.workers().filter(({ name }) => name.startsWith("notice"));
  await queue?.work();
  await sender?.work();
  while (mail.mails.length === 0) await sender?.work();
  stop.abort();
  await sender?.settled?.();
  release();
  const [notice] = await listNotices(service.ctx, { limit: 10 });
  assert.deepEqual([notice?.state, notice?.attempts], ["waiting", 0]);
  assert.deepEqual(notice?.due_at, service.clock.now());
  assert.equal(await sender?.work(), "idle");
});

test("what is three days old is not sent, and what was done is deleted in time", async (t) => {
  const { mail, service, desk, email } = await startWithDesk(t);
  await tell(service, desk, "payout.paid", paid(100_000));
  service.clock.advance({ days: 4 });
  await workNotices(service);
  assert.deepEqual(await listNotices(service.ctx, { limit: 10 }), [], "too old to be queued");
  await mail.down();
  await tell(service, desk, "payout.paid", paid(200_000));
  await workNotices(service);
  service.clock.advance({ days: 4 });
  await mail.up();
  await workNotices(service);
  const states = async () =>
    (await listNotices(service.ctx, { limit: 10 })).map(({ state, reason }) => [state, reason]);
  assert.deepEqual(await states(), [["dead", "too_old"]]);
  await tell(service, desk, "payout.paid", paid(300_000));
  await workNotices(service);
  assert.equal(subjectsTo(mail, email).length, 1);
  service.clock.advance({ days: 31 });
  await workNotices(service);
  assert.deepEqual(await states(), [["dead", "too_old"]]);
  service.clock.advance({ days: 60 });
  await workNotices(service);
  assert.deepEqual(await states(), []);
});

test("an operator manages addresses and notices by commands", async (t) => {
  const { service, desk, addressId } = await startWithDesk(t);
  const noticeId = await addNotice(service, addressId);
  const { run } = await commandLine(t, service);
  const say = async (...words: string[]) => {
    const { code, stdout, stderr } = await run("notices", ...words, "--json");
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const added = await say(
    "add",
    "second@acme.example",
    "--desk",
    desk.deskId,
    "--operator",
    "asha",
  );
  assert.equal(added.email, "second@acme.example");
  const set = await say("opt-out", added.address_id, "--of", "payout.paid,statement.ready");
  assert.deepEqual(set.opted_out, ["payout.paid", "statement.ready"]);
  assert.equal((await say("addresses", "--desk", desk.deskId)).length, 2);
  await say("remove", added.address_id);
  assert.equal((await say("addresses", "--of", "desks")).length, 1);
  const [dead] = await say("list", "--status", "dead");
  assert.deepEqual([dead.notice_id, dead.reason], [noticeId, "refused"]);
  assert.equal((await say("send-again", noticeId)).status, "waiting");
  assert.equal((await run("notices", "add", "x@acme.example")).code, 2);
});

/** A log that keeps what it is given. */
function silent(lines: string[]) {
  const keep = (...words: unknown[]) => void lines.push(JSON.stringify(words));
  return {
    level: "info",
    fatal: keep,
    error: keep,
    warn: keep,
    info: keep,
    debug: keep,
    trace: keep,
    silent: keep,
  };
}
