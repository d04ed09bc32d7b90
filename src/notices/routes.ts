import { type Static, Type } from "typebox";

import type { Context } from "../platform/context.ts";
import { toVisit } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import { sendForm, takeForms } from "../platform/pages/forms.ts";
import { askToOptOut, optOut, optOutPath } from "./opt-out.ts";

/** For people who read mail and for mail programs; not part of the API's document. */
export function optOutRoutes(app: App, ctx: Context, page: string): void {
  const config = { keyless: { budget: "rates" } } as const;
  const schema = { hide: true, querystring: OptOutQuery };
  takeForms(app, (forms) => {
    forms.get(optOutPath, { config, schema }, async (request, reply) =>
      sendForm(reply, await askToOptOut(ctx, page, request.query.token)),
    );
    forms.post(optOutPath, { config, schema }, async (request, reply) => {
      const { token } = request.query;
      return sendForm(reply, await optOut(ctx, toVisit(request, reply), { page, token }));
    });
  });
}

const OptOutQuery = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 500, description: "From the link of a notice." }),
});
type OptOutQuery = Static<typeof OptOutQuery>;
