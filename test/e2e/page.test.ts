// The page for people in a real browser: what it loads, what it shows and what it sends.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import type { Page } from "playwright-core";

import { listEnquiries } from "../../src/market/answer-enquiries.ts";
import { formatRupees } from "../../web/money.js";
import { findSerious } from "../support/axe.ts";
import { browser, chromiumMissing } from "../support/chromium.ts";
import { dealForDays, openLiveMarket } from "../support/public.ts";
import { fileScope } from "../support/scope.ts";
import { startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const laptop = { viewport: { width: 1366, height: 768 } };
const phone = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 3,
  isMobile: true,
  hasTouch: true,
};

const scope = fileScope();
const browse = browser(scope);
/** A live market with a past, and budgets for more visitors than all tests are. */
const market = await startService(scope, {
  publicBudgets: { rates: { perMinute: 1_000 }, enquiry: { perMinute: 1_000 } },
});
await openLiveMarket(market);
await dealForDays(market, 120);

/** How many pixels of a canvas are not empty. */
async function paintedPixels(page: Page, selector: string): Promise<number> {
  return await page.locator(`${selector} canvas`).evaluateAll((canvases) => {
    type Canvas = {
      width: number;
      height: number;
      getContext(kind: "2d"): {
        getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray };
      };
    };
    return (canvases as unknown as Canvas[]).reduce((painted, canvas) => {
      if (canvas.width === 0 || canvas.height === 0) return painted;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return painted + data.filter((value, at) => at % 4 === 3 && value > 0).length;
    }, 0);
  });
}

test("the page is served whole from here, tagged, under a policy that allows nothing else", async () => {
  const { app, send } = market;
  const parts = app.routes
    .filter(({ method, path }) => method === "GET" && (path === "/" || path.startsWith("/web/")))
    .map(({ path }) => path);
  assert.ok(parts.length > 5);
  for (const path of parts) {
    const answer = await send("GET", path, { expect: 200 });
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
    assert.doesNotMatch(policy, /unsafe|nonce|http|data:|\*/, path);
    assert.equal(answer.headers.get("cache-control"), "public, no-cache", path);
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer", path);
    const etag = answer.headers.get("etag") ?? "";
    const hash = createHash("sha256").update(answer.text).digest("base64url");
    assert.equal(etag, `"${hash.slice(0, 22)}"`, "by its bytes, so that every node says the same");
    for (const held of [etag, `"other", W/${etag}`, "*"]) {
      await send("GET", path, { headers: { "if-none-match": held }, expect: 304 });
    }
    const part = await send("GET", path, { headers: { range: "bytes=0-1" }, expect: 200 });
    assert.equal(part.text, answer.text, "whole, whatever is asked for");
  }
  const page = await send("GET", "/", { expect: 200 });
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.doesNotMatch(page.text, /<style|style=|<script(?! type="module" src="\/web\/)| on\w+=/);
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, to = ""]) => to);
  const elsewhere = addresses.filter((to) => !/^[/#]/.test(to));
  assert.deepEqual(elsewhere, ["mailto:desk@house.example", "https://www.tradingview.com/"]);
});

test(
  "the page shows today's figures and their history, and asks no other host",
  { skip },
  async (t) => {
    const { url, send } = market;
    const { page, requests, complaints } = await browse(t, url, laptop);
    for (const chart of await page.locator(".chart").all()) {
      const box = await chart.boundingBox();
      assert.ok(box && box.y + box.height <= 768, "the charts are above the fold of a laptop");
    }
    const { timetable } = (await send("GET", "/public/house", { expect: 200 })).body;
    assert.equal(timetable.transferred_by, "2026-11-19T17:30:00.000+05:30");
    await page.getByText("by Thu 19 Nov 2026, 17:30 IST at the latest").waitFor();
    await page.getByText("A quote binds the house for 2 minutes").waitFor();
    assert.deepEqual(await findSerious(page), []);
    const { rates } = (await send("GET", "/public/rates", { expect: 200 })).body;
    for (const [at, name] of ["RoDTEP", "RoSCTL"].entries()) {
      const card = page.locator(".card", { has: page.getByRole("heading", { name }) });
      const shown = await card.locator(".value").textContent();
      assert.equal(shown, (rates[at].index_bps / 100).toFixed(2));
      const label = await card.getByRole("img").getAttribute("aria-label");
      assert.match(label ?? "", new RegExp(`^${name} index from .* to 15 Nov 2026: between`));
      assert.ok((await paintedPixels(page, `.card[data-scheme="${rates[at].scheme}"]`)) > 1_000);
      await card.getByText("The last days as a table").click();
      assert.equal(await card.locator("details tr").count(), 11);
    }
    await page.getByRole("radio", { name: "1 year" }).check();
    await page.getByText("How the index is made").click();
    await page.locator("#method li").first().waitFor();
    for (const request of requests) assert.ok(request.startsWith(`${url}/`), request);
    assert.deepEqual(complaints, []);
  },
);

test("control: a violation of the page's policy is reported", { skip }, async (t) => {
  const { page, complaints } = await browse(t, market.url);
  assert.deepEqual(complaints, []);
  await page.evaluate("document.body.append(document.createElement('style'))");
  await page.evaluate("document.querySelector('body > style').textContent = 'p { color: red }'");
  assert.match(complaints.join("\n"), /Content Security Policy/);
});

test(
  "a fresh install shows the sandbox, labelled, and the live market once there is one",
  { skip },
  async (t) => {
    const service = await startService(t);
    const { page, complaints } = await browse(t, service.url, laptop);
    await page.getByText("This desk has not opened its live market yet.").waitFor();
    assert.equal(await page.getByText("sandbox preview", { exact: true }).count(), 2);
    assert.ok((await paintedPixels(page, '.card[data-scheme="RODTEP"]')) > 1_000);
    await page.getByLabel("Face value to sell").first().fill("50 lakh");
    await page.getByRole("button", { name: "Show the range" }).click();
    await page.getByText("Sandbox preview: by a simulated rate card").waitFor();
    assert.deepEqual(await findSerious(page), []);
    assert.deepEqual(complaints, []);
    await openLiveMarket(service);
    service.clock.advance({ seconds: 10 });
    const later = await browse(t, service.url);
    assert.equal(await later.page.locator(".value").first().textContent(), "98.50");
    assert.equal(await later.page.locator("#preview").isVisible(), false);
  },
);

test(
  "the calculator shows the estimate of the API, to the paisa, for both sides",
  { skip },
  async (t) => {
    const { url, send } = market;
    const { page, complaints } = await browse(t, url);
    const amount = page.getByLabel("Face value to sell").first();
    await amount.pressSequentially("2345678.9");
    assert.equal(await amount.inputValue(), "23,45,678.9");
    assert.equal(await page.locator("#estimate-amount-hint").textContent(), "₹ 23.45 lakh");
    await page.getByRole("radio", { name: "RoSCTL" }).check();
    await page.getByLabel("The credit expires on").fill("2027-01-14");
    for (const [side, label, more] of [
      ["sell", "sell credits", "&expires_on=2027-01-14"],
      ["buy", "cover duty", ""],
    ] as const) {
      await page.getByRole("radio", { name: label }).check();
      assert.equal(await page.locator(".result-range").count(), 0, "an answer goes with its side");
      const asked = `side=${side}&scheme=ROSCTL&amount_paise=234567890${more}`;
      const { body } = await send("GET", `/public/enquiry/estimate?${asked}`, { expect: 200 });
      const answered = page.waitForResponse((response) => response.url().endsWith(asked));
      await page.getByRole("button", { name: "Show the range" }).click();
      await answered;
      const range = `₹${formatRupees(body.low_paise)} – ₹${formatRupees(body.high_paise)}`;
      await page.getByText(range).waitFor();
      assert.match((await page.locator("#estimate-result").textContent()) ?? "", /not an offer/);
    }
    assert.equal(await page.getByText("less than paying the duty in cash").count(), 1);
    assert.equal(await page.getByLabel("The credit expires on").isVisible(), false);
    const duty = page.getByLabel("Duty to cover").first();
    await duty.fill("1.2 crore");
    assert.equal(await page.locator("#estimate-amount-hint").textContent(), "₹ 1.2 crore");
    await duty.blur();
    assert.equal(await duty.inputValue(), "1,20,00,000");
    await duty.fill("fifty lakh");
    await page.getByRole("button", { name: "Show the range" }).click();
    assert.equal(await page.locator("#estimate-amount").getAttribute("aria-invalid"), "true");
    assert.match(
      (await page.locator("#estimate-amount-problem").textContent()) ?? "",
      /^“fifty lakh” is no amount of rupees\. Write one such as/,
    );
    assert.deepEqual(complaints, []);
  },
);

test(
  "an enquiry is sent with the keyboard alone and ends in its reference",
  { skip },
  async (t) => {
    const { page, complaints } = await browse(t, market.url);
    await page.locator("#estimate-amount").fill("25,00,000.50");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Ask the desk for a price" }).press("Enter");
    assert.equal(await page.locator("#enquiry-amount").inputValue(), "25,00,000.50");
    assert.equal(await page.evaluate("document.activeElement.id"), "enquiry-name");
    await page.keyboard.type("Asha Rao");
    await page.keyboard.press("Tab");
    await page.keyboard.type("asha@acme");
    await page.keyboard.press("Enter");
    assert.match((await page.locator("#enquiry-consent-problem").textContent()) ?? "", /consent/);
    assert.equal(await page.evaluate("document.activeElement.id"), "enquiry-consent");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Send the enquiry" }).press("Enter");
    await page.getByText("This must be an email address.").waitFor();
    assert.equal(await page.evaluate("document.activeElement.id"), "enquiry-email");
    await page.keyboard.type(".example");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your enquiry has arrived" }).waitFor();
    const ref = await page.locator("#enquiry-ref").textContent();
    const [enquiry] = await listEnquiries(market.ctx, { status: "received", limit: 2 });
    assert.equal(enquiry?.enquiry_ref, ref);
    assert.equal(enquiry?.kind, "sell");
    assert.equal(enquiry?.amount_paise, 250_000_050);
    assert.equal(enquiry?.email, "asha@acme.example");
    // The browser itself notes the refusal that the form then explains.
    assert.deepEqual(
      complaints.filter((text) => !text.includes("status of 422")),
      [],
    );
  },
);

test("any enquiry can be sent, and a throttled one shows when to retry", { skip }, async (t) => {
  const service = await startService(t, {
    publicBudgets: { rates: { perMinute: 60 }, enquiry: { perMinute: 1 } },
  });
  const { page } = await browse(t, service.url);
  const send = async (message: string) => {
    await page.getByRole("radio", { name: "something else" }).check();
    await page.getByLabel("Name").fill("Asha Rao");
    await page.getByLabel("Email").fill("asha@acme.example");
    await page.getByLabel("Message").fill(message);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Send the enquiry" }).click();
  };
  await send("First");
  await page.getByText("Your enquiry has arrived").waitFor();
  await page.getByRole("button", { name: "Send another one" }).click();
  await send("Second");
  await page
    .getByText("Too many requests from your network. Please try again in a minute.")
    .waitFor();
  assert.equal(
    await page.getByLabel("Message").inputValue(),
    "Second",
    "nothing that was typed is lost",
  );
  const [only, ...others] = await listEnquiries(service.ctx, { status: null, limit: 5 });
  assert.equal(only?.message, "First");
  assert.deepEqual(others, []);
});

test(
  "the page fits a phone of 360 pixels in every state, in light and in dark",
  { skip },
  async (t) => {
    const { url } = market;
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await browse(t, url, { ...phone, colorScheme });
      const width = async () => await page.evaluate("document.documentElement.scrollWidth");
      assert.equal(await width(), 360);
      const sharpness = await page
        .locator(".chart canvas")
        .first()
        .evaluate((canvas) => {
          const { width: pixels, clientWidth } = canvas as unknown as Record<string, number>;
          return (pixels ?? 0) / (clientWidth ?? 1);
        });
      assert.ok(sharpness > 2.9, "a pixel of the chart is a pixel of the screen");
      await page.locator("#estimate-amount").fill("14,99,99,999.55");
      await page.getByRole("button", { name: "Show the range" }).click();
      await page.locator(".result-range").waitFor();
      for (const summary of await page.locator("summary").all()) await summary.click();
      await page.locator("#method li").first().waitFor();
      await page.getByRole("button", { name: "Send the enquiry" }).click();
      await page.locator("#enquiry-name-problem").waitFor();
      assert.equal(await width(), 360);
      assert.ok((await paintedPixels(page, '.card[data-scheme="RODTEP"]')) > 1_000);
      assert.deepEqual(complaints, []);
    }
  },
);

test("every control has a name, and text has enough contrast", { skip }, async (t) => {
  const { url } = market;
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await browse(t, url, { colorScheme });
    for (const control of await page.locator("input, select, textarea, button").all()) {
      const name = await control.evaluate((element) => {
        const { labels, textContent } = element as unknown as {
          labels: ArrayLike<{ textContent: string }> | null;
          textContent: string;
        };
        return (labels?.[0]?.textContent ?? textContent).trim();
      });
      assert.notEqual(name, "");
    }
    const ratios = await page.evaluate<{ text: string; ratio: number }[]>(contrastRatios);
    assert.ok(ratios.length > 40);
    const faint = ratios.filter(({ ratio }) => ratio < 4.5);
    assert.deepEqual(faint, [], colorScheme);
  }
});

/** In the page: each visible text with its contrast to the nearest opaque ground behind it. */
const contrastRatios = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")]
    .filter((element) => element.checkVisibility() && !element.closest("canvas, noscript, .chart"))
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ""))
    .map((element) => {
      const [ink, paper] = [channels(getComputedStyle(element).color), ground(element)].map(luminance);
      const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      return { text: element.textContent.trim().slice(0, 40), ratio: Math.round(ratio * 100) / 100 };
    });
})()`;
