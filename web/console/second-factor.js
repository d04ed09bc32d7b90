// The second factor: a QR code for the authenticator app, the code that confirms it, and the recovery
// codes that come with it.

import { make } from "./dom.js";
import { save } from "./download.js";

/** @typedef {import("./fields.js").Field} Field */
/** @typedef {{ticket: string, totp_secret: string, totp_uri: string, totp_qr: {size: number, path: string}}} Offered */

/** @type {Field} */
export const shownCode = {
  name: "code",
  label: "Code",
  type: "code",
  hint: "The six digits that the app shows now",
};

/** @param {Offered} offered */
export function makeOffer({ totp_qr, totp_secret, totp_uri }) {
  return make(
    "div",
    { class: "offer" },
    drawCode(totp_qr),
    make("p", { class: "muted" }, "Or type this secret into the app:"),
    make("p", {}, make("code", {}, totp_secret.match(/.{1,4}/g)?.join(" ") ?? "")),
    make("p", {}, make("a", { href: totp_uri }, "Open it in the app on this device")),
  );
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** @param {Offered["totp_qr"]} drawn */
function drawCode({ size, path }) {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("class", "qr");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "QR code for the authenticator app");
  svg.setAttribute("shape-rendering", "crispEdges");
  const dark = document.createElementNS(svgNamespace, "path");
  dark.setAttribute("d", path);
  svg.append(dark);
  return svg;
}

/**
 * @param {readonly string[]} codes
 * @param {string} name of the person
 */
export function makeRecoveryCodes(codes, name) {
  const text = `Recovery codes of ${name} for Scripdesk, each for one sign-in\n\n${codes.join("\n")}\n`;
  return make(
    "div",
    { class: "offer" },
    make(
      "p",
      {},
      "Each of these signs you in once where your authenticator is lost. They are shown this once: print or save them, and keep them apart from your phone.",
    ),
    make(
      "ol",
      { class: "recovery", "aria-label": "Recovery codes" },
      codes.map((code) => make("li", {}, make("code", {}, code))),
    ),
    make(
      "p",
      {},
      make(
        "button",
        {
          class: "button quiet small",
          type: "button",
          onclick: () => save("scripdesk-recovery-codes.txt", text, "text/plain"),
        },
        "Save as a file",
      ),
    ),
  );
}
