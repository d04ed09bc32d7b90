import { Type } from "typebox";

import { operatorRoles } from "../kernel/actor.ts";
import { body, flag, openEnum, text, timestamp } from "../platform/http/wire.ts";

export const SignInBody = body({
  name: Type.String({ minLength: 1, maxLength: 64, description: "The person's name." }),
  password: Type.String({ minLength: 1, maxLength: 256, description: "Their password." }),
  code: Type.String({ pattern: "^[0-9]{6}$", description: "Six digits; used once." }),
});

export const SessionOpened = Type.Object({
  name: text("Who is signed in."),
  role: openEnum(operatorRoles, "What the person may do."),
  expires_at: timestamp("When the session ends by itself."),
});

export const SessionClosed = Type.Object({
  signed_out: flag("Always true."),
});
