import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { chromiumMissing, visit } from "./support/chromium.ts";
import { type Answer, slugOf, startService } from "./support/service.ts";

const skip = (await chromiumMissing()) ?? false;

type Described = {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<string, Record<string, { readonly summary: string; readonly tags: readonly string[] }>>
  >;
};

function nonceIn({ headers }: Answer): string | undefined {
  return /'nonce-([^']+)'/.exec(headers.get("content-security-policy") ?? "")?.[1];
}

test("/docs leads to a page whose policy lets the browser reach this service only", async (t) => {
  const { send } = await startService(t);
  const redirect = await send("GET", "/docs", { expect: 301 });
  assert.equal(redirect.headers.get("location"), "/docs/");
  const page = await send("GET", "/docs/", { expect: 200 });
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  const policy = page.headers.get("content-security-policy") ?? "";
  const directives = new Map(
    policy.split("; ").map((directive) => {
      const [name, ...sources] = directive.split(" ");
      return [name, sources] as const;
    }),
  );
  assert.deepEqual(directives.get("default-src"), ["'none'"]);
  for (const name of ["base-uri", "form-action", "frame-ancestors"]) {
    assert.deepEqual(directives.get(name), ["'none'"], name);
  }
  const harmless = /^('self'|'none'|'unsafe-inline'|'nonce-[A-Za-z0-9+/=]+'|data:)$/;
  for (const source of [...directives.values()].flat()) assert.match(source, harmless);
  assert.equal(directives.get("script-src")?.includes("'unsafe-inline'"), false);
  assert.equal(page.text.includes("://"), false, "the page names no other address");
  const nonce = nonceIn(page);
  assert.ok(nonce && page.text.includes(`nonce="${nonce}"`), "the page's own script may run");
  const again = await send("GET", "/docs/", { expect: 200 });
  assert.notEqual(nonceIn(again), nonce);
  assert.equal(again.headers.get("cache-control"), "no-store");
  const script = await send("GET", "/docs/js/scalar.js", { expect: 200 });
  assert.match(script.headers.get("content-type") ?? "", /javascript/);
});

test("an invalid Host header is 400, not 500", async (t) => {
  const service = await startService(t);
  for (const host of ["%%%", "a b", "[::", ""]) {
    for (const path of ["/docs", "/docs/", "/docs/js/scalar.js"]) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.match(await text(socket), /^HTTP\/1.1 400 /, `${host} ${path}`);
    }
  }
  assert.equal(slugOf(await service.send("GET", "/docs/nothing", { expect: 404 })), "not_found");
});

test(
  "a browser that reaches this service only renders every group and the operations of the first",
  { skip },
  async (t) => {
    const { url, send } = await startService(t);
    const { tags, paths } = (await send("GET", "/v1/openapi.json", { expect: 200 }))
      .body as Described;
    const page = await visit(t, `${url}/docs`);
    for (const { name } of tags) assert.ok(page.dom.includes(name), name);
    const [first] = tags;
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const shown = operations.filter((operation) => operation.tags.includes(first!.name));
    assert.ok(shown.length > 0);
    for (const { summary } of shown) assert.ok(page.dom.includes(summary), summary);
    assert.ok(page.dom.includes("X-Service-Key"), "the page asks for the key it will send");

    assert.deepEqual(page.requests.slice(0, 4), [
      `${url}/docs`,
      `${url}/docs/`,
      `${url}/docs/js/scalar.js`,
      `${url}/v1/openapi.json`,
    ]);
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
