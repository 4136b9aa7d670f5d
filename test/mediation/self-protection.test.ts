// The gateway's own files: whoever touches them asks a person, whatever the policy allows.
import { describe, expect, it } from "vitest";
import { ruleApproval } from "../../src/gateway/consent/approvals.ts";
import { selfProtection } from "../../src/policy/values/self-protection.ts";
import { type ConversationOptions, Conversation } from "../kit/gateway/real-policy.ts";
import { FakeProjection, traceOf } from "../kit/isolation/fake-projection.ts";
import { approvalIn } from "../kit/gateway/served.ts";

const labels = `
labels:
  files.write: {effects: write.local, args: {path: {role: path}, text: {role: content}}}
  files.read: {effects: read.local, args: {path: {role: path}}, output: {confidentiality: public, trust: trusted}}
`;
const permitting = `${labels}rules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]\n`;
const policy = "/w/policy.yaml";

function talking(text: string, options: ConversationOptions = {}): Conversation {
  const talk = new Conversation(text, { files: ["read", "write"] }, options);
  const guard = selfProtection({ kept: ["/state"], obeyed: [policy], home: "/root", base: "/" });
  Object.assign(talk.stage.gateway.state.services, { selfProtection: guard });
  return talk;
}

describe("the gateway's own files", () => {
  it("no rule lets a call change the policy: a person is asked, and told what it is about", async () => {
    const talk = talking(permitting);
    expect((await talk.call("files.write", { path: "/w/notes.txt", text: "x" })).refused).toBe(false);
    const asked = await talk.call("files.write", { path: policy, text: "rules: []" });
    expect(asked.text).toMatch(/^Not executed, approval required: `files\.write` could change what Sluicegate obeys/);
    expect(asked.text).toContain("(`policy.yaml`)");
    expect(talk.reached).toEqual(["files.write"]);
    expect((await talk.call("files.read", { path: policy })).refused).toBe(false);
    expect((await talk.call("files.read", { path: "/state/keys/signing.pem" })).text).toContain(
      "what Sluicegate keeps",
    );
  });

  it("a person may approve the very call", async () => {
    const talk = talking(permitting);
    const given = { path: policy, text: "rules: []" };
    const { log, clock } = talk.stage;
    const id = approvalIn({ ...(await talk.call("files.write", given)), answer: {} });
    await ruleApproval(log.port, clock, { id, choice: "once", by: "ann", role: "operator" });
    expect((await talk.call("files.write", given)).refused).toBe(false);
    expect((await talk.call("files.write", given)).refused).toBe(true);
  });

  it("what a rule refuses is refused, and what is only observed passes and says so in the log", async () => {
    const closed = `${labels}rules: [{id: NO, tier: block, when: {tool: files.write}, why: "nothing is written"}]\n`;
    expect((await talking(closed).call("files.write", { path: policy })).text).toContain("nothing is written");
    const watching = talking(`mode: observe\n${permitting}`);
    expect((await watching.call("files.write", { path: policy })).refused).toBe(false);
    expect(watching.stage.log.entries.map(({ notes }) => notes)).toContainEqual(
      expect.objectContaining({ wouldHaveBeenStopped: "confirm" }),
    );
  });

  it("holds for the client's own tools, which the client's person is asked about", async () => {
    const { gateway } = talking('rules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]\n').stage;
    const facts = { client: "claude-code", principal: "os:1000", workingDirectory: "/w" };
    const use = { kind: "before-tool", tool: "Edit", arguments: { file_path: "policy.yaml" } } as const;
    const told = await gateway.hostEvent(facts, use);
    expect(told).toMatchObject({ verdict: "ask", sentence: expect.stringContaining("what Sluicegate obeys") });
    const other = { ...use, arguments: { file_path: "notes.txt" } };
    expect(await gateway.hostEvent(facts, other)).toMatchObject({ verdict: "allow" });
  });
});

describe("an isolated server that writes a policy by itself", () => {
  const isolated = `${permitting}isolation: {servers: {files: {files: {workspace: {mode: overlay, commit: allow}}}}}\n`;

  async function writing(path: string): Promise<{ readonly refused: boolean; readonly did: readonly string[] }> {
    const projection = new FakeProjection();
    const places = { home: "/root", workspace: ["/w"], code: [], scratch: [] };
    const change = { path, kind: "modified", bytes: 9, guarded: false } as const;
    projection.traces = (call) => traceOf([], call === undefined ? { places } : { places, changes: [change] });
    const talk = talking(isolated, { projection });
    const { refused } = await talk.call("files.write", { path: "/w/notes.txt", text: "x" });
    return { refused, did: projection.did };
  }

  it("leaves nothing in the workspace, while its other writes are taken over", async () => {
    expect(await writing("notes.txt")).toMatchObject({ refused: false, did: expect.arrayContaining(["commit"]) });
    const own = await writing("policy.yaml");
    expect(own.refused).toBe(true);
    expect(own.did).toContain("discard");
    expect(own.did).not.toContain("commit");
  });
});

describe("files that programs obey", () => {
  it("are not written unasked, also where a rule allows the tool", async () => {
    const { gateway } = talking('rules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]\n').stage;
    const facts = { client: "claude-code", principal: "os:1000", workingDirectory: "/w" };
    const use = (tool: string, file_path: string): Promise<unknown> =>
      gateway.hostEvent(facts, { kind: "before-tool", tool, arguments: { file_path } });
    expect(await use("Write", "notes.txt")).toMatchObject({ verdict: "allow" });
    expect(await use("Read", "sub/.vscode/tasks.json")).toMatchObject({ verdict: "allow" });
    expect(await use("Write", "sub/.vscode/tasks.json")).toMatchObject({
      verdict: "ask",
      sentence: expect.stringContaining("it leaves something behind that runs or is obeyed by itself"),
    });
  });
});
