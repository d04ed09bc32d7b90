// A mail server on loopback that keeps what it takes, and refuses what it is told to refuse.

import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";

import { SMTPServer } from "smtp-server";

import { newId } from "../../src/kernel/ids.ts";
import type { Service } from "./service.ts";

export type TakenMail = {
  readonly recipients: readonly string[];
  readonly from: string;
  /** Header lines as they arrived, without folding. */
  readonly head: readonly string[];
  readonly subject: string;
  readonly text: string;
  header(name: string): string | undefined;
};

export type TestMailServer = {
  readonly port: number;
  readonly mails: TakenMail[];
  /** How often it was signed in to, with which names. */
  readonly signedIn: string[];
  /** Takes mails from now on without saying so; the returned function lets it answer. */
  hold(): () => void;
  /** The reply to a recipient from now on; undefined takes everybody. */
  refuse(reply: ((email: string) => number | undefined) | undefined): void;
  down(): Promise<void>;
  up(): Promise<void>;
};

export async function startMailServer(
  t: Pick<TestContext, "after">,
  { credentials }: { readonly credentials?: { user: string; pass: string } } = {},
): Promise<TestMailServer> {
  const mails: TakenMail[] = [];
  const signedIn: string[] = [];
  let reply: ((email: string) => number | undefined) | undefined;
  let held: Promise<void> = Promise.resolve();
  const open = async (port: number) => {
    const server = new SMTPServer({
      authOptional: credentials === undefined,
      allowInsecureAuth: true,
      hideSTARTTLS: true,
      logger: false,
      closeTimeout: 100,
      onAuth({ username, password }, _session, done) {
        signedIn.push(username ?? "");
        const isKnown = username === credentials?.user && password === credentials?.pass;
        done(isKnown ? null : new Error("wrong"), { user: username });
      },
      onRcptTo({ address }, _session, done) {
        const code = reply?.(address);
        const error = Object.assign(new Error("no such mailbox"), { responseCode: code });
        done(code === undefined ? null : error);
      },
      onData(stream, { envelope }, done) {
        void buffer(stream).then(async (bytes) => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const recipients = envelope.rcptTo.map(({ address }) => address);
          mails.push({ from, recipients, ...readMail(bytes.toString()) });
          await held;
          done();
        });
      },
    });
    server.on("error", () => {}); // A client that leaves in the middle is no fault of a test.
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };
  const close = async (server: SMTPServer) =>
    await new Promise<void>((resolve) => server.close(resolve));
  let server: SMTPServer | undefined = await open(0);
  const { port } = server.server.address() as AddressInfo;
  t.after(async () => {
    if (server) await close(server);
  });
  return {
    port,
    mails,
    signedIn,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = Promise.resolve();
        resolve();
      };
    },
    refuse: (next) => void (reply = next),
    async down() {
      if (server) await close(server);
      server = undefined;
    },
    async up() {
      server ??= await open(port);
    },
  };
}

function readMail(text: string) {
  const end = text.indexOf("\r\n\r\n");
  const head = text
    .slice(0, end)
    .replaceAll(/\r\n[ \t]/g, " ")
    .split("\r\n");
  const header = (name: string) =>
    head
      .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
      ?.slice(name.length + 2);
  const body = text.slice(end + 4).replaceAll("\r\n", "\n");
  const encoding = header("Content-Transfer-Encoding");
  return {
    head,
    header,
    subject: decodeWords(header("Subject") ?? ""),
    text:
      encoding === "quoted-printable"
        ? decodeQuoted(body.replaceAll("=\n", ""))
        : decodeOther(body, encoding),
  };
}

function decodeOther(body: string, encoding: string | undefined): string {
  return encoding === "base64" ? Buffer.from(body, "base64").toString() : body;
}

function decodeQuoted(text: string): string {
  const bytes = text.replaceAll(/=([0-9A-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

function decodeWords(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, form: string, value: string) =>
      form.toLowerCase() === "b"
        ? Buffer.from(value, "base64").toString()
        : decodeQuoted(value.replaceAll("_", " ")),
    );
}

/** What an address was sent, as subjects. */
export function subjectsTo({ mails }: TestMailServer, email: string): string[] {
  return mails.filter(({ recipients }) => recipients.includes(email)).map(({ subject }) => subject);
}

/** Only the workers of notices, which are quicker than all. */
export async function workNotices({ workers }: Pick<Service, "workers">): Promise<void> {
  for (const { name, work, settled } of workers()) {
    if (!name.startsWith("notice")) continue;
    while ((await work()) === "more") await settled?.();
  }
}

/** A notice that the mail server refused for good, or that waits. */
export async function addNotice(
  { ctx }: Pick<Service, "ctx">,
  addressId: string,
  { state = "dead", number = 1 }: { readonly state?: "dead" | "waiting"; number?: number } = {},
) {
  const noticeId = newId("ntc", ctx.now());
  await ctx.db.pool.query(
    `insert into notices
    select $1, address_id, environment, desk_id, 'payout.paid', $4, $4, 1, 'Paid out ₹1,000.00',
      'These payouts reached the bank account on record.', $5, 'refused',
      '550 5.1.1 no such mailbox', 1, 1, $3, $3, 1, $3, $3
    from notice_addresses
    where address_id = $2`,
    [noticeId, addressId, ctx.now(), number, state],
  );
  return noticeId;
}
