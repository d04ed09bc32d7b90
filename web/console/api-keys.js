import { makeAct } from "./acts.js";
import { make } from "./dom.js";
import { listFilters, showList } from "./list.js";
import { readOps } from "./ops.js";
import { showFirm, showState, showTime } from "./show.js";
import { linkTo } from "./state.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const keyPages = [{ path: "/keys", title: "Keys", key: "k", show: showKeys }];

/** @param {View} view */
async function showKeys(view) {
  const { plans } = await readOps("/ops/plans", {}, view.signal);
  return await showList(view, {
    title: "Keys",
    lead: "Keys of desks, without their secrets; each leads to what it called.",
    acts: [makeIssue(view, plans)],
    path: "/ops/keys",
    rows: "keys",
    query: { environment: view.environment },
    filters: listFilters,
    firms: ({ key }) => [key.firm_id],
    columns: [
      {
        head: "Key",
        cell: ({ key }) => {
          const { key_id, masked_key } = key;
          const attributes = { class: "id", title: key_id, href: linkTo("/requests", { key_id }) };
          // The prefix is the environment that is shown.
          return make("a", attributes, masked_key.slice(masked_key.indexOf("…")));
        },
      },
      { head: "Purpose", kind: "wide", cell: ({ key }) => key.name },
      { head: "Firm", kind: "wide", cell: ({ key }) => showFirm(key.firm_id) },
      {
        head: "Kind",
        cell: ({ key }) => [key.kind.replace("_", " "), key.plan].filter(Boolean).join(", "),
      },
      {
        head: "Scopes",
        kind: "wide",
        cell: ({ key }) => `${key.scopes.join(", ")}${key.buy_side ? ", buys" : ""}`,
      },
      { head: "Issued", cell: ({ key }) => showTime(key.created_at) },
      { head: "Last used", cell: ({ key }) => showTime(key.last_used_at) },
      { head: "State", cell: ({ key }) => showState(key.status) },
      { head: "Actions", kind: "last", cell: ({ key }) => makeRevoke(view, key) },
    ],
    empty: "No keys found.",
  });
}

/**
 * @param {View} view
 * @param {readonly Row[]} plans
 */
function makeIssue(view, plans) {
  const { environment } = view;
  return makeAct(view, {
    label: "Issue a key…",
    permission: "keys.write",
    main: true,
    says: `A desk's root key for ${environment}. It is shown once.`,
    fields: [
      { name: "firm", label: "Name of the desk", hint: "Made when there is none" },
      { name: "name", label: "Purpose", optional: true },
      { name: "scopes", label: "Scopes", value: "*", hint: "With spaces between; * for all" },
      {
        name: "plan",
        label: "Plan",
        type: "choice",
        options: plans.map(({ name }) => /** @type {const} */ ([name, name])),
        value: "starter",
      },
      { name: "buy_side", label: "May buy", type: "yes" },
      { name: "iec", label: "IEC of a new desk", optional: true },
      { name: "pan", label: "PAN of a new desk", optional: true },
    ],
    call: ({ scopes, ...values }) => ({
      path: "/ops/keys",
      body: { ...values, environment, scopes: scopes.split(/[\s,]+/) },
    }),
    said: () => "The key is issued.",
    reveal: ({ api_key }) => {
      const copied = make("span", { class: "muted", role: "status" });
      const copy = make("button", { class: "button quiet small", type: "button" }, "Copy");
      copy.addEventListener("click", () => {
        void navigator.clipboard.writeText(api_key).then(
          () => (copied.textContent = " copied"),
          () => (copied.textContent = " select it and copy it by hand"),
        );
      });
      return make(
        "div",
        {},
        make("p", {}, "Give it to the desk now: it is shown this once and kept nowhere."),
        make("p", {}, make("code", {}, api_key)),
        make("p", {}, copy, copied),
      );
    },
  });
}

/**
 * @param {View} view
 * @param {Row} key
 */
function makeRevoke(view, { key_id, masked_key, status }) {
  if (status !== "active") return null;
  return makeAct(view, {
    label: "Revoke…",
    permission: "keys.write",
    danger: true,
    says: `${masked_key} and its children stop working from the next request on.`,
    call: () => ({ path: `/ops/keys/${key_id}/revoke` }),
    said: () => "The key is revoked.",
  });
}
