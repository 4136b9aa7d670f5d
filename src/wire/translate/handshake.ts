/**
 * Handshake across the eras. Pure, per message; the gateway keeps the session.
 *
 * | from | to | what happens |
 * |---|---|---|
 * | legacy `InitializeResult` | modern `DiscoverResult` | `serverInfo` moves to `_meta`, cache hints appear |
 * | modern `DiscoverResult` | legacy `InitializeResult` | the other way; modern extensions are not offered |
 * | modern `_meta` of a request | legacy `initialize` params | identity and capabilities of that client |
 * | legacy `initialize` params | modern `_meta` of every request | the same, plus the log level set since |
 */
import { isObject, member, type Json, type JsonObject } from "../../core/json.ts";
import { takesForms } from "../elicitation.ts";
import { metaKeys } from "../meta.ts";
import type { Revision } from "../message.ts";
import { runCache, type RequestMeta } from "../modern.ts";
import { withMeta, without } from "../object.ts";
import { modernRevision } from "../revision.ts";

/** Identity used where a peer gave none: both fields are required in the legacy era. */
const unknownImplementation: JsonObject = { name: "unknown", version: "0" };

function objectOr(value: Json | undefined, fallback: JsonObject): JsonObject {
  return isObject(value) ? value : fallback;
}

/** Server capabilities that exist in one era only. Tasks differ in shape and are never offered across the eras. */
const legacyOnly = ["tasks"];
const modernOnly = ["extensions"];

/** The answer to `server/discover` for a legacy server, from its `InitializeResult`. */
export function discoverFromInitialize(initialize: JsonObject): JsonObject {
  const rest = without(initialize, ["protocolVersion", "capabilities", "serverInfo", "_meta"]);
  const meta = objectOr(member(initialize, "_meta"), {});
  const serverInfo = objectOr(member(initialize, "serverInfo"), unknownImplementation);
  return {
    ...rest,
    resultType: "complete",
    supportedVersions: [modernRevision],
    capabilities: without(objectOr(member(initialize, "capabilities"), {}), legacyOnly),
    ...runCache,
    _meta: { ...meta, [metaKeys.serverInfo]: serverInfo },
  };
}

/** The answer to `initialize` for a modern server, from its `DiscoverResult`. */
export function initializeFromDiscover(discover: JsonObject, revision: Revision): JsonObject {
  const rest = without(discover, ["resultType", "supportedVersions", "capabilities", "ttlMs", "cacheScope"]);
  const meta = objectOr(member(discover, "_meta"), {});
  const serverInfo = objectOr(member(meta, metaKeys.serverInfo), unknownImplementation);
  const capabilities = without(objectOr(member(discover, "capabilities"), {}), modernOnly);
  const initialize = { ...rest, protocolVersion: revision, capabilities, serverInfo };
  return withMeta(initialize, without(meta, [metaKeys.serverInfo]));
}

/** `initialize` params for a legacy server, in the name of a modern client. */
export function initializeParams(meta: RequestMeta, revision: Revision): JsonObject {
  return {
    protocolVersion: revision,
    capabilities: clientCapabilitiesFor(meta.clientCapabilities ?? {}, revision),
    clientInfo: meta.clientInfo ?? unknownImplementation,
  };
}

/**
 * A modern client's capabilities as a legacy revision knows them. Elicitation came with 2025-06-18 (forms only) and
 * got its modes with 2025-11-25; a client that has URL mode alone cannot answer the forms of the older one.
 */
export function clientCapabilitiesFor(capabilities: JsonObject, revision: Revision): JsonObject {
  const kept = without(capabilities, ["extensions", "elicitation"]);
  const elicitation = member(capabilities, "elicitation");
  if (!isObject(elicitation) || revision === "2024-11-05" || revision === "2025-03-26") return kept;
  if (revision !== "2025-06-18") return { ...kept, elicitation };
  return takesForms(capabilities) ? { ...kept, elicitation: {} } : kept;
}

/** The facts that a legacy client states once and every modern request on its behalf must repeat. */
export type LegacyClient = {
  readonly clientInfo: JsonObject | undefined;
  readonly capabilities: JsonObject;
  /** From `logging/setLevel`, if it was called. */
  readonly logLevel: string | undefined;
};

export function legacyClient(initialize: JsonObject | undefined): LegacyClient {
  const clientInfo = member(initialize, "clientInfo");
  return {
    clientInfo: isObject(clientInfo) ? clientInfo : undefined,
    capabilities: objectOr(member(initialize, "capabilities"), {}),
    logLevel: undefined,
  };
}

/** Per-request metadata for a modern server. Client-hosted tasks have no modern form. */
export function perRequestMeta(client: LegacyClient): JsonObject {
  const roots = member(client.capabilities, "roots");
  const kept = without(client.capabilities, ["tasks", "roots"]);
  return {
    [metaKeys.protocolVersion]: modernRevision,
    ...(client.clientInfo === undefined ? {} : { [metaKeys.clientInfo]: client.clientInfo }),
    // `roots.listChanged` has no modern meaning: roots are asked for when they are needed.
    [metaKeys.clientCapabilities]: isObject(roots) ? { ...kept, roots: {} } : kept,
    ...(client.logLevel === undefined ? {} : { [metaKeys.logLevel]: client.logLevel }),
  };
}
