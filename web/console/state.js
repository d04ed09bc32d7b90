// Who is signed in, and where in the console one is: the address of the page says all of it.

/** @typedef {{params: URLSearchParams, id: string, environment: "live" | "sandbox", reach: Reach, signal: AbortSignal, refresh: () => void}} View */
/**
 * What the acts of a page change: the environment that is chosen, live alone, or what both share.
 *
 * @typedef {"chosen" | "live" | "both"} Reach
 */
/** @typedef {{path: string, title: string, nav?: string, menu?: string, key?: string, reach?: Reach, proposals?: readonly string[], refreshes?: boolean, permission?: string, show: (view: View) => Promise<Node>}} Page */

/** @type {{name: string, role: string, permissions: ReadonlySet<string>, isOfDirectory: boolean, recoveryCodesLeft: number}} */
export const person = {
  name: "",
  role: "",
  permissions: new Set(),
  isOfDirectory: false,
  recoveryCodesLeft: 0,
};

/** @param {{name: string, role: string, permissions: readonly string[], directory: boolean, recovery_codes_left: number}} who */
export function setPerson({ name, role, permissions, directory, recovery_codes_left }) {
  Object.assign(person, {
    name,
    role,
    permissions: new Set(permissions),
    isOfDirectory: directory,
    recoveryCodesLeft: recovery_codes_left,
  });
}

/** @param {string | undefined} permission */
export function may(permission) {
  return permission === undefined || person.permissions.has(permission);
}

/** @returns {"live" | "sandbox"} */
export function readEnvironment() {
  return new URLSearchParams(location.search).get("env") === "sandbox" ? "sandbox" : "live";
}

/** The page is of a thing of the other environment, which is shown in its place. */
export class Elsewhere extends Error {}

/**
 * A page about one thing is shown in the environment of the thing, so that its acts are what they seem.
 *
 * @param {View} view
 * @param {{readonly environment?: "live" | "sandbox"}} thing
 */
export function standWith({ environment }, thing) {
  if (thing.environment === environment) return;
  history.replaceState(
    null,
    "",
    linkTo(placeHere(), { env: environment === "live" ? "sandbox" : null }),
  );
  throw new Elsewhere("elsewhere");
}

function placeHere() {
  return location.pathname.replace(/^\/console/, "");
}

/**
 * An address of the console, in the environment that is shown.
 *
 * @param {string} path such as /payouts
 * @param {Readonly<Record<string, string | null | undefined>>} [query]
 */
export function linkTo(path, query = {}) {
  const search = new URLSearchParams();
  if (readEnvironment() === "sandbox" && !("env" in query)) search.set("env", "sandbox");
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, value);
  }
  const text = search.toString();
  return text === "" ? `/console${path}` : `/console${path}?${text}`;
}

/** @param {string} href */
export function goTo(href) {
  history.pushState(null, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
}
