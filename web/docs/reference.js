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
  }
`;

document.querySelector("#loading")?.remove();
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
