import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { findSerious } from "../support/axe.ts";
import { browser, chromiumMissing, visit } from "../support/chromium.ts";
import { readRuns } from "../support/random.ts";
import { fileScope } from "../support/scope.ts";
import { type Answer, readSlug, startService } from "../support/service.ts";

const skip = (await chromiumMissing()) ?? false;
const scope = fileScope();
const browse = browser(scope);
const service = await startService(scope);

type Described = {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<string, Record<string, { readonly summary: string; readonly tags: readonly string[] }>>
  >;
};

/** Every page below /docs, from the routes. */
const pages = service.app.routes
  .filter(({ method, path }) => method === "GET" && path.startsWith("/docs/"))
  .map(({ path }) => path)
  .filter((path) => !/\.\w+$/.test(path));

function readPolicy({ headers }: Answer): Map<string, string[]> {
  const policy = headers.get("content-security-policy") ?? "";
  return new Map(
    policy.split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ");
      return [name, sources] as const;
    }),
  );
}

test("/docs leads to pages whose policy lets the browser reach this service only", async () => {
  const { send } = service;
  const redirect = await send("GET", "/docs", { expect: 301 });
  assert.equal(redirect.headers.get("location"), "/docs/");
  for (const name of ["", "walk", "webhooks", "cross", "netting", "audit", "reference"]) {
    assert.ok(pages.includes(`/docs/${name}`), name);
  }
  for (const path of pages) {
    const page = await send("GET", path, { expect: 200 });
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/, path);
    const policy = readPolicy(page);
    assert.deepEqual(policy.get("default-src"), ["'none'"], path);
    for (const name of ["base-uri", "form-action", "frame-ancestors"]) {
      assert.deepEqual(policy.get(name), ["'none'"], `${path} ${name}`);
    }
    assert.deepEqual(policy.get("script-src"), ["'self'"], path);
    const isReference = path === "/docs/reference";
    const styles = isReference ? ["'self'", "'unsafe-inline'"] : ["'self'"];
    assert.deepEqual(policy.get("style-src"), styles, path);
    const scripts = [...page.text.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag);
    assert.ok(scripts.length > 0, path);
    for (const tag of scripts) assert.match(tag, /^<script src="\/docs\/js\/[\w.]+" defer>$/, path);
    assert.doesNotMatch(page.text, /style=| on\w+=|nonce|\{\{/, path);
    const held = { "if-none-match": page.headers.get("etag") ?? "" };
    await send("GET", path, { headers: held, expect: 304 });
    assert.equal(page.headers.get("cache-control"), "public, no-cache");
  }
  const script = await send("GET", "/docs/js/scalar.js", { expect: 200 });
  assert.match(script.headers.get("content-type") ?? "", /javascript/);
});

test("every link of the guides leads to a page, a file or a heading of this service", async () => {
  const { send } = service;
  const texts = new Map<string, string>();
  const read = async (path: string) => {
    const text = texts.get(path) ?? (await send("GET", path, { expect: 200 })).text;
    texts.set(path, text);
    return text;
  };
  const between = new Set<string>();
  for (const path of pages) {
    const text = await read(path);
    const links = [...text.matchAll(/<a\b[^>]* href="([^"]+)"/g)].map(([, to = ""]) => to);
    for (const link of links.filter((to) => !to.startsWith("https:"))) {
      const [target = "", anchor] = link.split("#");
      const found = await read(target === "" ? path : target);
      if (target.startsWith("/docs/") && target !== path) between.add(target);
      // The reference makes its headings in the browser.
      if (!anchor || target === "/docs/reference") continue;
      assert.ok(found.includes(`id="${anchor}"`), `${path}: ${link}`);
    }
  }
  assert.ok(between.has("/docs/verify-audit.mjs") && between.has("/docs/glossary"));
  const walk = await read("/docs/walk");
  assert.match(walk, /<a href="\/docs\/netting">/);
  assert.match(walk, /<pre tabindex="0"><code>curl -s \$URL\/v1\/firms -H &quot;X-Service-Key/);
});

test(
  "the pages read well to axe, in light and on a dark phone, and complain of nothing",
  { skip },
  async (t) => {
    const { url } = service;
    const phone = {
      viewport: { width: 390, height: 844 },
      isMobile: true,
      colorScheme: "dark",
    } as const;
    const ofPhone = ["color-contrast", "target-size", "scrollable-region-focusable"];
    for (const { look, rules } of [
      { look: {}, rules: undefined },
      { look: phone, rules: ofPhone },
    ]) {
      const { page, requests, complaints } = await browse(t, `${url}/docs/`, look);
      for (const path of pages.filter((one) => one !== "/docs/reference")) {
        await page.goto(`${url}${path}`);
        // The guides share one frame and its colours: `npm run test:long` judges each in the dark.
        const isJudged = rules === undefined || path === "/docs/walk" || readRuns(1) > 1;
        assert.deepEqual(isJudged ? await findSerious(page, rules) : [], [], path);
        const width = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(width, 0, `${path} scrolls sideways`);
      }
      for (const request of requests) assert.ok(request.startsWith(`${url}/`), request);
      assert.deepEqual(complaints, []);
    }
  },
);

test("an invalid Host header is 400, not 500", async () => {
  for (const host of ["%%%", "a b", "[::", ""]) {
    for (const path of ["/docs", "/docs/", "/docs/js/scalar.js"]) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.match(await text(socket), /^HTTP\/1.1 400 /, `${host} ${path}`);
    }
  }
  assert.equal(readSlug(await service.send("GET", "/docs/nothing", { expect: 404 })), "not_found");
});

test(
  "a browser that reaches this service only renders every group and the operations of the first",
  { skip },
  async (t) => {
    const { url, send } = service;
    const { tags, paths } = (await send("GET", "/v1/openapi.json", { expect: 200 }))
      .body as Described;
    const page = await visit(t, `${url}/docs/reference`);
    for (const { name } of tags) assert.ok(page.dom.includes(name), name);
    const [first] = tags;
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const shown = operations.filter((operation) => operation.tags.includes(first!.name));
    assert.ok(shown.length > 0);
    for (const { summary } of shown) assert.ok(page.dom.includes(summary), summary);
    assert.ok(page.dom.includes("X-Service-Key"), "the page asks for the key it will send");

    assert.ok(page.requests.includes(`${url}/v1/openapi.json`));
    for (const request of page.requests) assert.ok(request.startsWith(`${url}/`), request);
    assert.doesNotMatch(page.console, /Content Security Policy|Failed to load|Uncaught/i);
  },
);

test("control: the same visit finds a page that asks another host", { skip }, async (t) => {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<h1>Leaky</h1><script src="http://elsewhere.test/script.js"></script>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await visit(t, `${url}/`);
  assert.ok(page.dom.includes("Leaky"));
  assert.ok(page.requests.includes("http://elsewhere.test/script.js"));
});
