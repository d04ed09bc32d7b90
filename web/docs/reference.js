// Starts the renderer of the reference, which scalar.js has brought, with the look of the pages.

const css = `
  .light-mode, .dark-mode {
    --scalar-custom-header-height: 4rem;
    --scalar-font: inherit;
    --scalar-color-1: var(--ink);
    --scalar-color-2: var(--muted);
    --scalar-color-3: var(--muted);
    --scalar-color-accent: var(--accent);
    --scalar-background-1: var(--surface);
    --scalar-background-2: var(--raised);
    --scalar-background-3: var(--band);
    --scalar-background-accent: var(--accent-soft);
    --scalar-border-color: var(--line);
    --scalar-sidebar-background-1: var(--paper);
    --scalar-sidebar-color-1: var(--ink);
    --scalar-sidebar-color-2: var(--muted);
    --scalar-sidebar-border-color: var(--line);
    --scalar-sidebar-item-hover-background: var(--band);
    --scalar-sidebar-item-active-background: var(--accent-soft);
    --scalar-sidebar-color-active: var(--accent);
    --scalar-link-color: var(--accent);
    --scalar-color-green: var(--up);
    --scalar-color-red: var(--down);
    --scalar-color-orange: var(--warn);
    --scalar-color-yellow: var(--warn);
    --scalar-color-blue: #0a5f9e;
    --scalar-color-purple: #6b3f86;
  }
  /* Examples are in .dark-mode on a light page too, so the reader's lights decide. */
  @media (prefers-color-scheme: dark) {
    .light-mode, .dark-mode {
      --scalar-color-blue: #79bdf2;
      --scalar-color-purple: #c79ae3;
    }
  }
`;

document.querySelector("#loading")?.remove();

/** Names what the renderer leaves nameless, which who cannot see it could not tell apart. */
function nameControls() {
  for (const button of document.querySelectorAll(".scalar-code-copy:not([aria-label])")) {
    button.setAttribute("aria-label", "Copy");
  }
  for (const field of document.querySelectorAll("[role=combobox]:not([aria-label])")) {
    field.setAttribute("aria-label", field.getAttribute("data-placeholder") ?? "Value");
    if (!field.hasAttribute("aria-expanded")) field.setAttribute("aria-expanded", "false");
  }
}
new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true });

const { Scalar } = /** @type {any} */ (window);
Scalar.createApiReference("#reference", {
  url: "/v1/openapi.json",
  theme: "none",
  customCss: css,
  authentication: { preferredSecurityScheme: "ServiceKey" },
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  hideDarkModeToggle: true,
  forceDarkModeState: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  showDeveloperTools: "never",
});
