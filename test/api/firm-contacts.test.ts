// The contact that a firm has registered is told by mail that the firm's bank account was changed, also
// when the contact was changed first.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bank, firmBody } from "../support/client-firms.ts";
import { startMailServer, subjectsTo, workNotices } from "../support/mail.ts";
import { type Service, startService } from "../support/service.ts";
import { openTestDesk, type TestDesk } from "../support/settlements.ts";

const owner = "owner@acme.example";
const thief = "thief@else.example";

/** A client firm with an account and a contact of its own. */
async function registerFirm(service: Service, { key }: TestDesk) {
  const body = firmBody({ legal_name: "Acme Exports", email: owner, bank: bank("Acme Exports") });
  const { body: firm } = await service.send("POST", "/v1/firms", { key, body, expect: 201 });
  const path = `/v1/firms/${firm.firm_id}`;
  return {
    path,
    change: async (changes: object) =>
      await service.send("PATCH", path, { key, body: changes, expect: 200 }),
  };
}

async function startWithFirm(
  t: Parameters<typeof startService>[0],
  environment: "live" | "sandbox" = "live",
) {
  const mail = await startMailServer(t);
  const service = await startService(t, { mail });
  const desk = await openTestDesk(service, environment);
  return { mail, service, desk, ...(await registerFirm(service, desk)) };
}

const another = (digits: string) => bank("Acme Exports", `5020000000${digits}`);

test("the contact is told of a changed account at once, and of no more than its last digits", async (t) => {
  const { mail, service, change } = await startWithFirm(t);
  await change({ bank: another("4321") });
  await workNotices(service);
  assert.deepEqual(subjectsTo(mail, owner), ["Acme Exports: the bank account was changed"]);
  const [told] = mail.mails;
  assert.match(told?.text ?? "", /from the account ending in 5678 to the account ending in 4321/);
  assert.doesNotMatch(told?.text ?? "", /\d{5,}4321|HDFC/);
  await change({ phone: "9876543210" });
  await change({ bank: another("4321") });
  await workNotices(service);
  assert.equal(mail.mails.length, 1, "nothing else is told");
});

test("a contact that is replaced before the account, or together with it, is told all the same", async (t) => {
  const { mail, service, change } = await startWithFirm(t);
  await change({ email: thief });
  await change({ bank: another("1111") });
  await workNotices(service);
  assert.equal(subjectsTo(mail, owner).length, 1);
  await change({ email: "other@else.example", bank: another("2222") });
  await workNotices(service);
  assert.equal(subjectsTo(mail, thief).length, 2);
  assert.equal(subjectsTo(mail, owner).length, 2);

  service.clock.advance({ days: 31 });
  await change({ bank: another("3333") });
  await workNotices(service);
  assert.equal(subjectsTo(mail, owner).length, 2, "a contact of long ago is not told");
  assert.equal(subjectsTo(mail, "other@else.example").length, 2);
});

test("contacts of other firms, of the sandbox and of a firm that has left are not told", async (t) => {
  const { mail, service, desk, path, change } = await startWithFirm(t);
  const body = firmBody({ email: "other@firm.example" });
  await service.send("POST", "/v1/firms", { key: desk.key, body, expect: 201 });
  await change({ bank: another("4321") });
  await service.send("POST", `${path}/offboard`, { key: desk.key, body: {}, expect: 200 });
  await workNotices(service);
  assert.deepEqual(
    mail.mails.filter(({ recipients }) => !recipients.includes(owner)),
    [],
  );
  const { rows } = await service.ctx.db.pool.query(
    "select email from notice_addresses where firm_id = $1",
    [path.split("/").at(-1)],
  );
  assert.ok(rows.every(({ email }) => email.endsWith("@removed.invalid")));

  const sandbox = await openTestDesk(service, "sandbox");
  const { change: changeThere } = await registerFirm(service, sandbox);
  await changeThere({ bank: another("4321") });
  const before = mail.mails.length;
  await workNotices(service);
  assert.equal(mail.mails.length, before);
});
