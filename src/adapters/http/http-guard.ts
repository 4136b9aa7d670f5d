/**
 * Checks before a request is read: the host that it was sent to, and the origin of the page that sent it.
 *
 * A web page can make a browser send requests to a local port, and with DNS rebinding even read the answers, because
 * the browser takes our address for the page's own host. The page cannot forge `Host` and `Origin`, so both must be
 * ours: a loopback name, or one that the operator configured (Streamable HTTP, security considerations).
 */
export type GuardConfig = {
  /** Further host names under which this gateway is reached, without port, lower case. */
  readonly hosts: readonly string[];
  /** Further origins whose pages may send requests, such as `https://console.example`. */
  readonly origins: readonly string[];
};

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Undefined if the request may go on, else the sentence for a 403. */
export function refuseForeign(
  host: string | undefined,
  origin: string | undefined,
  config: GuardConfig,
): string | undefined {
  const name = hostName(host);
  if (name === undefined || !(loopback.has(name) || config.hosts.includes(name))) {
    return "This host name is not served here. Use 127.0.0.1, or add the name to the gateway's `hosts`.";
  }
  if (origin === undefined || config.origins.includes(origin)) return undefined;
  const page = /^https?:\/\/([^/@]+)$/.exec(origin)?.[1];
  const pageName = hostName(page);
  if (pageName !== undefined && loopback.has(pageName)) return undefined;
  return "Pages of this origin may not use the gateway. Add the origin to the gateway's `origins` if you trust it.";
}

/** Header fields that a request has at most once, because something is decided by them. */
const singleFields: ReadonlySet<string> = new Set([
  "host",
  "origin",
  "authorization",
  "content-type",
  "mcp-session-id",
  "mcp-protocol-version",
]);

/**
 * The first field that is there twice, or undefined. Node keeps one of them and a proxy in front may have judged the
 * other; RFC 9112, 3.2 wants 400 for a second `Host`. `raw` alternates names and values.
 */
export function repeatedField(raw: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? "";
    if (!singleFields.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** Host without port, lower case; undefined for anything that is not `name`, `name:port` or a bracketed address. */
export function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::\d{1,5})?$/.exec(host?.toLowerCase() ?? "")?.[1];
}

/** The forms of answer that a client accepts. No `Accept` header means any (RFC 9110, 12.5.1). */
export function accepted(header: string | undefined): AcceptedForms {
  if (header === undefined) return { json: true, stream: true, streamFirst: false };
  const types = header
    .toLowerCase()
    .split(",", 64)
    .filter((part) => !/;\s*q=0(?:\.0{1,3})?\s*$/.test(part))
    .map((part) => part.split(";", 1)[0]?.trim() ?? "");
  const place = (...names: readonly string[]): number => types.findIndex((type) => names.includes(type));
  const any = types.includes("*/*");
  const [json, stream] = [place("application/json", "application/*"), place("text/event-stream", "text/*")];
  return {
    json: any || json >= 0,
    stream: any || stream >= 0,
    streamFirst: stream >= 0 && (json < 0 || stream < json),
  };
}

/** Forms of an answer that a client takes; `streamFirst`: it names the event stream before JSON, or alone. */
export type AcceptedForms = { readonly json: boolean; readonly stream: boolean; readonly streamFirst: boolean };

/** The meaning of a path: an MCP endpoint, or an entry of the route table. */
export type Endpoint =
  | { readonly kind: "mcp"; readonly server: string | undefined; readonly runToken: string | undefined }
  | { readonly kind: "other"; readonly path: string };

const endpointPattern = /^(?:\/r\/([A-Za-z0-9._~-]{1,512}))?(?:\/s\/([A-Za-z0-9._-]{1,64}))?\/mcp$/;

/** Reads `/mcp`, `/s/NAME/mcp` and both behind `/r/TOKEN`. Percent escapes are not decoded: no name needs them. */
export function endpointOf(path: string): Endpoint {
  const found = endpointPattern.exec(path);
  return found === null ? { kind: "other", path } : { kind: "mcp", server: found[2], runToken: found[1] };
}

/** The token of an `Authorization: Bearer` header. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/=-]{1,4096})$/i.exec(header ?? "")?.[1];
}
