/** What a client says of itself: at the handshake in the legacy era, with every request in the modern one. */
import { isObject, member, stringMember } from "../core/json.ts";
import type { RequestMessage } from "../wire/message.ts";
import { metaKeys } from "../wire/meta.ts";
import { protocolOnly } from "./lists.ts";
import type { ClientState } from "./scene.ts";

/** Characters of a client's name that are kept; it selects policies and is printed. */
const clientNameMax = 128;

export function learnClient(client: ClientState, request: RequestMessage): void {
  const meta = member(request.params, "_meta");
  const capabilities = member(meta, metaKeys.clientCapabilities);
  if (isObject(capabilities)) {
    client.era = "modern";
    client.capabilities = capabilities;
    const kept = protocolOnly(request.params)?.["_meta"];
    client.requestMeta = isObject(kept) ? kept : undefined;
    client.name ??= stringMember(member(meta, metaKeys.clientInfo), "name")?.slice(0, clientNameMax);
    return;
  }
  if (request.method !== "initialize") return;
  client.era = "legacy";
  const declared = member(request.params, "capabilities");
  client.capabilities = isObject(declared) ? declared : {};
  client.name = stringMember(member(request.params, "clientInfo"), "name")?.slice(0, clientNameMax);
}
