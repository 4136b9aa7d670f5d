/** Turns the report of a client's hook into an event of the gateway, and returns the reply for the hook to format. */
import { userInfo } from "node:os";
import { parseIdentities, parseIdentity } from "../../adapters/daemon/protocol.ts";
import { isObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { HostFacts } from "../../gateway/session/gateway.ts";
import type { HostEvent, HostReply } from "../../gateway/calls/client-hooks.ts";
import type { Composition } from "./composition.ts";
import { workFolder } from "./work-folder.ts";
import type { Reply, Request } from "./control-contract.ts";

/** How the reply of the gateway is named in the answer to a hook. */
const verdicts: Readonly<Record<HostReply["verdict"], string>> = { allow: "allow", ask: "confirm", deny: "deny" };

export async function hookEvent(
  { gateway, policies }: Composition,
  request: Request<"hook">,
): Promise<Result<Reply<"hook">, string>> {
  const event = eventOf(request);
  if (event === undefined) return err("The hook sent an event that the daemon does not know.");
  const followed = await policies.follow();
  // A past event goes on record under any policy; a future one is not decided under a policy that its user replaced.
  if (!followed.ok && event.kind === "before-tool") return followed;
  const reply = await gateway.hostEvent(factsOf(request), event);
  const decision = reply.decision === undefined ? {} : { decision: reply.decision };
  return ok({ verdict: verdicts[reply.verdict], sentence: reply.sentence, ...decision });
}

function factsOf({ client, process: given, above, conversation: session, cwd }: Request<"hook">): HostFacts {
  const process = parseIdentity(given);
  return {
    client,
    principal: `os:${userInfo().uid}`,
    ...(process === undefined ? {} : { process, above: parseIdentities(above) }),
    ...(session === undefined ? {} : { session }),
    ...workFolder(cwd),
  };
}

function eventOf(request: Request<"hook">): HostEvent | undefined {
  const { event, tool = "", call: used, arguments: given, prompt: text = "", result = null, failed = false } = request;
  const use = { tool, arguments: isObject(given) ? given : {}, ...(used === undefined ? {} : { use: used }) };
  switch (event) {
    case "prompt":
      return { kind: "prompt", text };
    case "session-start":
    case "session-clear":
    case "session-end":
      return { kind: event };
    case "pre-tool":
      return tool === "" ? undefined : { kind: "before-tool", ...use };
    case "post-tool":
      return tool === "" ? undefined : { kind: "after-tool", ...use, result, failed };
    default:
      return undefined;
  }
}
