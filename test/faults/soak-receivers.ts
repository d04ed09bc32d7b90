// Receivers of webhooks on the loopback that remember what they took, and that can be made to hang.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Scope } from "../support/process.ts";

export type Receivers = {
  readonly steadyUrl: string;
  /** Of the one that hangs when it is told to. */
  readonly hangingUrl: string;
  /** Takes what is sent and answers nothing, until it is let go. */
  hang(): () => void;
  /** How many different deliveries came. */
  taken(): number;
};

export async function openReceivers(scope: Scope): Promise<Receivers> {
  const seen = new Set<string>();
  const held = new Set<ServerResponse>();
  let hangs = false;
  const open = async (mayHang: boolean): Promise<string> => {
    const server = createServer((request, response) => {
      if (mayHang && hangs) {
        held.add(response);
        return;
      }
      request.resume().on("end", () => {
        seen.add(String(request.headers["x-service-delivery"]));
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    scope.after(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  };
  const [steadyUrl, hangingUrl] = [await open(false), await open(true)];
  return {
    steadyUrl,
    hangingUrl,
    hang() {
      hangs = true;
      return () => {
        hangs = false;
        for (const response of held) response.destroy();
        held.clear();
      };
    },
    taken: () => seen.size,
  };
}
