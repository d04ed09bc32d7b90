import { Type } from "typebox";

import { operatorRoles } from "../kernel/actor.ts";
import { body, flag, openEnum, text, timestamp } from "../platform/http/wire.ts";

export const SignInBody = body({
  name: Type.String({ minLength: 1, maxLength: 64, description: "The person's name." }),
  password: Type.String({ minLength: 1, maxLength: 256, description: "The person's password." }),
  code: Type.String({
    pattern: "^[0-9]{6}$",
    description: "The six digits that the authenticator shows; each is used once.",
  }),
});

export const SessionOpened = Type.Object({
  name: text("Who is signed in."),
  role: openEnum(operatorRoles, "What the person may do."),
  expires_at: timestamp("When the session ends by itself."),
});

export const SessionClosed = Type.Object({
  signed_out: flag("True: the session has ended."),
});
