/**
 * Compares the first bytes of a client on a connection with the name that was granted. Without it a server could open a
 * connection under a granted name and ask the machine behind, which may serve many names, for another.
 *
 * On 443 there must be TLS with exactly this name, on 80 HTTP with exactly this host. Elsewhere the protocol is not
 * known and may let the other side speak first: then TLS and HTTP are compared where the bytes are that, and everything
 * else passes by its address alone. Only the first request of a plain HTTP connection is read.
 */
import { parseAddress } from "../../core/isolation/internet-address.ts";
import { helloBytesMax, parseClientHello } from "./client-hello.ts";
import { headBytesMax, parseAuthority, parseRequestHead, targetAuthority } from "./http-head.ts";
import { canonicalDestination, type Destination } from "./permissions.ts";

export type Inspection =
  | { readonly kind: "more" }
  /** `note`: an observation for the record. */
  | { readonly kind: "pass"; readonly note: string | undefined }
  | { readonly kind: "refused"; readonly rule: FirstBytesRule };

export type FirstBytesRule =
  | "egress-not-tls"
  | "egress-not-http"
  | "egress-malformed-hello"
  | "egress-malformed-request"
  | "egress-server-name-absent"
  | "egress-server-name-differs"
  | "egress-host-absent"
  | "egress-host-differs";

/** Bytes that are kept until a decision. */
export const firstBytesMax = Math.max(helloBytesMax, headBytesMax);

const tlsPort = 443;
const httpPort = 80;
const pass = { kind: "pass", note: undefined } as const;

/** True iff nothing is passed to the destination before the client has spoken. */
export function mustSpeakFirst({ port }: Destination): boolean {
  return port === tlsPort || port === httpPort;
}

/** Decides on all bytes that the client has sent so far. */
export function inspectFirstBytes(destination: Destination, bytes: Uint8Array): Inspection {
  if (destination.port === tlsPort) return inspectHello(destination, bytes);
  if (destination.port === httpPort) return inspectRequest(destination, bytes);
  const hello = inspectHello(destination, bytes);
  if (hello.kind !== "refused") return hello;
  // No other protocol begins like TLS; a malformed hello could hide a name from the broker that the destination reads.
  if (hello.rule === "egress-server-name-absent") return pass;
  if (hello.rule !== "egress-not-tls") return hello;
  // Other protocols may begin like HTTP: only a clear contradiction is refused.
  if (!beginsLikeRequest(bytes)) return pass;
  const request = inspectRequest(destination, bytes);
  if (request.kind === "refused") return request.rule === "egress-host-differs" ? request : pass;
  return request;
}

function inspectHello(destination: Destination, bytes: Uint8Array): Inspection {
  const parsed = parseClientHello(bytes);
  switch (parsed.kind) {
    case "more":
      return parsed;
    case "foreign":
      return { kind: "refused", rule: "egress-not-tls" };
    case "malformed":
      return { kind: "refused", rule: "egress-malformed-hello" };
    case "hello": {
      const note = parsed.encrypted ? "encrypted-client-hello" : undefined;
      if (parsed.serverName !== undefined) {
        if (canonicalDestination(parsed.serverName) === destination.host) return { kind: "pass", note };
        return { kind: "refused", rule: "egress-server-name-differs" };
      }
      // Addresses are never sent as server names (RFC 6066), so a granted address is spoken to without one.
      if (isAddress(destination)) return { kind: "pass", note };
      return { kind: "refused", rule: "egress-server-name-absent" };
    }
  }
}

function inspectRequest(destination: Destination, bytes: Uint8Array): Inspection {
  const parsed = parseRequestHead(bytes);
  switch (parsed.kind) {
    case "more":
      return parsed;
    case "foreign":
      return { kind: "refused", rule: "egress-not-http" };
    case "malformed":
      return { kind: "refused", rule: "egress-malformed-request" };
    case "head": {
      const { host, target } = parsed.head;
      if (host === undefined || host === "") return { kind: "refused", rule: "egress-host-absent" };
      const inTarget = targetAuthority(target);
      const same = isSame(host, destination) && (inTarget === undefined || isSame(inTarget, destination));
      return same ? pass : { kind: "refused", rule: "egress-host-differs" };
    }
  }
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].map((method) => `${method} `);

function beginsLikeRequest(bytes: Uint8Array): boolean {
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  return methods.some((method) => text.startsWith(method) || method.startsWith(text));
}

function isSame(authority: string, destination: Destination): boolean {
  const read = parseAuthority(authority);
  if (read === undefined || (read.port ?? destination.port) !== destination.port) return false;
  if (canonicalDestination(read.host) === destination.host) return true;
  // Both spellings of this machine reach the same services.
  return isLoopbackHost(read.host) && isLoopbackHost(destination.host);
}

function isLoopbackHost(host: string): boolean {
  return host === "localhost" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isAddress({ host }: Destination): boolean {
  return parseAddress(host) !== undefined || host === "localhost";
}
