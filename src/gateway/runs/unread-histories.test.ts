// A session of yesterday whose history today's policy cannot read: its data counts as everything, and stores that it
// never touched stay as they are known.
import { describe, expect, it } from "vitest";
import { member, stringMember } from "../../core/json.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { plain } from "../../../test/kit/gateway/playbook.ts";
import { Conversation } from "../../../test/kit/gateway/real-policy.ts";

const policy = `extends: [default]
servers: {files: {pack: filesystem}, every: {pack: everything}}
labels:
  mail.send: { effects: [write.external.send], args: { body: content }, output: { confidentiality: public, trust: trusted } }
`;

const tools = { files: ["read_text_file"], every: ["echo"], mail: ["send"] };

type Asked = { readonly server: string; readonly name: string; readonly given: Record<string, string> };

const readme: Asked = { server: "files", name: "read_text_file", given: { path: "README.md" } };
const echo: Asked = { server: "every", name: "echo", given: { message: "x" } };
const mail: Asked = { server: "mail", name: "send", given: { body: "hello" } };

/** Calls a tool over HTTP; gives what the client got. */
async function ask({ stage, serve }: Day, session: string, { server, name, given }: Asked): Promise<string> {
  const client = stage.connect({ transport: "http", server, sessionId: session, process: undefined as never });
  client.say({ id: 1, method: "tools/call", params: { name, arguments: given } });
  await serve();
  const answer = client.got.map(plain).find((message) => message["id"] === 1);
  const content = member(member(answer, "result"), "content");
  return stringMember(Array.isArray(content) ? content[0] : undefined, "text") ?? JSON.stringify(answer);
}

type Day = { readonly stage: Conversation["stage"]; readonly serve: () => Promise<void> };

async function day(log: FakeLog): Promise<Day> {
  const conversation = new Conversation(policy, tools, { log });
  await conversation.stage.gateway.restore();
  return { stage: conversation.stage, serve: () => conversation.serve() };
}

/** Yesterday's session, and today, which cannot read it. */
async function nextDay(): Promise<{ readonly log: FakeLog; readonly today: Day }> {
  const log = new FakeLog();
  await ask(await day(log), "old", echo);
  log.unreadable = true;
  return { log, today: await day(log) };
}

const old = "os:1000/session:old";

/** The text of the newest approval card. */
function cardOf({ approvals }: FakeLog): string {
  return new TextDecoder().decode([...approvals.values()].at(-1)?.card);
}

describe("a run that goes on from one whose history cannot be read", () => {
  it("is not asked about stores that no run has touched", async () => {
    const { log, today } = await nextDay();
    expect(await ask(today, "new", readme)).toBe("read_text_file done");
    expect(log.runs.get("os:1000/session:new")).toMatchObject({ top: false, resume: { unread: [old] } });
  });

  it("holds everything, and a refusal names that run and the way on", async () => {
    const { log, today } = await nextDay();
    const told = await ask(today, "new", mail);
    expect(told).toContain(
      "Not executed, approval required: run `session:old` is unreadable: all is held (`sluicegate runs new`)",
    );
    expect(cardOf(log)).toContain(
      `it goes on from run \`${old}\`, which this policy cannot read (\`sluicegate runs new\` begins a`,
    );
  });

  it("regression: names that run in a question about a call that carries nothing", async () => {
    const { log, today } = await nextDay();
    expect(await ask(today, "new", { ...mail, given: {} })).toMatch(/^Not executed, approval required/);
    expect(cardOf(log)).toContain("SG-ASK-UNTRACED");
    expect(cardOf(log)).toContain(`it goes on from run \`${old}\``);
  });

  it("stays so, and passes it on, over restarts", async () => {
    const { log, today } = await nextDay();
    await ask(today, "new", readme);
    const third = await day(log);
    expect(await ask(third, "new", readme)).toBe("read_text_file done");
    expect(await ask(third, "newer", readme)).toBe("read_text_file done");
    for (const session of ["new", "newer"]) expect(await ask(third, session, mail)).toMatch(/^Not executed/);
    expect(log.runs.get("os:1000/session:newer")?.resume["unread"]).toContain(old);
  });

  it("has stores at their worst where a power cut may have lost what happened to them", async () => {
    const { log } = await nextDay();
    const row = log.runs.get(old);
    if (row !== undefined) log.runs.set(old, { ...row, top: true });
    expect(await ask(await day(log), "new", readme)).toMatch(/^Not executed/);
    expect(cardOf(log)).toContain("`anyone` reads `memory:graph`");
    expect(log.runs.get("os:1000/session:new")).toMatchObject({ top: true });
  });

  it("has stores as their own record says, at their worst where that cannot be read", async () => {
    const { log } = await nextDay();
    log.shared.set("os:1000", { owner: "os:1000", policyDigest: "x", top: true, value: { stores: {} } });
    expect(await ask(await day(log), "new", readme)).toMatch(/^Not executed/);
    expect(cardOf(log)).toContain("`anyone` reads `memory:graph`");
  });

  it("is clean where the old run was closed", async () => {
    const log = new FakeLog();
    const before = await day(log);
    await ask(before, "old", echo);
    for (const live of Array.from(before.stage.gateway.runs.all()))
      await before.stage.gateway.runs.end(live, "operator");
    log.unreadable = true;
    expect(await ask(await day(log), "new", mail)).not.toContain("cannot read");
  });
});
