// The documentation at /docs: an overview, the guides, and the reference of the API.
//
//   overview, guides   HTML made from the Markdown files of docs/. They paint without a script; one
//                      adds buttons that copy examples.
//   reference          rendered in the browser from /v1/openapi.json by a script of a megabyte, which
//                      loads behind a page that has painted already.
//
// Everything comes from this service; the content security policy lets the browser reach no other
// host, and run nothing that is written into a page. All of it is the same for everybody.

import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";

import { fastify, type onRequestHookHandler } from "fastify";

import { Failure } from "../../kernel/failure.ts";
import { type Constant, serveConstant } from "../http/constants.ts";
import { tags } from "../http/openapi.ts";
import type { App } from "../http/server.ts";
import { escapeHtml, renderMarkdown, type ResolveLink, resolveOutward } from "./markdown.ts";
import { writePage } from "./site.ts";

const docsPrefix = "/docs";

const scalarPath = `${docsPrefix}/js/scalar.js`;
const frameStylesPath = `${docsPrefix}/frame.css`;
const webFolder = join(import.meta.dirname, "../../../web");

export function serveDocs(app: App, { house }: { readonly house: string }): void {
  app.get(
    docsPrefix,
    { config: { keyless: "constant" }, schema: { hide: true }, onRequest: refuseNoHost },
    async (_request, reply) => await reply.redirect(`${docsPrefix}/`, 301),
  );
  const serve = (path: string, constant: Constant) => {
    const headers = { ...commonHeaders, ...constant.headers };
    serveConstant(app, path, { ...constant, headers }, { onRequest: refuseNoHost });
  };
  const servePage = (path: string, make: () => Promise<string>, policy = pagePolicy) => {
    const headers = { "content-security-policy": policy, "cache-control": "public, no-cache" };
    serve(path, { type: "text/html; charset=utf-8", headers, make });
  };
  const serveText = (path: string, type: string, make: () => Promise<Buffer>) => {
    serve(path, { type, headers: { "cache-control": "public, max-age=300" }, make });
  };

  servePage(`${docsPrefix}/`, async () => await makeOverview(house));
  servePage(`${docsPrefix}/reference`, async () => makeReference(house), referencePolicy);
  for (const guide of describeGuides()) {
    servePage(guide.path, async () => await makeGuide(guide, house));
  }
  const script = "text/javascript; charset=utf-8";
  serveText(scalarPath, script, readScalar);
  for (const name of ["docs.js", "reference.js"]) {
    const read = async () => await readFile(join(webFolder, "docs", name));
    serveText(`${docsPrefix}/js/${name}`, script, read);
  }
  serveText(frameStylesPath, "text/css; charset=utf-8", readFrameStyles);
  for (const { path, file, type } of servedFiles) {
    serveText(path, type, async () => await readFile(join(guideFolder, file)));
  }
}

function writePolicy(...own: readonly string[]): string {
  const common = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", ...own, ...common].join("; ");
}

const pagePolicy = writePolicy("script-src 'self'", "style-src 'self'", "img-src 'self'");

/** The reference writes styles of its own into the page, and asks for the document. */
const referencePolicy = writePolicy(
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
);

const commonHeaders = {
  "content-security-policy": writePolicy("style-src 'self'", "img-src 'self'"),
  "referrer-policy": "no-referrer",
};

const refuseNoHost: onRequestHookHandler = ({ protocol, hostname }, _reply, next) => {
  if (URL.canParse(`${protocol}://${hostname}`)) next();
  else next(new Failure("bad_request", "the Host header names no host", { form: "transport" }));
};

function linkScript(name: string): string {
  return `<script src="${docsPrefix}/js/${name}" defer></script>`;
}

type PageSection = { readonly id: string; readonly text: string };

/** The guides at the side; below the present one, its sections. */
function writeSide(current: string, sections: readonly PageSection[] = []): string {
  const own = sections.map(
    ({ id, text }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  const items = describeGuides().map(({ path, name }) => {
    const isCurrent = path === current;
    const mark = isCurrent ? ' aria-current="page"' : "";
    const below = isCurrent && own.length > 0 ? `<ul class="sections">${own.join("")}</ul>` : "";
    return `<li><a href="${path}"${mark}>${escapeHtml(name)}</a>${below}</li>`;
  });
  const home = current === `${docsPrefix}/` ? ' aria-current="page"' : "";
  return `<nav class="side" aria-label="Guides"><ul><li><a href="${docsPrefix}/"${home}>Overview</a></li>${items.join("")}<li><a href="${docsPrefix}/reference">API reference</a></li></ul></nav>`;
}

async function makeGuide(guide: Guide, house: string): Promise<string> {
  const text = await readFile(join(guideFolder, guide.file), "utf8");
  const { title, html, headings } = await renderMarkdown(text, resolveGuideLink(guide));
  return writePage({
    house,
    title,
    description: guide.about,
    current: guide.path,
    main: `<div class="wrap docs"><main class="prose" id="main"><h1>${escapeHtml(title)}</h1>${html}</main>${writeSide(guide.path, headings)}</div>`,
    head: linkScript("docs.js"),
  });
}

async function makeOverview(house: string): Promise<string> {
  const text = await readFile(join(webFolder, "docs/overview.html"), "utf8");
  const guides = describeGuides().map(
    ({ path, name, about }) =>
      `<li><a class="panel" href="${path}"><strong>${escapeHtml(name)}</strong><span>${escapeHtml(about)}</span></a></li>`,
  );
  const groups = tags.map(
    ({ name, description }) =>
      `<div><dt><a href="${docsPrefix}/reference#tag/${encodeURIComponent(name.toLowerCase())}">${escapeHtml(name)}</a></dt><dd>${escapeHtml(description)}</dd></div>`,
  );
  const main = text
    .replace("{{guides}}", guides.join(""))
    .replace("{{groups}}", groups.join(""))
    .replaceAll("{{name}}", escapeHtml(house));
  const path = `${docsPrefix}/`;
  return writePage({
    house,
    title: "Guides and API",
    description: `How to price, sell, cover and settle duty credits with ${house} by program.`,
    current: path,
    main: `<div class="wrap docs"><main class="prose" id="main">${main}</main>${writeSide(path)}</div>`,
    head: linkScript("docs.js"),
  });
}

function makeReference(house: string): string {
  return writePage({
    house,
    title: "API reference",
    description: "Every operation of the API, with its fields, examples and refusals.",
    current: `${docsPrefix}/reference`,
    main: `<main id="main"><div class="wrap loading" id="loading"><h1>API reference</h1><p>The reference is loading. It is made from <a href="/v1/openapi.json">the OpenAPI document</a>, which your own tools can read too.</p></div><div id="reference"></div></main>`,
    styles: [frameStylesPath],
    head: linkScript("scalar.js") + linkScript("reference.js"),
  });
}

/** The look of the pages around the reference and not inside it, where the renderer has its own. */
async function readFrameStyles(): Promise<Buffer> {
  const parts = await Promise.all(
    ["look.css", "docs.css"].map(async (name) => await readFile(join(webFolder, name), "utf8")),
  );
  // Inside a scope its root has no other name.
  const scoped = parts.join("\n").replace(/^(\s*)(?::root|html) \{/gm, "$1:scope {");
  return Buffer.from(`@scope (:root) to (#reference > *) {\n${scoped}}\n`);
}

/** The renderer's one script, as its plugin serves it; the plugin is loaded for this alone. */
async function readScalar(): Promise<Buffer> {
  const { default: apiReference } = await import("@scalar/fastify-api-reference");
  const maker = fastify();
  await maker.register(apiReference, {
    routePrefix: docsPrefix,
    configuration: { url: "/v1/openapi.json" },
  });
  const { rawPayload } = await maker.inject(scalarPath);
  await maker.close();
  return rawPayload;
}

// Which files of the project are pages of the documentation, and where links between them lead.

/** The project's folder, or the package's. */
const guideFolder = join(import.meta.dirname, "../../..");

type Guide = {
  readonly path: string;
  readonly file: string;
  readonly name: string;
  readonly about: string;
};

const guides: readonly Guide[] = [
  {
    path: "/docs/walk",
    file: "docs/WALK.md",
    name: "A walk through the sandbox",
    about: "From a key to money in the bank, and cover for a duty bill, with curl.",
  },
  {
    path: "/docs/webhooks",
    file: "docs/WEBHOOKS.md",
    name: "Receiving webhooks",
    about: "Register, verify, answer, replay; with verifiers in three languages.",
  },
  {
    path: "/docs/cross",
    file: "docs/CROSS.md",
    name: "Crossing a block",
    about: "Two firms that know each other deal with money in escrow.",
  },
  {
    path: "/docs/settle",
    file: "docs/SETTLE.md",
    name: "Settling a live deal",
    about: "What each party does outside, by when, and how it is told and proved.",
  },
  {
    path: "/docs/netting",
    file: "docs/NETTING.md",
    name: "Netting a group",
    about: "Use the group's own credits first, and deal only for the rest.",
  },
  {
    path: "/docs/audit",
    file: "docs/AUDIT.md",
    name: "Verifying the audit trail",
    about: "Prove what happened on your desk without trusting anybody.",
  },
  {
    path: "/docs/client",
    file: "client/README.md",
    name: "The client for Node",
    about: "Typed methods, retries by the contract, lists and streams as iterables.",
  },
  {
    path: "/docs/client-python",
    file: "client/python/README.md",
    name: "The client for Python",
    about: "The same in Python, with the standard library only.",
  },
  {
    path: "/docs/versioning",
    file: "docs/VERSIONING.md",
    name: "Versions",
    about: "What you can rely on, and how something is taken away.",
  },
  {
    path: "/docs/glossary",
    file: "docs/GLOSSARY.md",
    name: "Glossary",
    about: "One word, one meaning.",
  },
];

function describeGuides(): readonly Guide[] {
  return guides;
}

/** Files that guides speak of, served as they are. */
const servedFiles = [
  {
    path: "/docs/verify-audit.mjs",
    file: "docs/verify-audit.mjs",
    type: "text/javascript; charset=utf-8",
  },
  {
    path: "/docs/examples/sell.mjs",
    file: "client/examples/sell.mjs",
    type: "text/javascript; charset=utf-8",
  },
  {
    path: "/docs/examples/sell.py",
    file: "client/examples/sell.py",
    type: "text/x-python; charset=utf-8",
  },
] as const;

const pathByFile: ReadonlyMap<string, string> = new Map([
  ...guides.map(({ file, path }) => [file, path] as const),
  ...servedFiles.map(({ file, path }) => [file, path] as const),
  ["docs/openapi.json", "/v1/openapi.json"],
]);

/** Links between files as links between pages; a file that is no page is named without a link. */
function resolveGuideLink({ file }: Guide): ResolveLink {
  return (href) => {
    if (/^(?:[a-z]+:|#)/i.test(href)) return resolveOutward(href);
    const [target = "", anchor] = href.split("#");
    const path = pathByFile.get(posix.normalize(posix.join(posix.dirname(file), target)));
    return path && (anchor === undefined ? path : `${path}#${anchor}`);
  };
}
