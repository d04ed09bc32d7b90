import { Type } from "typebox";

import { operatorRoles } from "../kernel/actor.ts";
import { signInCodePattern } from "../operators/rules.ts";
import { body, count, flag, openEnum, text, timestamp } from "../platform/http/wire.ts";

export const SignInBody = body({
  name: Type.String({ minLength: 1, maxLength: 64, description: "The person's name." }),
  password: Type.String({ minLength: 1, maxLength: 256, description: "The person's password." }),
  code: Type.String({
    pattern: signInCodePattern,
    description:
      "The six digits that the authenticator shows, or a recovery code; each is used once.",
  }),
});

export const SessionOpened = Type.Object({
  name: text("Who is signed in."),
  role: openEnum(operatorRoles, "What the person may do."),
  expires_at: timestamp("When the session ends by itself."),
  recovery_codes_left: count("How many recovery codes the person has."),
});

export const SessionClosed = Type.Object({
  signed_out: flag("True: the session has ended."),
});
