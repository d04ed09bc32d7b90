// One's own authenticator and recovery codes.

import { makeAct, openAct } from "./acts.js";
import { make, makeFacts } from "./dom.js";
import { makeHead } from "./list.js";
import { makeOffer, makeRecoveryCodes, shownCode } from "./second-factor.js";
import { person } from "./state.js";

/** @typedef {import("./state.js").View} View */

/** @type {readonly import("./state.js").Page[]} */
export const mySignInPages = [
  { path: "/my-sign-in", title: "My sign-in", reach: "both", show: showMySignIn },
];

/** @type {readonly import("./fields.js").Field[]} */
const proof = [
  {
    name: "password",
    label: "Password",
    type: "password",
    autocomplete: "current-password",
  },
  { name: "code", label: "Code", hint: "Of your authenticator, or a recovery code" },
];

/** @param {View} view */
async function showMySignIn(view) {
  return make(
    "div",
    { class: "page" },
    makeHead("My sign-in", person.isOfDirectory ? [] : makeMyActs(view)),
    makeFacts([
      ["Name", person.name],
      ["Role", person.role],
      person.isOfDirectory
        ? ["Signs in", "by the directory"]
        : ["Recovery codes left", String(person.recoveryCodesLeft)],
    ]),
  );
}

/** @param {View} view */
function makeMyActs(view) {
  return [
    makeAct(view, {
      label: "New authenticator…",
      main: true,
      says: "For another phone. The one you have counts until you have confirmed the new one; then your other sessions end and you get new recovery codes.",
      fields: proof,
      call: (body) => ({ path: "/ops/authenticator", body }),
      after: (offered) => confirm(view, offered),
      said: () => "",
    }),
    makeAct(view, {
      label: "New recovery codes…",
      says: "Ten new ones; those you have end.",
      fields: proof,
      call: (body) => ({ path: "/ops/recovery-codes", body }),
      reveal: ({ recovery_codes }) => makeRecoveryCodes(recovery_codes, person.name),
    }),
  ];
}

/**
 * @param {View} view
 * @param {import("./second-factor.js").Offered} offered
 */
function confirm(view, offered) {
  openAct(view, {
    label: "Confirm the new authenticator…",
    says: ["Scan this with the app, then type the code that it shows.", makeOffer(offered)],
    fields: [shownCode],
    call: ({ code }) => ({
      path: "/ops/authenticator/confirm",
      body: { ticket: offered.ticket, code },
    }),
    reveal: ({ recovery_codes }) => makeRecoveryCodes(recovery_codes, person.name),
  });
}
