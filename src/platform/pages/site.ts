// What the pages around the public one share: head, bar at the top, foot.

import { escapeHtml } from "./markdown.ts";

type PageText = {
  /** Whose pages these are. */
  readonly house: string;
  readonly title: string;
  readonly description: string;
  /** The address of the link in the bar that is this page's own. */
  readonly current: string;
  /** HTML between bar and foot. */
  readonly main: string;
  readonly styles?: readonly string[];
  /** HTML at the end of the head. */
  readonly head?: string;
};

const commonStyles = ["/web/look.css", "/web/docs.css"];

const links = [
  { href: "/", text: "Rates" },
  { href: "/docs/", text: "Guides" },
  { href: "/docs/reference", text: "API reference" },
];

export function writePage({
  house,
  title,
  description,
  current,
  main,
  styles = commonStyles,
  head,
}: PageText): string {
  const bar = links.map(({ href, text }) => {
    const mark = href === current ? ' aria-current="page"' : "";
    return `<a href="${href}"${mark}>${text}</a>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)} · ${escapeHtml(house)}</title>
    <meta name="description" content="${escapeHtml(description)}" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="/web/icon.svg" type="image/svg+xml" />
    ${styles.map((href) => `<link rel="stylesheet" href="${href}" />`).join("")}
    ${head ?? ""}
  </head>
  <body>
    <a class="skip" href="#main">Skip to the text</a>
    <header class="top">
      <div class="wrap top-row">
        <a class="brand" href="/">
          <img src="/web/icon.svg" alt="" width="28" height="28" />
          <span>${escapeHtml(house)}</span>
        </a>
        <nav class="bar" aria-label="Site">${bar.join("")}</nav>
      </div>
    </header>
    ${main}
  </body>
</html>
`;
}
