import { makeAct } from "./acts.js";
import { make, makeSection, makeTable } from "./dom.js";
import { makeDownload } from "./download.js";
import { makeHead } from "./list.js";
import { makeAdd, makePeopleAddresses } from "./notices.js";
import { readFieldWords, readOps } from "./ops.js";
import { showMoney, showState, showTime } from "./show.js";

/** @typedef {import("./state.js").View} View */
/** @typedef {import("./ops.js").Row} Row */

/** @type {readonly import("./state.js").Page[]} */
export const peoplePages = [
  {
    path: "/people",
    title: "People",
    proposals: ["operator."],
    reach: "both",
    key: "u",
    show: showPeople,
  },
];

const roles = /** @type {const} */ ([
  ["viewer", "viewer: sees everything but personal data"],
  ["dealer", "dealer: prices, markets and stock"],
  ["settlement", "settlement: money, firms and the bank"],
  ["admin", "admin: everything"],
]);

/** @param {View} view */
async function showPeople(view) {
  const { operators } = await readOps("/ops/operators", {}, view.signal);
  return make(
    "div",
    { class: "page" },
    makeHead("People", [
      makeAct(view, {
        label: "Invite…",
        permission: "operators.write",
        main: true,
        says: "Once there are two admins, another one approves it; each of you gives the person a code.",
        fields: [
          { name: "name", label: "Name" },
          { name: "role", label: "Role", type: "choice", options: roles },
        ],
        call: (body) => ({ path: "/ops/operators", body }),
        reveal: ({ code }, { name }) => makeInvitation(name, code),
      }),
    ]),
    make(
      "p",
      { class: "muted lead" },
      "Who runs the service. Records of what is done bear these names.",
    ),
    makeTable(
      "People who run the service",
      [
        { head: "Name", kind: "wide" },
        { head: "Role" },
        { head: "Invited" },
        { head: "State" },
        { head: "Actions", kind: "last pairs" },
      ],
      operators.map((/** @type {Row} */ one) => [
        one["name"],
        one["role"],
        [
          showTime(one["created_at"]),
          ` by ${one["directory"] ? "the directory" : one["created_by"]}`,
        ],
        [
          showState(one["status"]),
          one["recovered_at"]
            ? make(
                "div",
                { class: "muted" },
                "given access on the server ",
                showTime(one["recovered_at"]),
              )
            : null,
        ],
        make("div", { class: "acts" }, makePersonActs(view, one)),
      ]),
    ),
    makeDownload("people", async () => operators),
    await makePeopleAddresses(view),
    await makeMachines(view),
  );
}

/** @param {View} view */
async function makeMachines(view) {
  const [{ machines }, permissions] = await Promise.all([
    readOps("/ops/machines", {}, view.signal),
    readFieldWords("/ops/machines", "permissions"),
  ]);
  return makeSection(
    "Machines",
    make(
      "div",
      { class: "acts" },
      makeAct(view, {
        label: "Add a machine…",
        permission: "operators.write",
        says: "A program that acts without a person, such as the night's run. One of the same name gets another token and these terms. Once there have been two admins, another one approves it and is shown the token.",
        fields: [
          { name: "name", label: "Name", hint: "Small letters and digits, such as night-run" },
          {
            name: "permissions",
            label: "What it may do",
            type: "several",
            options: permissions.map((one) => [one, one]),
          },
          {
            name: "networks",
            label: "Networks",
            hint: "Divided by commas, such as 10.0.0.5/32",
          },
          { name: "day_limit_paise", label: "Alone within 24 hours", type: "money" },
          { name: "expires_at", label: "Until", type: "moment" },
        ],
        call: ({ networks, ...body }) => ({
          path: "/ops/machines",
          body: { ...body, networks: splitWords(String(networks)) },
        }),
        reveal: ({ token }) => makeToken(token),
      }),
    ),
    machines.length === 0
      ? make("p", { class: "muted" }, "No machines.")
      : makeTable(
          "Programs that act without a person",
          [
            { head: "Name", kind: "wide" },
            { head: "May" },
            { head: "From" },
            { head: "Alone in a day" },
            { head: "State" },
            { head: "Last used" },
            { head: "Actions", kind: "last" },
          ],
          machines.map((/** @type {Row} */ one) => [
            [one["name"], make("div", { class: "muted" }, `token shown to ${one["held_by"]}`)],
            one["permissions"].join(", "),
            one["networks"].join(", "),
            showMoney(one["day_limit_paise"]),
            [
              showState(one["status"]),
              make("div", { class: "muted" }, "until ", showTime(one["expires_at"])),
            ],
            [
              one["last_used_at"] ? showTime(one["last_used_at"]) : "never",
              one["refused_at"]
                ? make(
                    "div",
                    { class: "muted" },
                    `refused (${one["refusal"]}) from ${one["refused_from"]}, `,
                    showTime(one["refused_at"]),
                  )
                : null,
            ],
            make(
              "div",
              { class: "acts" },
              one["status"] !== "disabled" &&
                makeAct(view, {
                  label: "Disable…",
                  permission: "operators.write",
                  danger: true,
                  says: `The token of ${one["name"]} ends at once.`,
                  call: () => ({ path: "/ops/machines/disable", body: { name: one["name"] } }),
                  said: () => `${one["name"]} is disabled.`,
                }),
            ),
          ]),
        ),
    machines.length === 0 ? null : makeDownload("machines", async () => machines),
  );
}

/** @param {string} text */
function splitWords(text) {
  return text.split(",").flatMap((word) => word.trim() || []);
}

/** @param {string | undefined} token */
export function makeToken(token) {
  if (token === undefined) return "Another admin approves it, and is shown the token.";
  return make(
    "div",
    {},
    make(
      "p",
      {},
      "The machine's token, shown this once. Whoever holds it approves nothing that the machine proposes.",
    ),
    make("code", {}, token),
  );
}

/**
 * @param {View} view
 * @param {Row} one
 */
function makePersonActs(view, { name, status, role, directory }) {
  const permission = "operators.write";
  return [
    status !== "disabled" && makeAdd(view, { person: name }),
    makeAct(view, {
      label: "Role…",
      permission,
      says: "Once there have been two admins, another one approves it.",
      fields: [{ name: "role", label: "Role", type: "choice", options: roles, value: role }],
      call: (values) => ({ path: "/ops/operators/grant", body: { name, ...values } }),
      said: () => `${name} has another role.`,
    }),
    !directory &&
      makeAct(view, {
        label: "Reset…",
        permission,
        says: `Ends the credentials of ${name}, who enrols anew.`,
        fields: [{ name: "role", label: "Role", type: "choice", options: roles, value: role }],
        call: (values) => ({ path: "/ops/operators/reset", body: { name, ...values } }),
        reveal: ({ code }) => makeInvitation(name, code),
      }),
    status !== "disabled" &&
      makeAct(view, {
        label: "Disable…",
        permission,
        danger: true,
        says: `${name} is signed out at once and cannot sign in.`,
        call: () => ({ path: "/ops/operators/disable", body: { name } }),
        said: () => `${name} is disabled.`,
      }),
  ];
}

/**
 * The link carries the code behind the #, where no request and no log has it.
 *
 * @param {string} name
 * @param {string} code
 */
export function makeInvitation(name, code) {
  const link = `${location.origin}/console/enrol#${new URLSearchParams({ name, code }).toString()}`;
  return make(
    "div",
    {},
    make(
      "p",
      {},
      `Give this link to ${name}, who enrols with it within a week. It works once and is shown this once; hand it over yourself.`,
    ),
    make("p", {}, make("code", {}, link)),
    make("p", { class: "muted" }, "Or the code alone: ", make("code", { class: "plain" }, code)),
  );
}
