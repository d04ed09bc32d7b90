// Signing in by the house's directory, by OpenID Connect: code flow with PKCE, state and nonce. The
// directory's own description and keys are read anew for each sign-in, so that keys may be rotated at any
// time, and its clock may be two minutes off.

import * as client from "openid-client";

import { Failure } from "../kernel/failure.ts";

export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the directory sends people back to. */
  readonly redirectUri: string;
  /** Only people with this among their `groups` are taken. */
  readonly group: string | undefined;
};

/** What is kept in the browser between leaving for the directory and coming back. */
export type DirectoryFlow = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly isFresh: boolean;
};

/** Whom the directory has confirmed. */
export type DirectoryPerson = {
  readonly issuer: string;
  readonly subject: string;
  /** What it calls the person, the best first. */
  readonly names: readonly string[];
  /** When the person last proved who they are there; undefined where it does not say. */
  readonly authAt: Date | undefined;
  readonly idToken: string;
};

export type Directory = {
  begin(isFresh: boolean): Promise<{ readonly url: string; readonly flow: DirectoryFlow }>;
  finish(query: string, flow: DirectoryFlow): Promise<DirectoryPerson>;
  /** Where the person signs out of the directory; undefined where it has no such place. */
  findSignOut(idToken: string | undefined): Promise<string | undefined>;
};

const timeoutS = 5;
const toleranceS = 120;
/** How long ago the person may have signed in to the directory. */
const maxAgeS = 43_200;

export function openDirectory(config: OidcConfig): Directory {
  const { issuer, clientId, clientSecret, redirectUri, group } = config;
  const isPlain = issuer.startsWith("http:");

  async function discover(): Promise<client.Configuration> {
    try {
      return await client.discovery(
        new URL(issuer),
        clientId,
        { [client.clockTolerance]: toleranceS },
        client.ClientSecretBasic(clientSecret),
        {
          timeout: timeoutS,
          execute: [
            client.enableNonRepudiationChecks,
            ...(isPlain ? [client.allowInsecureRequests] : []),
          ],
        },
      );
    } catch (error) {
      throw directoryDown(error);
    }
  }

  return {
    async begin(isFresh) {
      const found = await discover();
      const verifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const url = client.buildAuthorizationUrl(found, {
        redirect_uri: redirectUri,
        scope: "openid profile email",
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
        ...(isFresh ? { prompt: "login", max_age: "0" } : { max_age: String(maxAgeS) }),
      });
      return { url: url.href, flow: { state, nonce, verifier, isFresh } };
    },
    async finish(query, { state, nonce, verifier, isFresh }) {
      const found = await discover();
      const back = new URL(redirectUri);
      back.search = query;
      const tokens = await client
        .authorizationCodeGrant(found, back, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
          maxAge: isFresh ? 0 : maxAgeS,
        })
        .catch((error: unknown) => {
          throw isUnreachable(error) ? directoryDown(error) : refusedBy(error);
        });
      const claims = tokens.claims();
      if (!claims) throw new Error("an ID token is demanded");
      if (group !== undefined && !listGroups(claims["groups"]).includes(group)) throw notAssigned();
      return {
        issuer: claims.iss,
        subject: claims.sub,
        names: listNames(claims),
        authAt: claims.auth_time === undefined ? undefined : new Date(claims.auth_time * 1_000),
        idToken: tokens.id_token ?? "",
      };
    },
    async findSignOut(idToken) {
      const found = await discover();
      if (found.serverMetadata().end_session_endpoint === undefined) return undefined;
      return client.buildEndSessionUrl(found, {
        post_logout_redirect_uri: new URL("/console", redirectUri).href,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      }).href;
    },
  };
}

function listNames(claims: client.IDToken): readonly string[] {
  const names = [claims["preferred_username"], claims["email"], claims["name"], claims.sub];
  return names.filter((name) => typeof name === "string");
}

function listGroups(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : [claim];
}

/** A network that fails, and an answer that is none, in place of one that says no. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof client.ClientError) {
    return ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_JSON"].includes(error.code ?? "");
  }
  return error instanceof TypeError && !("code" in error);
}

function directoryDown(cause: unknown): Failure {
  return buildRefusal("conflict", "directory_down", {
    said: "the directory cannot be reached",
    cause,
  });
}

function refusedBy(cause: unknown): Failure {
  return buildRefusal("forbidden", "directory_refused", {
    said: "the directory did not confirm the sign-in",
    cause,
  });
}

function notAssigned(): Failure {
  return buildRefusal("forbidden", "not_assigned", {
    said: "the directory does not let this person in here",
    cause: undefined,
  });
}

/** What the library says goes along for the log; it holds no secret. */
function buildRefusal(
  code: "conflict" | "forbidden",
  reason: string,
  { said, cause }: { readonly said: string; readonly cause: unknown },
): Failure {
  const because = cause instanceof Error ? { because: cause.message } : {};
  return new Failure(code, said, { detail: { reason, ...because } });
}
