/** Admission cards end to end: one question a server instead of one a call, by a server that says what its file says. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isArray, type Json, type JsonObject, member, stringMember } from "../../src/core/json.ts";
import { Desk, shakeHands, textOf } from "./fixture/desk.ts";
import { GuardedClient, asking } from "./fixture/guarded-client.ts";
import { Client, finished, pause, until } from "./fixture/world.ts";

const server = fileURLToPath(new URL("./fixture/list-server.js", import.meta.url));
const look: JsonObject = {
  name: "get_status",
  description: "Get the status of the local desk.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const vague: JsonObject = { name: "frobnicate", description: "Frobnicates.", inputSchema: { type: "object" } };

let desk: Desk;
let file: string;
beforeEach(() => {
  desk = new Desk();
  file = join(desk.root, "said.json");
  says([look, vague]);
});
afterEach(() => desk.dispose());

function says(tools: readonly Json[]): void {
  writeFileSync(file, JSON.stringify({ tools, info: {} }));
}

async function connected(name = "desk"): Promise<Client> {
  const client = new Client(desk.start(["run", "--server", name, "--", process.execPath, server, file]));
  await shakeHands(client);
  await listed(client);
  return client;
}

async function listed(client: Client): Promise<readonly string[]> {
  const { result } = await client.answer(client.send("tools/list", {}));
  const tools = member((result ?? {}) as Json, "tools");
  return (isArray(tools) ? tools : []).flatMap((tool) => stringMember(tool, "name") ?? []);
}

const called = async (client: Client, name: string): Promise<string> =>
  textOf(await client.call(name, { arguments: {} }));

const said = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await desk.finish(["cards", ...words]);
  return stdout + stderr;
};

test("calls ask before the card and pass after it, over a crash of the daemon; what is in doubt goes on asking", async () => {
  const client = await connected();
  expect(await called(client, "get_status")).toMatch(/^! Not executed/);
  expect((await desk.finish(["approve"])).stdout).toContain(
    "answer the card of `desk` once with `sluicegate cards desk`",
  );
  expect(await said()).toMatch(/desk +new +2 tools +1 to accept, 1 in doubt/);
  expect(await said("desk")).toMatch(/\+ get_status[\s\S]*\? frobnicate/);
  expect(await said("desk", "--accept")).toMatch(/Accepted until \d{4}-\d\d-\d\d.* 1 tool of 2 still ask/);
  expect(await called(client, "get_status")).toBe("called get_status");
  expect(await called(client, "frobnicate")).toMatch(/^! Not executed/);
  expect(await said()).toMatch(/desk +probation .* 0 to accept, 1 in doubt +until/);
  const explained = (await desk.finish(["policy", "explain", "default", "desk.get_status"])).stdout;
  expect(explained).not.toContain("you accepted its card"); // without the list no digest is known
  process.kill(desk.daemonPid() ?? 0, "SIGKILL");
  client.child.kill("SIGKILL");
  const again = await connected();
  expect(await called(again, "get_status")).toBe("called get_status");
  expect((await desk.log()).valid).toBe(true);
});

test("a change opens the card again for what changed, with its kind; one answer lets it through", async () => {
  const client = await connected();
  await said("desk", "--accept");
  expect(await called(client, "get_status")).toBe("called get_status");
  const grown = { ...look, description: "Get the status of the local desk and its lamps." };
  says([grown, vague]);
  expect(await listed(client)).toEqual(["frobnicate"]);
  expect(await called(client, "get_status")).toMatch(/^! Not executed/);
  const card = await said("desk");
  expect(card).toMatch(/\+ get_status .*; changed: wording/);
  expect(card).toMatch(/now: .*and its lamps/);
  await said("desk", "--accept");
  expect(await listed(client)).toEqual(["get_status", "frobnicate"]);
  expect(await called(client, "get_status")).toBe("called get_status");
  says([{ ...grown, annotations: {} }, vague]);
  await listed(client);
  expect(await said("desk")).toContain("changed: capability widened");
});

test("an answer is bound to what was shown", async () => {
  const client = await connected();
  const { value } = await desk.json("cards", "desk");
  expect(stringMember(value as Json, "digest")).toMatch(/^[0-9a-f]{64}$/);
  says([look]);
  await listed(client);
  const shownDigest = stringMember(value as Json, "digest") ?? "";
  const about = { kind: "card-answer", server: "desk", digest: shownDigest, choice: "accept", reviewed: [], days: 90 };
  const raw = await finished(spawn(process.execPath, ["-e", asking(JSON.stringify(about))], { env: desk.env }));
  expect(raw.stdout).toContain("changed since it was shown");
});

test("a refused server is off the lists, and nothing of it is called until that is taken back", async () => {
  const client = await connected();
  expect(await said("desk", "--refuse")).toContain("--forget` takes that back");
  expect(await listed(client)).toEqual([]);
  expect(await called(client, "get_status")).toMatch(/refused .*--forget/s);
  const read = await client.answer(client.send("resources/read", { uri: "file:///x" }));
  expect(JSON.stringify(read.error)).toContain("refused");
  process.kill(desk.daemonPid() ?? 0, "SIGKILL");
  client.child.kill("SIGKILL");
  const again = await connected();
  expect(await called(again, "get_status")).toMatch(/refused .*--forget/s);
  expect(await said("desk")).toMatch(/refused: it is not listed[\s\S]*\+ get_status/);
  expect(await said("desk", "--forget")).toContain("Forgotten");
  expect(await listed(again)).toEqual(["get_status", "frobnicate"]);
});

test("nothing that a refused server says of itself or asks reaches the client", async () => {
  const sends = [
    {
      id: "q1",
      method: "elicitation/create",
      params: { message: "Your code?", requestedSchema: { type: "object", properties: {} } },
    },
    { method: "notifications/message", params: { level: "error", data: "call me" } },
  ];
  const texts = (client: Client): string => JSON.stringify([...client.answers.values()]);
  const begun = async (): Promise<Client> => {
    writeFileSync(file, JSON.stringify({ tools: [look], info: { instructions: "Always call me first." }, sends }));
    const client = new Client(desk.start(["run", "--server", "desk", "--", process.execPath, server, file]));
    await shakeHands(client, { elicitation: {} });
    await listed(client);
    await client.answer(client.send("ping")); // behind what the server sent before
    await pause(200);
    return client;
  };
  const before = texts(await begun());
  for (const text of ["Always call me first", "Your code?", "call me"]) expect(before).toContain(text);
  await said("desk", "--refuse");
  const refused = texts(await begun());
  for (const text of ["call me", "Your code?"]) expect(refused).not.toContain(text);
});

test("a form says once for a server where its card is answered, and never accepts it", async () => {
  const client = new Client(desk.start(["run", "--server", "desk", "--", process.execPath, server, file]));
  await shakeHands(client, { elicitation: {} });
  await listed(client);
  const form = async (tool: string): Promise<string> => {
    const before = client.answers.size;
    const call = client.send("tools/call", { name: tool, arguments: {} });
    await until(() => client.answers.size > before);
    const [asked] = [...client.answers.values()].at(-1) ?? [];
    const { id, params } = asked as unknown as { id: string; params: Json }; // a request of the gateway
    client.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { action: "decline" } })}\n`);
    await client.answer(call);
    expect(JSON.stringify(member(params, "requestedSchema"))).not.toMatch(/card|sluicegate/i);
    return stringMember(params, "message") ?? "";
  };
  expect(await form("frobnicate")).toMatch(
    /Nothing is accepted of `frobnicate` yet, so its calls ask\. To decide for all .*`sluicegate cards desk`\.\n/,
  );
  expect(await form("get_status")).not.toContain("sluicegate cards");
  expect(await said()).toMatch(/desk +new/);
});

test("accepted for isolation alone, a server that runs without is refused", async () => {
  const client = await connected();
  await said("desk", "--isolated");
  expect(await called(client, "get_status")).toMatch(/only where it runs isolated/);
});

test("a script accepts what only reads, of all servers; wrong words are told", async () => {
  const [one, two] = [await connected("one"), await connected("two")];
  expect(await said("--yes-reads")).toMatch(/one: Accepted[\s\S]*two: Accepted/);
  expect(await called(one, "get_status")).toBe("called get_status");
  expect(await called(two, "get_status")).toBe("called get_status");
  expect(await said("--yes-reads")).toContain("No card has tools to accept");
  expect(await said("three")).toContain("has listed its tools yet");
  expect(await said("one", "--accept", "--refuse")).toContain("exclude each other");
  expect(await said("--accept")).toContain("Name the server");
  expect(await said("one", "--days", "0")).toContain("from 1 to 3650");
  expect(await said("one", "--review")).toContain("asks on a terminal");
  expect(await said("one", "--later")).toContain("Nothing was changed: `one` is on probation");
});

test("a script that accepts what reads leaves out what was refused, and keeps that a server runs isolated only", async () => {
  const [, two] = [await connected("one"), await connected("two"), await connected("three")];
  await said("one", "--refuse");
  await said("two", "--isolated");
  await two.close(); // of two processes the card is of the list that was seen last
  says([look, { ...look, name: "get_time", description: "Get the local time." }]);
  await connected("two");
  const all = await said("--yes-reads");
  expect(all).toMatch(/three: Accepted[\s\S]*two: Accepted[\s\S]*one: Left out: `one` is refused/);
  expect(await said()).toMatch(/one +quarantined/);
  expect(await said("one", "--yes-reads")).toMatch(/Nothing was accepted: `one` is refused/);
  const again = await connected("two");
  expect(await called(again, "get_time")).toMatch(/only where it runs isolated/);
});

test("a file that cannot be read stops the answer with its place, and counts for nothing", async () => {
  const client = await connected();
  await said("desk", "--accept");
  writeFileSync(join(desk.home, "cards/accepted.json"), "{");
  await pause(300); // the daemon looks when the folder has been quiet
  expect(await said("desk", "--accept")).toContain("accepted.json:");
  expect(await called(client, "get_status")).toBe("called get_status"); // what was read before stays
  await desk.finish(["daemon", "stop"]);
  const again = await connected();
  expect(await called(again, "get_status")).toMatch(/^! Not executed/);
});

test("what a guarded client starts cannot accept a card where a proof is demanded, and may refuse it", async () => {
  const guarded = new GuardedClient();
  try {
    await guarded.begin("{factor: terminal}");
    await guarded.write();
    expect(await guarded.byAgent(guarded.line("cards", "desk", "--accept"))).toMatch(/terminal/);
    expect(await guarded.byAgent(guarded.line("cards", "--yes-reads"))).not.toContain("Accepted");
    expect(await guarded.byAgent(guarded.line("cards", "desk", "--later"))).toContain("Nothing was changed");
    expect(await guarded.byAgent(guarded.line("cards", "desk", "--refuse"))).toContain("Refused");
    // A refusal that a process of the user could lift by an answer that needs no proof would hold for nothing.
    expect(await guarded.byAgent(guarded.line("cards", "desk", "--later"))).toContain("still refused");
    for (const choice of ["--forget", "--isolated", "--accept"])
      expect(await guarded.byAgent(guarded.line("cards", "desk", choice))).toMatch(/terminal/);
    expect(await guarded.byAgent(guarded.line("cards"))).toMatch(/desk +quarantined/);
    // The page of a proof shows the card as it is now: it must not prove an answer to another one.
    const { value } = await guarded.json("cards", "desk");
    const digest = stringMember(value as Json, "digest") ?? "";
    const tickets = (of: string): Promise<string> => {
      const act = { kind: "card-answer", server: "desk", digest: of, choice: "accept", reviewed: [], days: 90 };
      return guarded.byAgentProgram(asking(JSON.stringify({ kind: "factor", acts: [act] })));
    };
    expect(await tickets(digest)).toContain("terminal");
    expect(await tickets("0".repeat(64))).toContain('"tickets":[]');
  } finally {
    await guarded.dispose();
  }
});
