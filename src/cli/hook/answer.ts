/** What a client's hook reported, as an event of the gateway, and the gateway's reply for the hook to format. */
import { userInfo } from "node:os";
import { parseIdentity } from "../../adapters/daemon/protocol.ts";
import type { Json } from "../../core/json.ts";
import { isObject, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { HostFacts } from "../../gateway/gateway.ts";
import type { HostEvent, HostReply } from "../../gateway/host-events.ts";
import type { Composition } from "../composition.ts";

/** How the reply of the gateway is named in the answer to a hook. */
const verdicts: Readonly<Record<HostReply["verdict"], string>> = { allow: "allow", ask: "confirm", deny: "deny" };

export async function hookEvent({ gateway, policies }: Composition, request: Json): Promise<Result<Json, string>> {
  const facts = factsOf(request);
  const event = eventOf(request);
  if (facts === undefined || event === undefined) return err("The hook sent an event that the daemon does not know.");
  const followed = await policies.follow();
  // What has happened goes on record under any policy; what is to happen is not decided under one that its user replaced.
  if (!followed.ok && event.kind === "before-tool") return followed;
  const reply = await gateway.hostEvent(facts, event);
  const decision = reply.decision === undefined ? {} : { decision: reply.decision };
  return ok({ verdict: verdicts[reply.verdict], sentence: reply.sentence, ...decision });
}

function factsOf(request: Json): HostFacts | undefined {
  const client = stringMember(request, "client");
  if (client === undefined) return undefined;
  const process = parseIdentity(member(request, "process"));
  const session = stringMember(request, "conversation");
  const workingDirectory = stringMember(request, "cwd");
  return {
    client,
    principal: `os:${userInfo().uid}`,
    ...(process === undefined ? {} : { process }),
    ...(session === undefined ? {} : { session }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  };
}

function eventOf(request: Json): HostEvent | undefined {
  const given = member(request, "arguments");
  const used = stringMember(request, "call");
  const use = {
    tool: stringMember(request, "tool") ?? "",
    arguments: isObject(given) ? given : {},
    ...(used === undefined ? {} : { use: used }),
  };
  switch (stringMember(request, "event")) {
    case "prompt":
      return { kind: "prompt", text: stringMember(request, "prompt") ?? "" };
    case "session-start":
      return { kind: "session-start" };
    case "session-clear":
      return { kind: "session-clear" };
    case "session-end":
      return { kind: "session-end" };
    case "pre-tool":
      return use.tool === "" ? undefined : { kind: "before-tool", ...use };
    case "post-tool": {
      const result = member(request, "result") ?? null;
      const failed = member(request, "failed") === true;
      return use.tool === "" ? undefined : { kind: "after-tool", ...use, result, failed };
    }
    case undefined:
    default:
      return undefined;
  }
}
