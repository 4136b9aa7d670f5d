// Shortlists show what the task needs and save context; they are no security decision, so everything stays callable.
import { describe, expect, it } from "vitest";
import { type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import type { Opinion } from "../../core/opinion.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { callTool, serve } from "../../../test/kit/gateway/served.ts";
import { threeTools } from "../../../test/kit/gateway/stage-tools.ts";
import type { ListedTool } from "../../core/explain/regulation-view.ts";
import type { LoadedPolicy } from "../ports/policy.ts";

/** With an instruction, tools whose name it holds; what the policy was asked about is noted. */
function policy(asked: (readonly ListedTool[])[] = []): LoadedPolicy {
  const instructions = new Set<string>();
  const hides = ({ moment }: { moment: { kind: string; contract?: { tool: string } } }): Opinion => {
    const hit = moment.kind === "expose" && moment.contract?.tool === "write_store";
    const reason = { mechanism: "fake", code: "SG-TEST", verdict: "deny", facts: {} } as const;
    return { kind: "settled", verdict: hit ? "deny" : "allow", reasons: hit ? [reason] : [], obligations: [] };
  };
  const remembers = {
    consider: hides as never,
    remember: (_memory: null, event: { kind: string; text?: { source: string; value: unknown } }) => {
      if (event.kind === "registered" && event.text?.source === "instruction")
        instructions.add(String(event.text.value));
      return null;
    },
  };
  return fakePolicy([remembers], {
    regulation: {
      stateDigest: () => [...instructions].join(" "),
      shortlist: (_run, tools) => {
        if (instructions.size === 0) return undefined;
        asked.push(tools);
        const wanted = (name: string): boolean => [...instructions].some((text) => text.includes(name));
        const shown = new Set(tools.flatMap(({ name }, index) => (wanted(name) ? [index] : [])));
        return { shown, tokensSaved: 25 };
      },
    },
  });
}

async function listed(stage: Stage): Promise<readonly (string | undefined)[]> {
  stage.client.say({ id: "l", method: "tools/list" });
  await serve(stage, threeTools);
  const answer = stage.client.got
    .splice(0)
    .map(plain)
    .find(({ id }) => id === "l");
  const tools = member(answer?.["result"], "tools");
  return (isArray(tools) ? tools : []).map((tool) => stringMember(tool, "name"));
}

const hook = { client: "c", principal: "os:1000", process: { pid: 7, startedAt: "1" } };
const prompt = { kind: "prompt", text: "please use send_mail" } as const;

describe("a run with a registered instruction", () => {
  it("is shown what it needs, may call the rest, and hears of it when the instruction comes later", async () => {
    const asked: (readonly ListedTool[])[] = [];
    const stage = new Stage({ policy: policy(asked) });
    const capabilities: JsonObject = {};
    stage.client.say({ id: "i", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities } });
    await stage.settle();
    const [hello] = stage.server.got.splice(0).map(plain);
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s" } };
    stage.server.say({ id: hello?.["id"] ?? 0, result });
    await stage.settle();
    expect(await listed(stage)).toEqual(["read_secret", "send_mail"]);
    await stage.gateway.hostEvent(hook, prompt);
    await serve(stage, threeTools);
    expect(stage.client.got.splice(0).map(plain)).toEqual([{ method: "notifications/tools/list_changed" }]);
    expect(await listed(stage)).toEqual(["send_mail"]);
    // What is hidden is not offered to the shortlist; sizes are those of the entries.
    expect(asked.at(-1)).toEqual([
      { server: "files", name: "read_secret", description: "", bytes: 22 },
      { server: "files", name: "send_mail", description: "", bytes: 20 },
    ]);
    expect((await callTool(stage, stage.client, "read_secret", threeTools)).refused).toBe(false);
    expect((await callTool(stage, stage.client, "write_store", threeTools)).refused).toBe(true);
    const [live] = [...stage.gateway.runs.all()];
    expect(live?.tokensSaved).toEqual(new Map([["files", 25]]));
    const notes = stage.log.entries.flatMap((entry) => (entry.notes?.["moment"] === "expose" ? [entry.notes] : []));
    expect(notes).toMatchObject([
      { server: "files", method: "tools/list", entries: 3, hidden: 1, asked: 0 },
      { server: "files", method: "tools/list", entries: 3, hidden: 1, asked: 0, tokensSaved: 25 },
    ]);
  });
});
