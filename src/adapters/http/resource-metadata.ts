/**
 * Protected-resource metadata (RFC 9728) of a server whose users sign in with it directly (`same-origin`): its own
 * document, as it is. Clients accept only a document about the origin that they use, and here clients reach the gateway
 * at the server's own origin. The client's own path is never passed on, since the URL of a run holds a token of the
 * gateway.
 */
import { isObject, type Json } from "../../core/json.ts";
import type { RouteReply } from "./http-contract.ts";
import { endpointOf } from "./http-guard.ts";
import { HttpLink } from "./http-link.ts";
import { type HttpTarget, refuseTarget } from "./http-upstream.ts";
import { defaultUpstreamLimits, type UpstreamLimits } from "./http-limits.ts";

export const metadataPath = "/.well-known/oauth-protected-resource";

/** How long the server may take; clients wait for the document before they ask the user to sign in. */
const metadataWaitMsMax = 10_000;

const limits: UpstreamLimits = { ...defaultUpstreamLimits, connectionsMax: 1 };

/** Path of the requested document at the server; undefined if the document is about another resource. */
export function metadataPathAt(
  asked: string,
  server: URL,
  serves: (name: string | undefined) => boolean,
): string | undefined {
  const resource = asked.slice(metadataPath.length);
  if (resource === "") return metadataPath;
  const endpoint = endpointOf(resource);
  const ours = endpoint.kind === "mcp" && serves(endpoint.server);
  if (!ours && resource !== server.pathname) return undefined;
  return server.pathname === "/" ? metadataPath : `${metadataPath}${server.pathname}`;
}

/** Gets a document from the server, without anything that the client sent. */
export async function fetchMetadata(target: HttpTarget, path: string): Promise<RouteReply> {
  const refusal = refuseTarget(target);
  if (refusal !== undefined) return said(502, refusal);
  const url = new URL(path, target.url);
  const link = new HttpLink(url, target.headers, limits);
  try {
    const headers = { accept: "application/json" };
    const signal = AbortSignal.timeout(metadataWaitMsMax);
    const answer = await link.ask({ method: "GET", url, headers, signal, quietMsMax: metadataWaitMsMax });
    if (!answer.ok) return said(502, `The server at ${url.host} gave no metadata. ${answer.error.text}`);
    const { status, type } = answer.value;
    const body = await answer.value.whole(limits.errorBodyBytesMax);
    if (status >= 400 && status < 500) return said(404, `The server at ${url.host} has no such metadata.`);
    if (status === 200 && type === "application/json" && body !== undefined && isDocument(body)) {
      return { status: 200, body, headers: { "content-type": "application/json" } };
    }
    return said(502, `The server at ${url.host} gave no readable metadata (HTTP status ${status}). Check the server.`);
  } finally {
    await link.destroy();
  }
}

function isDocument(body: Uint8Array): boolean {
  try {
    return isObject(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json); // JSON.parse yields JSON
  } catch {
    return false;
  }
}

function said(status: number, sentence: string): RouteReply {
  return { status, body: `${sentence}\n`, headers: { "content-type": "text/plain" } };
}
