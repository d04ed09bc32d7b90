// Signing in, and enrolling with the codes of those who let one in.

import { onSubmit } from "../form.js";
import { tellProblem } from "./acts.js";
import { make } from "./dom.js";
import { makeField, readFields } from "./fields.js";
import { callOps } from "./ops.js";

/** @typedef {import("./fields.js").Field} Field */

/** @type {readonly Field[]} */
const signInFields = [
  { name: "name", label: "Name", autocomplete: "username" },
  { name: "password", label: "Password", type: "password", autocomplete: "current-password" },
  { name: "code", label: "Code", type: "code", hint: "Six digits of your authenticator" },
];

/**
 * @param {string} why
 * @param {() => void} onSignedIn
 */
export function makeSignIn(why, onSignedIn) {
  return makeForm({
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

/** @type {readonly Field[]} */
const enrolFields = [
  { name: "name", label: "Name", autocomplete: "username" },
  { name: "codes", label: "Codes", hint: "One from each who let you in, with spaces between" },
  {
    name: "password",
    label: "New password",
    type: "password",
    hint: "At least 12 characters",
    autocomplete: "new-password",
  },
];

export function makeEnrolment() {
  const place = makeForm({
    title: "Choose your password",
    lead: "With the codes that you were given. You then get a secret for your authenticator app.",
    fields: enrolFields,
    submit: "Enrol",
    send: async ({ name, codes, password }) => {
      const body = { name, password, codes: codes.split(/[\s,]+/) };
      const { totp_secret, totp_uri } = await callOps("/ops/enrol", { body });
      place.replaceChildren(
        make("h1", {}, "Your authenticator"),
        make("p", {}, "Enter this secret in your authenticator app. It is shown this once."),
        make("p", {}, make("code", {}, totp_secret)),
        make("p", {}, make("a", { href: totp_uri }, "Open it in the app on this device")),
        make("p", {}, make("a", { href: "/console" }, "Then sign in")),
      );
    },
    foot: make("p", {}, make("a", { href: "/console" }, "Sign in")),
  });
  return place;
}

/**
 * @param {{title: string, lead: string, fields: readonly Field[], submit: string, send: (values: Record<string, any>) => Promise<void>, foot: Node}} spec
 */
function makeForm({ title, lead, fields, submit, send, foot }) {
  const problem = make("p", { class: "notice", role: "alert", hidden: true });
  const form = make(
    "form",
    { class: "panel", novalidate: true },
    make("h1", {}, title),
    make("p", { class: "muted" }, lead),
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
