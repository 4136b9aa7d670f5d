/** Declarations of a client about itself: at the handshake in the legacy era, with every request in the modern one. */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { metaKeys, perRequestKeys } from "../../wire/meta.ts";
import { without } from "../../wire/object.ts";
import type { Exchange } from "../ports/transport.ts";
import type { ClientState } from "../ports/conversation.ts";

/** Characters of a client's name that are kept; it selects policies and is printed. */
const clientNameMax = 128;

export function learnClient(client: ClientState, request: RequestMessage): void {
  const meta = member(request.params, "_meta");
  if (isModernRequest(request)) {
    client.era = "modern";
    client.capabilities = perRequest(request);
    client.name ??= stringMember(member(meta, metaKeys.clientInfo), "name")?.slice(0, clientNameMax);
    return;
  }
  if (request.method !== "initialize") return;
  client.era = "legacy";
  const declared = member(request.params, "capabilities");
  client.capabilities = isObject(declared) ? declared : {};
  client.name = stringMember(member(request.params, "clientInfo"), "name")?.slice(0, clientNameMax);
}

/**
 * The capabilities of the client while this request is served. In the modern era they come with the request: those of
 * another request, before it or meanwhile, do not apply to this one.
 */
export function capabilitiesFor(client: ClientState, request: RequestMessage): JsonObject {
  return client.era === "modern" ? perRequest(request) : client.capabilities;
}

/** The per-request metadata for a call of the gateway itself: no capabilities, since no user is there to ask. */
export function unattendedMeta({ requestMeta }: ClientState): JsonObject | undefined {
  return requestMeta === undefined ? undefined : { ...requestMeta, [metaKeys.clientCapabilities]: {} };
}

/** The capabilities without sampling, for a server that may not use the client's model. */
export function withoutSampling(capabilities: JsonObject): JsonObject {
  return member(capabilities, "sampling") === undefined ? capabilities : without(capabilities, ["sampling"]);
}

/** The exchange of a client with another form of its request. */
export function exchangeOf(exchange: Exchange, request: RequestMessage): Exchange {
  if (request === exchange.request) return exchange;
  return {
    request,
    send: (message) => exchange.send(message),
    respond: (answer) => exchange.respond(answer),
    onAbandoned: (listener) => exchange.onAbandoned(listener),
  };
}

/** The request without the client's sampling capability, for a server that may not use the client's model. */
export function requestWithoutSampling(request: RequestMessage): RequestMessage {
  const { params } = request;
  const place = request.method === "initialize" ? params : member(params, "_meta");
  const name = request.method === "initialize" ? "capabilities" : metaKeys.clientCapabilities;
  const declared = member(place, name);
  if (!isObject(place) || !isObject(declared)) return request;
  const kept = withoutSampling(declared);
  if (kept === declared) return request;
  const { raw: _raw, ...plain } = request;
  const told = { ...place, [name]: kept };
  return { ...plain, params: place === params ? told : { ...params, _meta: told } };
}

function isModernRequest(request: RequestMessage): boolean {
  const meta = member(request.params, "_meta");
  if (isObject(member(meta, metaKeys.clientCapabilities))) return true;
  return request.method !== "initialize" && member(meta, metaKeys.protocolVersion) !== undefined;
}

function perRequest(request: RequestMessage): JsonObject {
  const declared = member(member(request.params, "_meta"), metaKeys.clientCapabilities);
  return isObject(declared) ? declared : {};
}

/** Members that a request of the gateway needs of a client's request: version and capabilities of the modern era. */
export function protocolOnly(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?.["_meta"];
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([name]) => perRequestKeys.includes(name));
  return kept.length === 0 ? undefined : { _meta: Object.fromEntries(kept) };
}

/** True for a client of the modern era, whose results name their type. */
export function isModern({ client }: { readonly client: ClientState }): boolean {
  return client.era === "modern";
}
