// Sends mail over SMTP. A session is one connection that sends mails one after the other:
//
//   connect   greeting, TLS and sign-in. What fails here says nothing about a mail: `MailServerDown`
//   send      one mail; a refusal of its recipient or its text is a result
//
// Every step has a deadline, also against a server that answers a byte at a time. After anything but an
// accepted mail the session is over. What the server says while somebody signs in is not kept or logged:
// it may repeat credentials.

import { isLoopback } from "../kernel/networks.ts";

export type SmtpServer = {
  readonly host: string;
  readonly port: number | undefined;
  /** TLS from the first byte; otherwise STARTTLS where the server has it. */
  readonly secure: boolean;
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
};

type Mail = {
  readonly messageId: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
};

export type MailResult =
  | { readonly kind: "accepted"; readonly answer: string }
  | {
      readonly kind: "refused";
      readonly permanent: boolean;
      readonly reason: "refused" | "deferred" | "timeout" | "network";
      readonly answer: string;
    };

export type MailSession = {
  send(mail: Mail): Promise<MailResult>;
  close(): void;
};

export type MailServer = {
  /** `cut` ends the session at once, whatever it is doing. */
  connect(cut?: AbortSignal): Promise<MailSession>;
};

/** The server cannot be used now; it is no mail's fault. */
export class MailServerDown extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(`the mail server cannot be used: ${reason}`);
    this.reason = reason;
  }
}

const connectMs = 10_000;
const idleMs = 20_000;
const quitMs = 1_000;
const sessionMs = 30_000;
/** Longer than any honest server takes for one mail. */
export const mailDeadlineMs = 45_000;
const responseBytesMax = 65_536;
const answerLengthMax = 200;

export function openMailServer(server: SmtpServer): MailServer {
  return { connect: async (cut) => await connect(server, cut) };
}

async function connect(
  { host, port, secure, credentials }: SmtpServer,
  cut: AbortSignal | undefined,
): Promise<MailSession> {
  // Loaded only where mail is sent.
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const isLocal = host === "localhost" || isLoopback(host);
  const connection = new SMTPConnection({
    host,
    ...(port !== undefined && { port }),
    secure,
    // Nothing to protect on the way to this machine; otherwise a password never goes in the clear.
    ignoreTLS: isLocal,
    requireTLS: !isLocal && !secure && credentials !== undefined,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: idleMs,
    maxResponseSize: responseBytesMax,
    logger: false,
  });
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {}); // Also when nobody waits for it.
  connection.on("error", broken.reject);
  connection.on("end", () => broken.reject(new Error("the connection ended")));
  const end = () => {
    broken.reject(new MailServerDown("stopped"));
    connection.close();
  };
  if (cut?.aborted) end();
  cut?.addEventListener("abort", end);
  connection.on("end", () => cut?.removeEventListener("abort", end));
  const run = async <Result>(mostMs: number, start: Start<Result>) => {
    const done = Promise.withResolvers<Result | undefined>();
    const timer = setTimeout(() => done.reject(new Late()), mostMs);
    start((error, result) => (error ? done.reject(error) : done.resolve(result)));
    try {
      return await Promise.race([done.promise, broken.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    await run(sessionMs, (done) => connection.connect((error) => done(error ?? null)));
    if (credentials) await run(sessionMs, (done) => connection.login(credentials, done));
  } catch (error) {
    connection.close();
    throw error instanceof MailServerDown ? error : new MailServerDown(nameFailure(error));
  }
  return {
    async send(mail) {
      try {
        const message = await compose(mail);
        const envelope = { from: mail.from.address, to: [mail.to], size: message.length };
        const info = await run(mailDeadlineMs, (done: Done<{ response: string }>) =>
          connection.send(envelope, message, done),
        );
        return { kind: "accepted", answer: cleanAnswer(info?.response) };
      } catch (error) {
        connection.close();
        return classify(error);
      }
    },
    close() {
      connection.quit();
      setTimeout(() => connection.close(), quitMs).unref();
    },
  };
}

type Done<Result> = (error: Error | null, result?: Result) => void;
type Start<Result> = (done: Done<Result>) => void;

class Late extends Error {
  readonly code = "ETIMEDOUT";
}

/** Plain text only. Nothing is read from a file or an address, whatever a value looks like. */
async function compose({ from, to, date, headers, ...mail }: Mail): Promise<Buffer> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const composer = new MailComposer({
    ...mail,
    from,
    to: { name: "", address: to },
    date,
    headers,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}

type SmtpError = Error & {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
  readonly command?: string;
};

/** Throws when the server refuses the sender, or all mail for now. */
function classify(error: unknown): MailResult {
  if (error instanceof MailServerDown) throw error;
  const { responseCode: status, response, command, code } = error as SmtpError;
  const answer = cleanAnswer(response);
  if (status === undefined || status < 400) {
    const reason = code === "ETIMEDOUT" ? "timeout" : "network";
    return { kind: "refused", permanent: false, reason, answer };
  }
  if (status === 421) throw new MailServerDown("busy");
  if (command === "MAIL FROM") throw new MailServerDown("sender_refused");
  const permanent = status >= 500;
  return { kind: "refused", permanent, reason: permanent ? "refused" : "deferred", answer };
}

const failures: Readonly<Record<string, string>> = {
  EAUTH: "sign_in_refused",
  ENOAUTH: "sign_in_refused",
  ETIMEDOUT: "timeout",
  EDNS: "dns",
  ETLS: "tls",
};

function nameFailure(error: unknown): string {
  return failures[(error as SmtpError).code ?? ""] ?? "network";
}

function cleanAnswer(text = ""): string {
  return text
    .replaceAll(/\p{Cc}|�/gu, " ")
    .trim()
    .slice(0, answerLengthMax);
}
