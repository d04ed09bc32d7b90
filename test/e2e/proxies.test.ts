// The proxy files of `deploy/` before a service on loopback, with only names, ports and certificate
// changed.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { request as plainRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";

import { selfSignedCertificate } from "../support/certificate.ts";
import { debianFile } from "../support/debian-program.ts";
import { freePort } from "../support/free-port.ts";
import { mintChild } from "../support/keys.ts";
import { registerWebhook, startReceiver } from "../support/receivers.ts";
import { scratchFolder } from "../support/scratch.ts";
import { startService } from "../support/service.ts";
import { deployFolder } from "../support/watching.ts";

type Places = {
  readonly folder: string;
  readonly servicePort: string;
  readonly plainPort: number;
  readonly port: number;
};

type Proxy = {
  readonly name: string;
  readonly program: string;
  /** Writes its files into the folder; the words that it is started with. */
  readonly prepare: (places: Places) => Promise<readonly string[]>;
};

/** Each is in the file; a change that finds nothing would test something else than what is delivered. */
function replaceEach(file: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    assert.ok(changed.includes(from), `the file has no "${from}"`);
    return changed.replaceAll(from, to);
  }, file);
}

const nginx: Proxy = {
  name: "nginx",
  program: "/usr/sbin/nginx",
  async prepare({ folder, servicePort, plainPort, port }) {
    const delivered = await readFile(join(deployFolder, "nginx.conf"), "utf8");
    const site = replaceEach(delivered, [
      ["127.0.0.1:8080", `127.0.0.1:${servicePort}`],
      ["    listen [::]:80;\n", ""],
      ["    listen [::]:443 ssl http2;\n", ""],
      ["listen 80;", `listen 127.0.0.1:${plainPort};`],
      ["listen 443 ", `listen 127.0.0.1:${port} `],
      ["trade.example.in", "localhost"],
      ["/etc/ssl/scripdesk/fullchain.pem", join(folder, "cert.pem")],
      ["/etc/ssl/scripdesk/privkey.pem", join(folder, "key.pem")],
    ]);
    await writeFile(join(folder, "site.conf"), site);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (kind) => `${kind}_temp_path ${join(folder, kind)};`,
    );
    const user = process.getuid?.() === 0 ? "user root;" : "";
    await writeFile(
      join(folder, "nginx.conf"),
      `${user} daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}
      http { access_log off; ${paths.join(" ")} include ${join(folder, "site.conf")}; }`,
    );
    return ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
  },
};

const caddy: Proxy = {
  name: "caddy",
  program: "/usr/bin/caddy",
  async prepare({ folder, servicePort, plainPort, port }) {
    const delivered = await readFile(join(deployFolder, "Caddyfile"), "utf8");
    const certificate = `tls ${join(folder, "cert.pem")} ${join(folder, "key.pem")}`;
    const site = replaceEach(delivered, [
      ["127.0.0.1:8080", `127.0.0.1:${servicePort}`],
      ["trade.example.in {", `localhost {\n\tbind 127.0.0.1\n\t${certificate}`],
    ]);
    const global = `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n\tskip_install_trust\n}\n`;
    await writeFile(join(folder, "Caddyfile"), `${global}\n${site}`);
    return ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  },
};

type Asked = {
  readonly method?: string;
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

/** Asks through the proxy from an address of loopback; resolves when the answer begins. */
async function open(
  url: string,
  { method = "GET", from = "127.0.0.1", headers = {}, body }: Asked = {},
): Promise<IncomingMessage> {
  const { protocol, port, pathname, search } = new URL(url);
  const options: RequestOptions = {
    host: "127.0.0.1",
    port,
    path: `${pathname}${search}`,
    method,
    localAddress: from,
    headers: { host: "localhost", ...headers },
    agent: false,
  };
  const secure = { ...options, servername: "localhost", rejectUnauthorized: false };
  const sent = protocol === "https:" ? secureRequest(secure) : plainRequest(options);
  // A proxy may answer before it has read a body that is too long.
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.on("error", () => {});
  sent.end(body);
  return (await answered)[0];
}

async function startProxy(t: TestContext, proxy: Proxy, servicePort: string) {
  const program = await debianFile(proxy.program, proxy.name);
  const certificate = await selfSignedCertificate();
  if ("missing" in program || !certificate) {
    t.skip("missing" in program ? program.missing : "openssl is missing");
    return undefined;
  }
  const folder = await scratchFolder(`scripdesk-${proxy.name}-`);
  t.after(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  await writeFile(join(folder, "cert.pem"), certificate.cert);
  await writeFile(join(folder, "key.pem"), certificate.key);
  const [plainPort, port] = [await freePort(), await freePort()];
  const words = await proxy.prepare({ folder, servicePort, plainPort, port });
  const child: ChildProcess = spawn(program.path, words, {
    env: { PATH: process.env["PATH"], HOME: folder, XDG_DATA_HOME: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, "close");
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const url = `https://localhost:${port}`;
  for (let look = 0; look < 400; look++) {
    const answer = await open(`${url}/healthz`).catch(() => undefined);
    answer?.resume();
    if (answer?.statusCode === 200) return { url, plainUrl: `http://localhost:${plainPort}` };
    assert.equal(child.exitCode, null, said);
    await sleep(25);
  }
  throw new Error(`${proxy.name} does not answer: ${said}`);
}

for (const proxy of [nginx, caddy]) {
  test(`behind ${proxy.name} callers keep their address, streams flow, and the service answers for itself`, async (t) => {
    const service = await startService(t, { trustProxy: ["127.0.0.1"] });
    const servicePort = new URL(service.url).port;
    const front = await startProxy(t, proxy, servicePort);
    if (!front) return;
    const { url, plainUrl } = front;
    const { api_key: key } = await service.issue();
    const { api_key: bound } = await mintChild(service, key, { ip_allowlist: ["127.0.0.2"] });
    const { api_key: live } = await service.issue({ environment: "live" });
    const ask = async (
      path: string,
      { key: of = key, ...asked }: Asked & { key?: string } = {},
    ) => {
      const headers = { "x-service-key": of, ...asked.headers };
      const answer = await open(`${url}${path}`, { ...asked, headers });
      return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
    };

    await t.test("an address is the caller's own, whatever the caller says", async () => {
      const from = async (address: string, forwarded?: string) =>
        (
          await ask("/v1/whoami", {
            key: bound,
            from: address,
            ...(forwarded !== undefined && { headers: { "x-forwarded-for": forwarded } }),
          })
        ).status;
      assert.equal(await from("127.0.0.2"), 200);
      assert.equal(await from("127.0.0.3"), 403);
      assert.equal(await from("127.0.0.3", "127.0.0.2"), 403, "a claim does not count");
      assert.equal(await from("127.0.0.2", "203.0.113.7"), 200);
    });

    await t.test("https is known as such, and plain http is sent on to it", async () => {
      const answer = await ask("/v1/whoami", { key: live, headers: { "x-request-id": "mine" } });
      assert.deepEqual([answer.status, answer.headers["x-request-id"]], [200, "mine"]);
      assert.equal(answer.headers["strict-transport-security"], "max-age=31536000");
      const plain = await open(`${plainUrl}/v1/whoami?a=1`);
      plain.resume();
      assert.equal(plain.statusCode, 308);
      assert.match(plain.headers.location ?? "", /^https:\/\/localhost.*\/v1\/whoami\?a=1$/);
    });

    await t.test("paths with colons arrive, and what is for operators is not there", async () => {
      for (const path of ["/v1/orders:batch", "/v1/orders%3Abatch"]) {
        const headers = { "content-type": "application/json" };
        const answer = await ask(path, { method: "POST", headers, body: '{"orders":[]}' });
        assert.equal(answer.status, 422, path);
      }
      for (const path of ["/metrics", "/ops/today", "/console"]) {
        assert.equal((await ask(path)).status, 404, path);
      }
    });

    await t.test("a body that is too long is refused in the service's words", async () => {
      const headers = { "content-type": "application/json" };
      const post = (bytes: number) =>
        ask("/v1/groups", {
          method: "POST",
          headers,
          body: JSON.stringify({ name: "x".repeat(bytes) }),
        });
      assert.equal((await post(1_000_000)).status, 422, "what the service takes reaches it");
      const refused = await post(1_200_000);
      assert.equal(refused.status, 413);
      assert.equal(JSON.parse(refused.text).error, "request_too_large");
      assert.equal((await post(3_000_000)).status, 413);
    });

    await t.test(
      "an event is in the stream while the stream is open, and at the receiver",
      async () => {
        const receiver = await startReceiver(t);
        const headers = { "x-service-key": key, accept: "text/event-stream" };
        const stream = await open(`${url}/v1/events/stream`, { headers });
        assert.equal(stream.statusCode, 200);
        const { webhook_id } = await registerWebhook(service, key, receiver.url);
        await service.send("POST", `/v1/webhooks/${webhook_id}/test`, { key, expect: 200 });
        let seen = "";
        for await (const piece of stream) {
          seen += String(piece);
          if (seen.includes("webhook.ping")) break;
        }
        stream.destroy();
        await service.work();
        assert.equal(receiver.received.length, 1);
      },
    );
  });
}

test("a service that does not know its proxy takes the proxy for the caller", async (t) => {
  const service = await startService(t);
  const front = await startProxy(t, nginx, new URL(service.url).port);
  if (!front) return;
  const { api_key: key } = await service.issue();
  const { api_key: bound } = await mintChild(service, key, { ip_allowlist: ["127.0.0.2"] });
  const headers = { "x-service-key": bound };
  const answer = await open(`${front.url}/v1/whoami`, { headers, from: "127.0.0.2" });
  answer.resume();
  assert.equal(answer.statusCode, 403);
});
