/**
 * Every request of a plain HTTP/1 connection, not only the first: a server could ask for its granted host once and for
 * another one on the same connection. Bytes of a head pass only when the whole head was judged; bodies pass as they come.
 *
 * What ends HTTP/1 on a connection (CONNECT, an upgrade, HTTP/2) is refused, since the names that follow are not read,
 * and so is each head of which two parsers could see different bodies (RFC 9112 section 6.3).
 */
import { parseRequestHead, type RequestHead } from "./http-head.ts";

export type StreamRule =
  | "egress-connect"
  | "egress-upgrade"
  | "egress-body-ambiguous"
  | "egress-malformed-request"
  | "egress-not-http"
  | "egress-host-absent"
  | "egress-host-differs";

/** The rule that ends a connection; `asked`: the authority that was meant instead of the granted one, as it was written. */
export type StreamObjection = { readonly rule: StreamRule; readonly asked?: string };

/** What may pass now, or why the connection ends. */
export type StreamVerdict = { readonly pass: Buffer } | StreamObjection;

/** The objection to one head; undefined where its request may pass. */
export type HeadCheck = (head: RequestHead) => StreamObjection | undefined;

type State =
  | { readonly kind: "head" }
  /** `left`: bytes of a body, or of a chunk with its line end. */
  | { readonly kind: "body" | "chunk"; readonly left: number }
  | { readonly kind: "chunk-size" | "trailer" };

const ambiguous: StreamObjection = { rule: "egress-body-ambiguous" };

/** Bytes of a chunk's size line, and of one trailer line. */
const lineBytesMax = 4_096;

export class RequestStream {
  readonly #check: HeadCheck;
  #state: State = { kind: "head" };
  #waiting: Buffer = Buffer.alloc(0);

  constructor(check: HeadCheck) {
    this.#check = check;
  }

  /** Takes further bytes of the client. After a rule nothing may pass any more. */
  take(bytes: Buffer): StreamVerdict {
    let rest = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.#waiting = Buffer.alloc(0);
    const passed: Buffer[] = [];
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (typeof used !== "number") return used;
      if (used === 0) {
        // A copy: the rest of a large piece must not be kept for it.
        this.#waiting = Buffer.from(rest);
        break;
      }
      passed.push(rest.subarray(0, used));
      rest = rest.subarray(used);
    }
    return { pass: passed.length === 1 ? (passed[0] ?? rest) : Buffer.concat(passed) };
  }

  /** How many of the bytes may pass, 0 = more are needed. */
  #step(bytes: Buffer): number | StreamObjection {
    const state = this.#state;
    switch (state.kind) {
      case "head":
        return this.#head(bytes);
      case "body":
      case "chunk": {
        const used = Math.min(state.left, bytes.length);
        const left = state.left - used;
        const next: State = state.kind === "body" ? { kind: "head" } : { kind: "chunk-size" };
        this.#state = left > 0 ? { kind: state.kind, left } : next;
        return used;
      }
      case "chunk-size":
      case "trailer":
        return this.#line(bytes, state.kind);
    }
  }

  #head(bytes: Buffer): number | StreamObjection {
    const parsed = parseRequestHead(bytes);
    switch (parsed.kind) {
      case "more":
        return 0;
      case "foreign":
        return { rule: "egress-not-http" };
      case "malformed":
        return { rule: "egress-malformed-request" };
      case "head": {
        const { head } = parsed;
        const objection = leavesHttp(head) ?? this.#check(head);
        if (objection !== undefined) return objection;
        const body = bodyOf(head);
        if (body === undefined) return ambiguous;
        this.#state = body.kind === "body" && body.left === 0 ? { kind: "head" } : body;
        return head.bytes;
      }
    }
  }

  #line(bytes: Buffer, kind: "chunk-size" | "trailer"): number | StreamObjection {
    const end = bytes.indexOf("\r\n");
    if (end === -1) return bytes.length > lineBytesMax || bytes.includes("\n") ? ambiguous : 0;
    const line = bytes.toString("latin1", 0, end);
    if (end > lineBytesMax || line.includes("\n")) return ambiguous;
    if (kind === "trailer") {
      if (line === "") this.#state = { kind: "head" };
      return end + 2;
    }
    const size = /^([0-9a-fA-F]{1,8})(?:;[\t -~\x80-\xff]*)?$/.exec(line)?.[1];
    if (size === undefined) return ambiguous;
    const left = Number.parseInt(size, 16);
    this.#state = left === 0 ? { kind: "trailer" } : { kind: "chunk", left: left + 2 };
    return end + 2;
  }
}

/**
 * Watches the first line of an unknown protocol, whose bytes pass as they come: a request that is cut within its first
 * line is seen before its fields have passed.
 */
export class FirstLine {
  readonly #claims: (bytes: Uint8Array) => "http" | "open" | "other";
  #seen: Buffer | undefined = Buffer.alloc(0);

  constructor(claims: (bytes: Uint8Array) => "http" | "open" | "other") {
    this.#claims = claims;
  }

  take(bytes: Buffer): StreamVerdict {
    if (this.#seen === undefined) return { pass: bytes };
    this.#seen = Buffer.concat([this.#seen, bytes]);
    const claim = this.#claims(this.#seen);
    if (claim === "http") return { rule: "egress-not-http" };
    if (claim === "other") this.#seen = undefined;
    return { pass: bytes };
  }
}

/** Requests after which the connection may speak something else. */
export function leavesHttp({ method, target, fields }: RequestHead): StreamObjection | undefined {
  if (method === "CONNECT") return { rule: "egress-connect", asked: target };
  const upgrades = fields.some(({ name }) => name === "upgrade" || name === "http2-settings");
  return upgrades ? { rule: "egress-upgrade" } : undefined;
}

/** The body that follows a head; undefined where parsers differ about it. */
function bodyOf({ fields, version }: RequestHead): State | undefined {
  const framing = fields.filter(({ name }) => name === "content-length" || name === "transfer-encoding");
  const [field] = framing;
  if (field === undefined) return { kind: "body", left: 0 };
  if (framing.length > 1) return undefined;
  const { name, value } = field;
  if (name === "content-length") return /^\d{1,15}$/.test(value) ? { kind: "body", left: Number(value) } : undefined;
  return value.toLowerCase() === "chunked" && version === "1.1" ? { kind: "chunk-size" } : undefined;
}
