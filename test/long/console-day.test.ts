// The live day of two people in the console, in a real browser, by accessible roles and names.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";

import { parsePaise } from "../../web/money.js";
import { type Console, signInToConsole } from "../support/console.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { haveDay, mandate, type Office, twoFromPaise } from "../support/live-day.ts";
import { startOps } from "../support/ops.ts";
import { addPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { type Service, startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const browse = browser(fileScope());

async function openByConsole(t: TestContext, service: Service): Promise<[Office, Console[]]> {
  const ops = await startOps(t, service, { twoOperatorsFromPaise: twoFromPaise });
  const ashaPerson = await addPerson(service, { name: "asha", role: "admin" });
  const raviPerson = await addPerson(service, { name: "ravi", role: "admin", by: [ashaPerson] });
  const asha = await signInToConsole(t, { browse, ops, person: ashaPerson });
  const ravi = await signInToConsole(t, { browse, ops, person: raviPerson });

  /** Somebody proposed: the proposer cannot approve it, the other does. */
  const approve = async (said: string) => {
    assert.match(said, /for somebody else|somebody else approves/);
    await asha.open("/approvals");
    await asha.page.locator("tbody a").first().click();
    await asha.page.getByText("You proposed this").waitFor();
    assert.equal(await asha.page.getByRole("button", { name: "Approve" }).count(), 0);
    await ravi.open("/approvals");
    await ravi.page.locator("tbody a").first().click();
    await ravi.page.getByRole("heading", { name: "Approval", exact: true }).waitFor();
    assert.equal(await ravi.act("Approve"), "Approved and carried out.");
  };
  const answerAll = async (fields: Parameters<Console["act"]>[1], people: 1 | 2) => {
    await asha.open("/questions");
    for (let left = await asha.page.locator("tbody tr").count(); left > 0; left--) {
      const said = await asha.act("Answer", fields);
      if (people === 2) await approve(said);
      await asha.open("/questions");
    }
    await asha.page.getByText("No open questions.").waitFor();
  };
  const office: Office = {
    firstCardTakes: 2,
    async issueKey(firm) {
      await asha.open("/keys");
      await asha.act("Issue a key", {
        "Name of the desk": firm,
        Plan: { choose: "desk" },
        "May buy": true,
      });
      const key = await asha.page.getByRole("dialog").locator("code").innerText();
      await asha.page.getByRole("button", { name: "Done" }).click();
      return key;
    },
    async verifyFirm(firmId) {
      await asha.open(`/firms/${firmId}`);
      await asha.act("Verify");
    },
    async authorizeFirm(firmId) {
      await asha.open(`/firms/${firmId}`);
      await asha.act("Authorize", {
        Signatory: mandate.signatory,
        "Mandate reference": mandate.reference,
        "Valid until": mandate.until,
      });
      await asha.page.getByText("authorized", { exact: true }).first().waitFor();
    },
    confirmFirms: () =>
      answerAll({ Evidence: "TICKET-1", "Failed check": { choose: "nothing" } }, 1),
    confirmCredits: () =>
      answerAll({ Evidence: "ICEGATE-1", "The firm holds it": { choose: "yes" } }, 2),
    async publishCard(midBps, people) {
      await asha.open("/publish/RODTEP");
      await asha.page.getByLabel("Mid").fill((midBps / 100).toFixed(2));
      await asha.page.getByRole("button", { name: "Preview" }).click();
      const said = await asha.act(people === 2 ? "Propose the card" : "Publish the card");
      if (people === 2) await approve(said);
      await asha.open("/board");
      await asha.page
        .getByRole("article", { name: "RoDTEP" })
        .getByText((midBps / 100).toFixed(2))
        .first()
        .waitFor();
    },
    async confirmTransfer(settlementId, reference) {
      await asha.open("/queue");
      await asha.page.locator(`a[title="${settlementId}"]`).click();
      await asha.page.getByRole("heading", { name: "Settlement", exact: true }).waitFor();
      await approve(await asha.act("Record customs' answer", { Evidence: reference }));
    },
    async importStatement(csv, people) {
      await asha.open("/bank");
      await asha.act("Read a statement", { "The bank's file": { file: csv } });
      const said = await asha.act("Import it");
      if (people === 2) {
        await approve(said);
        return {};
      }
      const [, outcome, , matched, queued] =
        /is (\w+): (\d+) lines, (\d+) matched, (\d+) unmatched/.exec(said) ?? assert.fail(said);
      return { outcome, matched: Number(matched), queued: Number(queued) };
    },
    async previewPaise() {
      await asha.open("/files");
      const due = asha.page.getByRole("table", { name: "Payments that are due" });
      const amount = await due.locator("tbody tr").last().locator("td").last().innerText();
      return parsePaise(amount.replace(/ \(.*$/, "")) ?? assert.fail(amount);
    },
    async makeFile() {
      await asha.open("/files");
      await approve(await asha.act("Create files"));
      await asha.open("/files");
      await asha.page.locator("tbody a").first().click();
      await asha.page.getByRole("heading", { name: "Payout file", exact: true }).waitFor();
      const payments = asha.page.getByRole("table", { name: "Payments of the file" });
      const reference = await payments.locator("tbody td").nth(1).innerText();
      const downloading = asha.page.waitForEvent("download");
      await asha.act("Download for the bank");
      const path = await (await downloading).path();
      return { text: await readFile(path, "utf8"), reference };
    },
    async readPayout() {
      await asha.open("/payouts");
      const cells = asha.page.locator("tbody tr").first().locator("td");
      return [await cells.nth(7).innerText(), await cells.nth(5).innerText()];
    },
    async reconcile() {
      const answered = asha.page.waitForResponse(/\/ops\/bank\/reconciliation/);
      await asha.open("/bank");
      return (await (await answered).json()) as object;
    },
  };
  return [office, [asha, ravi]];
}

test(
  "a live day in the console goes from a new desk to books that agree with the bank",
  { skip },
  async (t) => {
    const service = await startService(t);
    const [office, consoles] = await openByConsole(t, service);
    await haveDay(service, office);
    for (const { complaints, requests, page } of consoles) {
      assert.deepEqual(complaints(), []);
      const { origin } = new URL(page.url());
      assert.deepEqual(
        requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("blob:")),
        [],
      );
    }
  },
);
