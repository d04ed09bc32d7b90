// Signing in, and enrolling with the codes of those who let one in.

import { onSubmit } from "../form.js";
import { tellProblem } from "./acts.js";
import { make } from "./dom.js";
import { makeField, readFields } from "./fields.js";
import { callOps } from "./ops.js";
import { makeOffer, makeRecoveryCodes, shownCode } from "./second-factor.js";

/** @typedef {import("./fields.js").Field} Field */

/** @type {readonly Field[]} */
const signInFields = [
  { name: "name", label: "Name", autocomplete: "username" },
  { name: "password", label: "Password", type: "password", autocomplete: "current-password" },
  {
    name: "code",
    label: "Code",
    hint: "Six digits of your authenticator, or a recovery code",
    autocomplete: "one-time-code",
  },
];

const refusals = /** @type {Readonly<Record<string, string>>} */ ({
  directory_down:
    "The directory cannot be reached. Sign in with a password here, or try again later.",
  directory_refused: "The directory did not confirm you. Begin again.",
  sign_in_lost: "This sign-in was not begun in this browser, or took too long. Begin again.",
  not_assigned: "The directory knows you, but does not let you in here. Ask whoever runs it.",
  disabled: "You are disabled here. Ask an admin.",
  name_taken: "Somebody else here has your name. Ask an admin.",
  no_name:
    "A name here has letters without accents, digits, spaces and . _ @ - only. Ask whoever runs the directory for such a username.",
  nobody_yet: "The first person is an admin with a password, who is added on the machine.",
});

/** Why the directory did not let one in, once; the address keeps nothing of it. */
export function readRefusal() {
  const reason = new URLSearchParams(location.search).get("refused");
  if (reason === null) return undefined;
  history.replaceState(null, "", location.pathname);
  return refusals[reason] ?? "The sign-in by the directory failed. Begin again.";
}

/** A button for the directory, where the house has one. */
function makeDirectoryDoor() {
  const place = make("div", { hidden: true });
  void callOps("/console/ways-in").then(
    ({ directory }) => {
      if (!directory) return;
      place.hidden = false;
      place.append(
        make(
          "a",
          { class: "button quiet", href: "/console/directory" },
          "Sign in by the directory",
        ),
      );
    },
    () => {}, // The password still works.
  );
  return place;
}

/**
 * @param {string} why
 * @param {() => void} onSignedIn
 */
export function makeSignIn(why, onSignedIn) {
  return makeForm({
    first: makeDirectoryDoor(),
    title: "Sign in",
    lead: why,
    fields: signInFields,
    submit: "Sign in",
    send: async (values) => {
      await callOps("/console/sign-in", { body: values });
      onSignedIn();
    },
    foot: make(
      "details",
      {},
      make("summary", {}, "You cannot sign in yet?"),
      make(
        "p",
        { class: "muted" },
        "Were you let in and have codes? ",
        make("a", { href: "/console/enrol" }, "Choose your password"),
        ". Nobody has been added yet? The first person is added on the machine: ",
        make("code", { class: "plain" }, "npx scripdesk operators add --name NAME --role admin"),
        ". Until then, and for the sandbox, the commands work without a person.",
      ),
    ),
  });
}

/** What the link of an invitation says: it is behind the #, which no request carries. */
function readInvitation() {
  const given = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  return { name: given.get("name") ?? undefined, code: given.get("code") ?? undefined };
}

export function makeEnrolment() {
  const invited = readInvitation();
  /** @type {readonly Field[]} */
  const fields = [
    { name: "name", label: "Name", autocomplete: "username", value: invited.name },
    {
      name: "codes",
      label: "Codes",
      hint: "One from each who invited you, with spaces between",
      value: invited.code,
    },
    {
      name: "password",
      label: "New password",
      type: "password",
      hint: "At least 12 characters",
      autocomplete: "new-password",
    },
  ];
  const place = make("div", {});
  place.replaceChildren(
    makeForm({
      title: "Choose your password",
      lead: "With the codes that you were given. Have your authenticator app at hand: you scan a code with it next.",
      fields,
      submit: "Go on",
      send: async ({ name, codes, password }) => {
        const who = { name, codes: codes.split(/[\s,]+/) };
        const offered = await callOps("/ops/enrol", { body: { ...who, password } });
        place.replaceChildren(makeConfirmation(place, who, offered));
        place.querySelector("input")?.focus();
      },
      foot: make("p", {}, make("a", { href: "/console" }, "Sign in")),
    }),
  );
  return place;
}

/**
 * @param {HTMLElement} place
 * @param {{name: string, codes: readonly string[]}} who
 * @param {import("./second-factor.js").Offered} offered
 */
function makeConfirmation(place, who, offered) {
  return makeForm({
    title: "Your authenticator",
    lead: "Scan this with the authenticator app, then type the code that it shows. You can sign in once the code is right.",
    first: makeOffer(offered),
    fields: [shownCode],
    submit: "Confirm",
    send: async ({ code }) => {
      const body = { ...who, ticket: offered.ticket, code };
      const { operator, recovery_codes } = await callOps("/ops/enrol/confirm", { body });
      const heading = make("h1", { tabindex: "-1" }, "Your recovery codes");
      place.replaceChildren(
        make(
          "div",
          { class: "door" },
          make(
            "div",
            { class: "panel offer" },
            heading,
            makeRecoveryCodes(recovery_codes, operator.name),
            make("p", {}, make("a", { class: "button", href: "/console" }, "Sign in")),
          ),
        ),
      );
      heading.focus();
    },
    foot: make("p", {}, make("a", { href: "/console/enrol" }, "Begin again")),
  });
}

/**
 * @param {{title: string, lead: string, first?: Node, fields: readonly Field[], submit: string, send: (values: Record<string, any>) => Promise<void>, foot: Node}} spec
 */
function makeForm({ title, lead, first, fields, submit, send, foot }) {
  const problem = make("p", { class: "notice", role: "alert", hidden: true });
  const form = make(
    "form",
    { class: "panel", novalidate: true },
    make("h1", {}, title),
    make("p", { class: "muted" }, lead),
    first ?? null,
    fields.map(makeField),
    problem,
    make("button", { class: "button", type: "submit" }, submit),
    foot,
  );
  onSubmit(form, async () => {
    problem.hidden = true;
    try {
      await send(await readFields(form, fields));
    } catch (error) {
      tellProblem(form, problem, error);
      const code = form.elements.namedItem("code");
      if (code instanceof HTMLInputElement) code.value = "";
    }
  });
  return make("div", { class: "door" }, form);
}
