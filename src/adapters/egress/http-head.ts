/**
 * The head of an HTTP/1 request (RFC 9112), read for its destination. Strict where parsers differ, since a server that
 * reads another host than we do would be reached under a granted name: one Host field, no folded lines, no spaces
 * around field names, lines end with CR LF.
 */

/** Bytes of request line and fields together. */
export const headBytesMax = 16_384;

export type RequestHead = {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** The authority (`name[:port]`) of the Host field, lower case. */
  readonly host: string | undefined;
  /** Every field in order, its name in lower case. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** The length of the head with its empty line, where the body begins. */
  readonly bytes: number;
};

export type ParsedHead =
  | { readonly kind: "more" }
  /** Starts like no HTTP request. */
  | { readonly kind: "foreign" }
  | { readonly kind: "malformed" }
  | { readonly kind: "head"; readonly head: RequestHead };

const requestLine = /^([A-Z]{1,20}) ([!-~]+) HTTP\/(1\.[01])$/;
const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)$/;

/** Reads what a client has sent so far, from its first byte. */
export function parseRequestHead(bytes: Uint8Array): ParsedHead {
  const text = latin(bytes.subarray(0, headBytesMax));
  // A method is a word in capitals; everything else that opens a connection is another protocol.
  if (!/^(?:[A-Z]{1,20}(?: |$)|$)/.test(text)) return { kind: "foreign" };
  const end = text.indexOf("\r\n\r\n");
  const line = /^[^\n]*(?=\n)/.exec(text)?.[0];
  // Another protocol that also begins with a word in capitals must not be waited for.
  if (line !== undefined && !(line.endsWith("\r") && requestLine.test(line.slice(0, -1)))) return { kind: "malformed" };
  if (end === -1) return { kind: text.length === headBytesMax ? "malformed" : "more" };
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const request = requestLine.exec(first);
  if (request === null) return { kind: "malformed" };
  const fields: { name: string; value: string }[] = [];
  for (const line of lines) {
    const read = field.exec(line);
    if (read === null) return { kind: "malformed" };
    fields.push({ name: read[1]?.toLowerCase() ?? "", value: withoutBlanks(read[2] ?? "") });
  }
  const hosts = fields.filter(({ name }) => name === "host");
  if (hosts.length > 1) return { kind: "malformed" };
  const [, method = "", target = "", version = ""] = request;
  return {
    kind: "head",
    head: { method, target, version, host: hosts[0]?.value.toLowerCase(), fields, bytes: end + 4 },
  };
}

/** The value of a field without the blanks around it (RFC 9110 section 5.5): tab and space, no others. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number): boolean => text[at] === " " || text[at] === "\t";
  let [from, to] = [0, text.length];
  while (from < to && isBlank(from)) from += 1;
  while (to > from && isBlank(to - 1)) to -= 1;
  return text.slice(from, to);
}

export type Authority = { readonly host: string; readonly port: number | undefined };

/** Reads `name`, `name:port`, `address:port` or `[v6]:port`; undefined for all else, credentials included. */
export function parseAuthority(text: string): Authority | undefined {
  const read = /^(?:\[((?=[^\]]*:)[0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,254}))(?::(\d{1,5}))?$/.exec(text);
  if (read === null) return undefined;
  const host = (read[1] ?? read[2] ?? "").toLowerCase();
  if (read[3] === undefined) return { host, port: undefined };
  const port = Number(read[3]);
  return port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** The authority of a request target in absolute form (`http://name/path`), which some servers prefer to Host. */
export function targetAuthority(target: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)/.exec(target)?.[1]?.toLowerCase();
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
