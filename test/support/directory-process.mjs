// The directory of a house, as a process of its own: its clock is off by what it is told, and each start
// has new keys. Whoever types a name is that person; strangers are in no group.

import { generateKeyPairSync, randomUUID } from "node:crypto";

const { PORT = "", SHIFT_S = "0", REDIRECT_URI = "" } = process.env;
const shiftMs = Number(SHIFT_S) * 1_000;
const readClock = Date.now.bind(Date);
Date.now = () => readClock() + shiftMs;

const { default: Provider } = await import("oidc-provider");

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const key = {
  ...privateKey.export({ format: "jwk" }),
  use: "sig",
  alg: "RS256",
  kid: randomUUID(),
};

const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  clients: [
    {
      client_id: "scripdesk",
      client_secret: "a secret of the directory",
      redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: [new URL("/console", REDIRECT_URI).href],
    },
  ],
  jwks: { keys: [key] },
  cookies: { keys: [randomUUID()] },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  conformIdTokenClaims: false,
  findAccount: (_ctx, accountId) => ({
    accountId,
    claims: () => ({
      sub: `sub-${accountId}`.slice(0, 60),
      preferred_username: accountId,
      groups: accountId.startsWith("stranger") ? ["others"] : ["scripdesk"],
    }),
  }),
});
provider.listen(Number(PORT), "127.0.0.1", () => process.send?.("ready"));
