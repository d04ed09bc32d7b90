// Which files of the project are pages of the documentation, and where links between them lead.

import { join, posix } from "node:path";

import { type ResolveLink, resolveOutward } from "./markdown.ts";

/** The project's folder, or the package's. */
export const guideFolder = join(import.meta.dirname, "../../..");

export type Guide = {
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

export function describeGuides(): readonly Guide[] {
  return guides;
}

/** Files that guides speak of, served as they are. */
export const servedFiles = [
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
export function resolveGuideLink({ file }: Guide): ResolveLink {
  return (href) => {
    if (/^(?:[a-z]+:|#)/i.test(href)) return resolveOutward(href);
    const [target = "", anchor] = href.split("#");
    const path = pathByFile.get(posix.normalize(posix.join(posix.dirname(file), target)));
    return path && (anchor === undefined ? path : `${path}#${anchor}`);
  };
}
