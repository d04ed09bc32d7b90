// Stopping notices from the mail itself. Programs that check links open them, so opening one only shows a
// page that asks; the page's button, or the one-click request of a mail program (RFC 8058), is a POST.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import type { Visit } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import type { FormPage } from "../platform/pages/forms.ts";
import { keyFor } from "../platform/master-key.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { splitSealKeys } from "../platform/seal.ts";
import { type AddressRow, findAddress, lockAddress, setAddress } from "./address-store.ts";
import { describeAddressChange } from "./manage-addresses.ts";
import { maskAddress, type OptOut, occasionWords, openOptOut, signOptOut } from "./rules.ts";

export const optOutPath = "/public/notices/opt-out";

export function buildOptOutLink(
  ctx: Pick<Context, "sealKey">,
  publicUrl: string,
  optOut: OptOut,
): string {
  const [key] = listKeys(ctx);
  if (!key) throw new Error("there is a key to sign with");
  return `${publicUrl}${optOutPath}?token=${signOptOut(optOut, key)}`;
}

export async function askToOptOut(
  ctx: Pick<Context, "db" | "sealKey">,
  page: string,
  token: string,
): Promise<FormPage> {
  const opened = await openLink(ctx, ctx.db, token);
  if (!opened) return fillPage(page, invalidLink);
  const { address, occasion } = opened;
  const isDone = address.opted_out.includes(occasion);
  const text = describe(address, occasion);
  if (isDone) return fillPage(page, { title: "These notices are stopped", text });
  return fillPage(page, { title: "Stop these notices?", text, form: "show" });
}

/** Sent twice, it changes nothing more. */
export async function optOut(
  ctx: Pick<Context, "db" | "now" | "sealKey">,
  { requestId, dryRun }: Visit,
  { page, token }: { readonly page: string; readonly token: string },
): Promise<FormPage> {
  const now = ctx.now();
  const visitor: Actor = { kind: "visitor", id: "opt-out", requestId };
  return await ctx.db.transaction(
    async (tx) => {
      const opened = await openLink(ctx, tx, token);
      const [before] = opened ? await lockAddress(tx, [opened.address.address_id]) : [];
      if (!opened || !before) return fillPage(page, invalidLink);
      const { occasion } = opened;
      if (!before.opted_out.includes(occasion)) {
        const opted_out = [...before.opted_out, occasion];
        const after = { ...before, opted_out, version: before.version + 1, updated_at: now };
        await setAddress(tx, after);
        await recordChanges(tx, visitor, [describeAddressChange("opt_out", after)], now);
      }
      const text = `${describe(before, occasion)} We can turn them on again for you.`;
      return fillPage(page, { title: "These notices are stopped", text });
    },
    { rollBack: dryRun },
  );
}

type Opened = { readonly address: AddressRow; readonly occasion: OptOut["occasion"] };

async function openLink(
  ctx: Pick<Context, "sealKey">,
  db: Db,
  token: string,
): Promise<Opened | undefined> {
  const opened = openOptOut(token, listKeys(ctx));
  const address = opened && (await findAddress(db, opened.addressId));
  return address && { address, occasion: opened.occasion };
}

const invalidLink = {
  title: "This link is not valid",
  text: "Please use the link of a newer notice, or ask us to stop them.",
  status: 404,
} as const;

function describe({ email }: AddressRow, occasion: OptOut["occasion"]): string {
  return `Notices to ${maskAddress(email)} when ${occasionWords[occasion]}.`;
}

/** The key that signs is the first; during a change of the master key the other one opens too. */
function listKeys({ sealKey }: Pick<Context, "sealKey">): Buffer[] {
  return splitSealKeys(sealKey).map((key) => keyFor("notice opt-outs", key));
}

function fillPage(
  page: string,
  {
    title,
    text,
    status = 200,
    form = "hide",
  }: {
    readonly title: string;
    readonly text: string;
    readonly status?: number;
    readonly form?: "show" | "hide";
  },
): FormPage {
  const shown = form === "show" ? page : page.replace(/<form[\s\S]*<\/form>/, "");
  const words: Readonly<Record<string, string>> = { title, text };
  const html = shown.replaceAll(/\{(title|text)\}/g, (_, name: string) =>
    escapeHtml(words[name] ?? ""),
  );
  return { status, html };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
