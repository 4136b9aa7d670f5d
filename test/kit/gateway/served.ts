/** Clients that call tools of servers which answer everything: for tests of what becomes of calls, not of messages. */
import { type JsonObject, isArray, member, stringMember } from "../../../src/core/json.ts";
import { listQuietMs } from "../../../src/gateway/ports/limits.ts";
import { type FakeClient, plain, Stage } from "./playbook.ts";
import { stageTools } from "./stage-tools.ts";

let ids = 0;

export type Served = { readonly text: string; readonly refused: boolean; readonly answer: JsonObject };

/** Lets the servers answer, each with this list of tools, and the quiet time of lists pass. */
export async function serve(stage: Stage, tools: readonly JsonObject[] = stageTools): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.settle();
    for (const server of stage.servers) {
      for (const { id, method } of server.got.splice(0).map(plain)) {
        if (id === undefined || id === null) continue;
        server.say({ id, result: method === "tools/list" ? { tools } : { content: [{ type: "text", text: "ok" }] } });
      }
    }
  }
  stage.clock.pass(listQuietMs);
  await stage.settle();
}

/** Calls a tool and gives what the client saw. */
export async function callTool(stage: Stage, client: FakeClient, name: string, tools = stageTools): Promise<Served> {
  ids += 1;
  const id = ids;
  client.say({ id, method: "tools/call", params: { name, arguments: {} } });
  await serve(stage, tools);
  const answer =
    client.got
      .splice(0)
      .map(plain)
      .find((one) => one["id"] === id) ?? {};
  const content = member(member(answer, "result"), "content");
  const text = stringMember(isArray(content) ? content[0] : undefined, "text") ?? JSON.stringify(answer["error"] ?? "");
  return { text, refused: text !== "ok", answer };
}

/** The approval id that a refusal names. */
export function approvalIn({ text }: Served): string {
  return /approve (\S+?)`/.exec(text)?.[1] ?? "";
}
