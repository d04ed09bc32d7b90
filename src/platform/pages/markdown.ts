// Markdown as HTML, for the guides and for what the house publishes. HTML inside the text is shown as
// text, and links lead only where `resolveLink` says.

import type { Tokens } from "marked";

type RenderedText = {
  /** The first heading, or nothing. */
  readonly title: string;
  /** What follows the title. */
  readonly html: string;
  /** Headings of the second level, with the ids that links name them by. */
  readonly headings: readonly { readonly id: string; readonly text: string }[];
};

/** Where a link leads; undefined leaves its words without a link. */
export type ResolveLink = (href: string) => string | undefined;

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Addresses of the web, of mail and telephone, and of this service. */
export function resolveOutward(href: string): string | undefined {
  return /^(?:https?:\/\/|mailto:|tel:|\/(?!\/)|#)/i.test(href) ? href : undefined;
}

export async function renderMarkdown(
  text: string,
  resolveLink: ResolveLink,
): Promise<RenderedText> {
  const { Marked } = await import("marked"); // Loaded for the first page, because few starts need it.
  let title = "";
  const headings: { id: string; text: string }[] = [];
  const taken = new Map<string, number>();

  function makeId(words: string): string {
    const id = words
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const before = taken.get(id) ?? 0;
    taken.set(id, before + 1);
    return before === 0 ? id : `${id}-${before}`;
  }

  const marked = new Marked({ gfm: true, async: false });
  marked.use({
    renderer: {
      heading({ tokens, depth, text: source }) {
        const words = source.replaceAll("`", "");
        const id = makeId(words);
        if (depth === 1 && title === "") {
          title = words;
          return "";
        }
        if (depth === 2) headings.push({ id, text: words });
        return `<h${depth} id="${escapeHtml(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      html({ text: source }) {
        return escapeHtml(source);
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = resolveLink(href);
        if (to === undefined) return words;
        const isElsewhere = /^https?:/i.test(to);
        return `<a href="${escapeHtml(to)}"${isElsewhere ? ' rel="noopener noreferrer"' : ""}>${words}</a>`;
      },
      image({ text: words }) {
        return escapeHtml(words);
      },
      code({ text: source }) {
        // What may scroll sideways must be reached by the keyboard.
        return `<div class="code"><pre tabindex="0"><code>${escapeHtml(source)}\n</code></pre></div>\n`;
      },
      table(token) {
        return `<div class="table" tabindex="0">${writeTable(token, (cell) => this.parser.parseInline(cell.tokens))}</div>\n`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { title, html, headings };
}

function writeTable(
  { header, rows }: Tokens.Table,
  write: (cell: Tokens.TableCell) => string,
): string {
  const head = header.map((cell) => `<th scope="col">${write(cell)}</th>`).join("");
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${write(cell)}</td>`).join("")}</tr>`,
  );
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}
