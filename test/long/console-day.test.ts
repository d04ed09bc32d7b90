// The live day in the console, in a real browser, by accessible roles and names: a dealer prices, a clerk
// settles, one admin issues keys, another approves, a viewer looks; and how often they press for each task.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";

import { parsePaise } from "../../web/money.js";
import { type Console, signInToConsole } from "../support/console.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { haveDay, mandate, type Office, twoFromPaise } from "../support/live-day.ts";
import { startOps } from "../support/ops.ts";
import { addPerson, type TestPerson } from "../support/people.ts";
import { fileScope } from "../support/scope.ts";
import { type Service, startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const browse = browser(fileScope());

/** How often they press, and how many fields they fill, for each task. */
class Presses {
  readonly tasks = new Map<string, { presses: number; fields: number }>();
  #presses = 0;
  #fields = 0;

  /** Links, buttons, boxes, choices and files are presses; what is typed is a field. */
  async follow({ page }: Console): Promise<void> {
    await page.exposeFunction("countPress", () => void (this.#presses += 1));
    await page.exposeFunction("countField", () => void (this.#fields += 1));
    await page.evaluate(`(() => {
      addEventListener("pointerdown", () => countPress(), true);
      addEventListener("change", ({ target }) => {
        if (target.matches("select, [type=file]")) countPress();
        else if (!target.matches("[type=checkbox], [type=radio]")) countField();
      }, true);
    })()`);
  }

  async of<Result>(task: string, work: () => Promise<Result>): Promise<Result> {
    const [presses, fields] = [this.#presses, this.#fields];
    const result = await work();
    const before = this.tasks.get(task);
    const now = { presses: this.#presses - presses, fields: this.#fields - fields };
    if (!before || before.presses < now.presses) this.tasks.set(task, now);
    return result;
  }
}

/** How many presses each task takes at most, its approval by the second person included. */
const pressesMost: Readonly<Record<string, number>> = {
  "issue a key": 6,
  "verify a firm": 4,
  "answer what is asked about a firm": 7,
  "authorize a firm": 4,
  "answer what is asked about a credit": 9,
  "publish a card": 10,
  "record customs' answer": 8,
  "import a statement": 10,
  "make and download a file": 11,
};

/** The pages of the menu. */
async function listMenu({ page }: Console): Promise<string[]> {
  const links = await page.locator(".side a").all();
  const paths = await Promise.all(links.map((link) => link.getAttribute("data-path")));
  return paths.flatMap((path) => path ?? []);
}

/** Every page of the menu, and one of each kind that its rows lead to, is one that the role may see. */
async function walkPages(console: Console): Promise<void> {
  const { page, go } = console;
  const open = async (path: string) => {
    await go(path);
    const refusal = page.locator("#page .notice[role=alert]:visible");
    assert.deepEqual(await refusal.allInnerTexts(), [], path);
  };
  const kinds = new Map<string, string>();
  for (const path of await listMenu(console)) {
    await open(path);
    for (const link of await page.locator("#page tbody a").all()) {
      const href = ((await link.getAttribute("href")) ?? "").replace("/console", "");
      kinds.set(href.replace(/[a-z]{3}_[0-9a-z]{26}.*/, "ID").replace(/\?.*/, ""), href);
    }
  }
  assert.ok(kinds.size >= 8, [...kinds.keys()].join());
  for (const href of kinds.values()) await open(href);
}

async function listActs(console: Console): Promise<string[]> {
  const acts: string[] = [];
  for (const path of await listMenu(console)) {
    await console.go(path);
    const words = await console.page.locator("#page button", { hasText: "…" }).allInnerTexts();
    acts.push(...words.map((one) => `${path} ${one}`));
  }
  return acts;
}

async function openByConsole(t: TestContext, service: Service) {
  const ops = await startOps(t, service, { twoOperatorsFromPaise: twoFromPaise });
  const ashaPerson = await addPerson(service, { name: "asha", role: "admin" });
  const raviPerson = await addPerson(service, { name: "ravi", role: "admin", by: [ashaPerson] });
  const by = [ashaPerson, raviPerson];
  const devPerson = await addPerson(service, { name: "dev", role: "dealer", by });
  const sitaPerson = await addPerson(service, { name: "sita", role: "settlement", by });
  const miraPerson = await addPerson(service, { name: "mira", role: "viewer", by });
  const signIn = (person: TestPerson) => signInToConsole(t, { browse, ops, person });
  const asha = await signIn(ashaPerson);
  const ravi = await signIn(raviPerson);
  const dev = await signIn(devPerson);
  const sita = await signIn(sitaPerson);
  const mira = await signIn(miraPerson);
  const consoles = { asha, ravi, dev, sita, mira };
  const presses = new Presses();
  for (const console of Object.values(consoles)) await presses.follow(console);

  /** By the menu, as people go. */
  const visit = async ({ page }: Console, name: string) => {
    await page.evaluate("document.querySelector('#page h1')?.setAttribute('data-former', '')");
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${name}( \\d|$)`) })
      .click();
    await page.locator("#page:not([aria-busy]) h1:not([data-former])", { hasText: name }).waitFor();
  };
  const visitFirm = async (firmId: string) => {
    await visit(sita, "Firms");
    await sita.page.locator(`#page a[href="/console/firms/${firmId}"]`).click();
    await sita.page.getByRole("heading", { name: "Account", exact: true }).waitFor();
  };
  /** Somebody proposed: the proposer cannot approve it, the other does. */
  const approve = async (proposer: Console, said: string) => {
    assert.match(said, /for somebody else/);
    // Not pressed: nobody has to look at their own proposal.
    await proposer.page
      .locator("#said")
      .getByRole("link", { name: "Approvals" })
      .dispatchEvent("click");
    await proposer.page.getByText("You proposed this").waitFor();
    assert.equal(await proposer.page.getByRole("button", { name: "Approve" }).count(), 0);
    await visit(ravi, "Approvals");
    await ravi.page.locator("#page tbody a").first().click();
    await ravi.page.getByRole("heading", { name: "Approval", exact: true }).waitFor();
    assert.equal(await ravi.act("Approve"), "Approved and carried out.");
  };
  const answerAll = async (fields: Parameters<Console["act"]>[1], people: 1 | 2) => {
    await visit(sita, "Questions");
    for (let left = await sita.page.locator("#page tbody tr").count(); left > 0; left--) {
      const said = await sita.act("Answer", fields);
      if (people === 2) {
        await approve(sita, said);
        await visit(sita, "Questions");
      }
      await sita.page
        .locator("#page tbody tr")
        .nth(left - 1)
        .waitFor({ state: "detached" });
    }
    await sita.page.getByText("No open questions.").waitFor();
  };
  const office: Office = {
    people: ["asha", "dev", "ravi", "sita"],
    firstCardTakes: 2,
    issueKey: (firm) =>
      presses.of("issue a key", async () => {
        await visit(asha, "Keys");
        await asha.act("Issue a key", {
          "Name of the desk": firm,
          Plan: { choose: "desk" },
          "May buy": true,
        });
        const key = await asha.page.getByRole("dialog").locator("code").innerText();
        await asha.page.getByRole("button", { name: "Done" }).click();
        return key;
      }),
    verifyFirm: (firmId) =>
      presses.of("verify a firm", async () => {
        await visitFirm(firmId);
        await sita.act("Verify");
      }),
    authorizeFirm: (firmId) =>
      presses.of("authorize a firm", async () => {
        await visitFirm(firmId);
        await sita.act("Authorize", {
          Signatory: mandate.signatory,
          "Mandate reference": mandate.reference,
          "Valid until": mandate.until,
        });
        await sita.page.getByText("authorized", { exact: true }).first().waitFor();
      }),
    confirmFirms: () =>
      presses.of("answer what is asked about a firm", () =>
        answerAll({ Evidence: "TICKET-1", "Failed check": { choose: "nothing" } }, 1),
      ),
    confirmCredits: () =>
      presses.of("answer what is asked about a credit", () =>
        answerAll({ Evidence: "ICEGATE-1", "The firm holds it": { choose: "yes" } }, 2),
      ),
    publishCard: (midBps, people) =>
      presses.of("publish a card", async () => {
        await visit(dev, "Board");
        const market = dev.page.getByRole("article", { name: "RoDTEP" });
        await market.getByRole("link", { name: /^Publish/ }).click();
        await dev.page.getByRole("heading", { name: /^Publish a card for/ }).waitFor();
        await dev.page.getByLabel("Mid").fill((midBps / 100).toFixed(2));
        await dev.page.getByRole("button", { name: "Preview" }).click();
        const said = await dev.act(people === 2 ? "Propose the card" : "Publish the card");
        if (people === 2) await approve(dev, said);
        await visit(dev, "Board");
        await market
          .getByText((midBps / 100).toFixed(2))
          .first()
          .waitFor();
      }),
    confirmTransfer: (settlementId, reference) =>
      presses.of("record customs' answer", async () => {
        await visit(sita, "Settlement queue");
        await sita.page.locator(`a[title="${settlementId}"]`).click();
        await sita.page.getByRole("heading", { name: "Settlement", exact: true }).waitFor();
        await approve(sita, await sita.act("Record customs' answer", { Evidence: reference }));
      }),
    importStatement: (csv, people) =>
      presses.of("import a statement", async () => {
        await visit(sita, "Bank");
        await sita.act("Read a statement", { "The bank's file": { file: csv } });
        const said = await sita.act("Import it");
        if (people === 2) {
          await approve(sita, said);
          return {};
        }
        const [, outcome, , matched, queued] =
          /is (\w+): (\d+) lines, (\d+) matched, (\d+) unmatched/.exec(said) ?? assert.fail(said);
        return { outcome, matched: Number(matched), queued: Number(queued) };
      }),
    async previewPaise() {
      await visit(sita, "Payout files");
      const due = sita.page.getByRole("table", { name: "Payments that are due" });
      const amount = await due.locator("tbody tr").last().locator("td").last().innerText();
      return parsePaise(amount.replace(/ \(.*$/, "")) ?? assert.fail(amount);
    },
    makeFile: () =>
      presses.of("make and download a file", async () => {
        await visit(sita, "Payout files");
        await approve(sita, await sita.act("Create files"));
        await visit(sita, "Payout files");
        const files = sita.page.getByRole("table", { name: "Payout files" });
        await files.locator("tbody a").first().click();
        await sita.page.getByRole("heading", { name: "Payout file", exact: true }).waitFor();
        const payments = sita.page.getByRole("table", { name: "Payments of the file" });
        const reference = await payments.locator("tbody td").nth(1).innerText();
        const downloading = sita.page.waitForEvent("download");
        await sita.act("Download for the bank");
        const path = await (await downloading).path();
        return { text: await readFile(path, "utf8"), reference };
      }),
    async readPayout() {
      await visit(sita, "Payouts");
      const cells = sita.page.locator("#page tbody tr").first().locator("td");
      return [await cells.nth(7).innerText(), await cells.nth(5).innerText()];
    },
    async reconcile() {
      const answered = sita.page.waitForResponse(/\/ops\/bank\/reconciliation/);
      await visit(sita, "Bank");
      return (await (await answered).json()) as object;
    },
  };
  return { office, consoles, presses };
}

test(
  "a live day of five roles goes from a new desk to books that agree with the bank",
  { skip },
  async (t) => {
    const service = await startService(t);
    const { office, consoles, presses } = await openByConsole(t, service);
    await haveDay(service, office);
    for (const [task, { presses: count, fields }] of presses.tasks) {
      t.diagnostic(`${task}: ${count} presses, ${fields} fields`);
    }
    const counted = [...presses.tasks].map(([task, { presses: count }]) => [task, count]);
    assert.deepEqual(Object.fromEntries(counted), pressesMost);
    for (const role of [consoles.mira, consoles.dev, consoles.sita]) await walkPages(role);
    const acts = await listActs(consoles.mira);
    assert.deepEqual(acts, ["/taxes Month's pack…"], "a viewer only reads");
    for (const { complaints, requests, page } of Object.values(consoles)) {
      assert.deepEqual(complaints(), []);
      const { origin } = new URL(page.url());
      assert.deepEqual(
        requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("blob:")),
        [],
      );
    }
  },
);
