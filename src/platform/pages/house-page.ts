// Who the house is, as HTML: the part of the public page that the operator's settings fill, and the
// pages of its terms and its words on privacy.

import { escapeHtml, renderMarkdown, resolveOutward } from "./markdown.ts";
import { writePage } from "./site.ts";

/** Who runs the desk, as the public page says it. */
export type Imprint = {
  readonly name: string;
  /** Lines. */
  readonly address: readonly string[];
  readonly gstin: string | null;
  readonly email: string | null;
  readonly phone: string | null;
};

/** What the house publishes about dealing with it, as Markdown; null until the operator wrote it. */
export type HousePapers = { readonly terms: string | null; readonly privacy: string | null };

/** What is missing of who the house is, in words for the public and for `doctor`. */
export function listMissing(
  { address, gstin, email, phone }: Imprint,
  { terms, privacy }: HousePapers,
): string[] {
  const missing: string[] = [];
  if (address.length === 0) missing.push("address");
  if (gstin === null) missing.push("GSTIN");
  if (email === null && phone === null) missing.push("contact");
  if (terms === null) missing.push("terms");
  if (privacy === null) missing.push("privacy");
  return missing;
}

export type HouseOnPage = { readonly imprint: Imprint; readonly papers: HousePapers };

const paperPages = [
  { name: "terms", path: "/terms", title: "Terms" },
  { name: "privacy", path: "/privacy", title: "Privacy" },
] as const;

/** The papers that the house has published. */
export function listPapers(papers: HousePapers): (typeof paperPages)[number][] {
  return paperPages.filter(({ name }) => papers[name] !== null);
}

/** The page with the marks `{{…}}` filled in. */
export function fillPage(page: string, { imprint, papers }: HouseOnPage): string {
  const values: Readonly<Record<string, string>> = {
    name: escapeHtml(imprint.name),
    imprint: writeImprint(imprint, papers),
    papers: listPapers(papers).map(writeLink).join(" "),
  };
  return page.replace(/\{\{(\w+)\}\}/g, (mark, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nothing fills ${mark} of the page`);
    return value;
  });
}

/** A page of Markdown that the operator wrote. */
export async function writePaper(
  text: string,
  { house, path, title }: { readonly house: string; readonly path: string; readonly title: string },
): Promise<string> {
  const rendered = await renderMarkdown(text, resolveOutward);
  const heading = rendered.title === "" ? title : rendered.title;
  return writePage({
    house,
    title: heading,
    description: `${heading} of ${house}.`,
    current: path,
    main: `<main class="wrap narrow prose" id="main"><h1>${escapeHtml(heading)}</h1>${rendered.html}</main>`,
  });
}

function writeImprint(imprint: Imprint, papers: HousePapers): string {
  const { name, address, gstin, email, phone } = imprint;
  const contact = [
    ...(email === null ? [] : [`<a href="mailto:${escapeHtml(email)}">${escapeHtml(email)}</a>`]),
    ...(phone === null
      ? []
      : [`<a href="tel:${escapeHtml(phone.replace(/[^\d+]/g, ""))}">${escapeHtml(phone)}</a>`]),
  ];
  const facts = [
    { name: "Name", html: [escapeHtml(name)] },
    { name: "Address", html: address.map(escapeHtml) },
    { name: "GSTIN", html: gstin === null ? [] : [escapeHtml(gstin)] },
    { name: "Contact", html: contact },
    { name: "Terms, privacy", html: listPapers(papers).map(writeLink) },
  ];
  const rows = facts.map(
    ({ name: term, html }) =>
      `<div><dt>${term}</dt><dd${html.length === 0 ? ' class="muted"' : ""}>${html.join("<br />") || "not published yet"}</dd></div>`,
  );
  const missing = listMissing(imprint, papers);
  const warning =
    missing.length === 0
      ? ""
      : `<p class="notice">This desk has not published its ${joinWords(missing)} yet. Ask for what you need to know before you deal.</p>`;
  return `<dl class="facts">${rows.join("")}</dl>${warning}`;
}

function writeLink({ path, title }: (typeof paperPages)[number]): string {
  return `<a href="${path}">${title}</a>`;
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}
