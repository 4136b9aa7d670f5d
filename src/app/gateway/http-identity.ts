/**
 * The principal of an HTTP request. Precedence: a run token of ours, in the URL or as bearer; the credentials that are
 * passed on to the server behind (`same-origin`); the user who runs the gateway.
 *
 * With `same-origin` the credentials for the server distinguish the users: one must never act, or be remembered, as
 * another. The gateway cannot check such credentials, so it knows them by a keyed digest and never as a name, and new
 * credentials are a new user. A token of ours is not a credential there: a server that got it could join the run
 * (gateway.md 8).
 */
import { userInfo } from "node:os";
import type { Authenticate, AuthenticationRefusal } from "../../adapters/http/http-contract.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { checkRunToken, holdsRunToken } from "../../gateway/runs/run-key.ts";

/** The principal of callers that can reach this machine's loopback: the user who runs the gateway. */
export const localPrincipal = `os:${userInfo().uid}`;

/** Principals of users that are only known by their credentials; no run request can name such a principal. */
const credentialsPrefix = `${localPrincipal}/credentials:`;

export type IdentitySetup = {
  /** The client's `Authorization` belongs to the server behind. */
  readonly passesCredentials: boolean;
  /** The token that starts runs, which must not leave this machine either. */
  readonly controlToken: string;
  readonly mac: (text: string) => string;
  /** Owner of the run; undefined for an unknown run, and a sentence where the owner cannot be determined. */
  readonly ownerOf: (run: string) => Promise<Result<string | undefined, string>>;
};

const unauthorized = (text: string): Result<never, AuthenticationRefusal> => err({ status: 401, text });

export function authenticator({ passesCredentials, controlToken, mac, ownerOf }: IdentitySetup): Authenticate {
  const holdsOurs = (text: string): boolean => text.includes(controlToken) || holdsRunToken(text, mac);
  return async (facts) => {
    const { runToken, bearerToken } = facts;
    const inUrl = runToken === undefined ? undefined : checkRunToken(runToken, mac);
    const asBearer = bearerToken === undefined ? undefined : checkRunToken(bearerToken, mac);
    if (runToken !== undefined && inUrl === undefined) {
      return unauthorized("This run URL is not one of this gateway: ask it for a new one (POST /runs).");
    }
    if (bearerToken !== undefined && asBearer === undefined && !passesCredentials) {
      return unauthorized("This bearer token is not one of this gateway: leave it out, or use a run token.");
    }
    const passed = passesCredentials && asBearer === undefined ? facts.headers["authorization"] : undefined;
    if (passed !== undefined && holdsOurs(readable(passed))) {
      return unauthorized(
        "`Authorization` holds a token of the gateway, and what else it holds is for the server. Send a run token alone as bearer, or use the run's URL.",
      );
    }
    const digest = passed === undefined ? "" : mac(`credentials ${passed}`);
    const user = passed === undefined ? localPrincipal : `${credentialsPrefix}${digest}`;
    const headers = passed === undefined ? {} : { authorization: passed };
    const credentials = passesCredentials ? { credentials: { digest, headers } } : {};
    const run = inUrl ?? asBearer;
    const token = runToken ?? bearerToken;
    if (run === undefined || token === undefined) return ok({ principal: user, ...credentials });
    const known = await ownerOf(run);
    if (!known.ok) return err({ status: 403, text: known.error });
    const owner = known.value ?? user;
    if (owner !== user && isUser(owner)) return err(foreignRun);
    return ok({ principal: owner, runToken: token, ...credentials });
  };
}

const foreignRun: AuthenticationRefusal = {
  status: 403,
  text: "This run began with other credentials, or with none. Ask for one of these (POST /runs with them as Authorization), or name its `principal`.",
};

/** A principal that requests have without a run; any other was named by the request that started its run. */
function isUser(principal: string): boolean {
  return principal === localPrincipal || principal.startsWith(credentialsPrefix);
}

/** The header with what `Basic` encodes. */
function readable(authorization: string): string {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  return encoded === undefined
    ? authorization
    : `${authorization} ${Buffer.from(encoded, "base64").toString("latin1")}`;
}
