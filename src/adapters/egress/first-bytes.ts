/**
 * Compares the first bytes of a client on a connection with the name that was granted. Without it a server could open a
 * connection under a granted name and ask the machine behind, which may serve many names, for another.
 *
 * On 443 there must be TLS with exactly this name, on 80 HTTP with exactly this host. Elsewhere the protocol is not
 * known and may let the other side speak first: then TLS and HTTP are compared where the bytes are that or claim to be,
 * and everything else passes by its address alone. Of HTTP every request is read (`request-stream.ts`).
 */
import { parseAddress } from "../../core/isolation/internet-address.ts";
import { helloBytesMax, parseClientHello } from "./client-hello.ts";
import { headBytesMax, parseAuthority, parseRequestHead, type RequestHead, targetAuthority } from "./http-head.ts";
import { canonicalDestination, type Destination } from "./permissions.ts";
import { leavesHttp, type StreamObjection, type StreamRule } from "./request-stream.ts";

export type Inspection =
  | { readonly kind: "more" }
  /** `note`: an observation for the record. `follow`: what is read of the bytes that follow. */
  | { readonly kind: "pass"; readonly note: string | undefined; readonly follow?: "requests" | "first-line" }
  /** `asked`: the host that was meant instead of the granted one, as it was written. */
  | { readonly kind: "refused"; readonly rule: FirstBytesRule; readonly asked?: string };

export type FirstBytesRule =
  | StreamRule
  | "egress-not-tls"
  | "egress-malformed-hello"
  | "egress-server-name-absent"
  | "egress-server-name-differs";

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
  // No other protocol begins like TLS; without a name, or with a malformed one, another host could be meant.
  if (hello.rule !== "egress-not-tls") return hello;
  const claim = claimsHttp(bytes);
  // An address is granted as such, whatever it is called; HTTP/2 in plain is passed to it only.
  if (claim === "http" && isAddress(destination) && beginsHttp2(bytes)) return pass;
  switch (claim) {
    case "http":
      return inspectRequest(destination, bytes);
    case "open":
      // A client of another protocol may wait for an answer now, so nothing is kept back but the end of the line.
      return beginsLikeRequest(bytes) ? { kind: "more" } : { ...pass, follow: "first-line" };
    case "other":
      return pass;
  }
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
        return { kind: "refused", rule: "egress-server-name-differs", asked: parsed.serverName };
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
      const objection = leavesHttp(parsed.head) ?? objectionTo(destination, parsed.head);
      return objection === undefined ? { ...pass, follow: "requests" } : { kind: "refused", ...objection };
    }
  }
}

/** The objection to one request on a connection to this destination. */
export function objectionTo(destination: Destination, { host, target }: RequestHead): StreamObjection | undefined {
  if (host === undefined || host === "") return { rule: "egress-host-absent" };
  const inTarget = targetAuthority(target);
  const other = [host, inTarget].find((one) => one !== undefined && !isSame(one, destination));
  return other === undefined ? undefined : { rule: "egress-host-differs", asked: other };
}

/**
 * Whether bytes on an unknown port are HTTP, perhaps written so that only the destination knows: servers skip empty
 * lines, take any word for a method, and many take bare line feeds. `open`: the first line has not ended.
 */
export function claimsHttp(bytes: Uint8Array): "http" | "open" | "other" {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytesMax)).toString("latin1");
  const line = text.replace(/^[\s\0]+/, "");
  const end = /[\r\n]/.exec(line)?.index;
  if (end !== undefined) return /\bHTTP\/\d/i.test(line.slice(0, end)) ? "http" : "other";
  if (/HTTP\/\d/i.test(line)) return "http";
  return text.length >= headBytesMax ? "other" : "open";
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PRI"].map(
  (one) => `${one} `,
);

function beginsLikeRequest(bytes: Uint8Array): boolean {
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  return text !== "" && methods.some((method) => text.startsWith(method) || method.startsWith(text));
}

function beginsHttp2(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).toString("latin1", 0, 14) === "PRI * HTTP/2.0";
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
