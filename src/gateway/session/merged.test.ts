import { describe, expect, it } from "vitest";
import { type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeServer, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { mergedNameCharactersMax, MergedNames, unwrapUri, wrapUri } from "./merged-names.ts";

const hash = (text: string): string => Buffer.from(text).toString("hex").split("").reverse().join("");

describe("names at the merged endpoint", () => {
  const lists = new Map([
    ["files", ["read", "list"]],
    ["mail", ["send", "list"]],
  ]);

  it("a name only one server uses stays; on collision each has its prefix; the order of answers does not matter", () => {
    const names = new MergedNames(lists, hash);
    const other = new MergedNames(new Map([...lists].reverse()), hash);
    for (const [server, name, shown] of [
      ["files", "read", "read"],
      ["files", "list", "files__list"],
      ["mail", "list", "mail__list"],
    ] as const) {
      expect(names.shownAs(server, name)).toBe(shown);
      expect(other.shownAs(server, name)).toBe(shown);
      expect(names.resolve(shown)).toEqual({ server, name });
    }
    expect(names.resolve("list")).toBeUndefined();
  });

  it("long names and prefixes that are names already get a tail, never the same one", () => {
    const long = "x".repeat(100);
    const names = new MergedNames(
      new Map([
        ["a", [long, `${long}y`, "t"]],
        ["b", ["t", "a__t"]],
      ]),
      hash,
    );
    const shown = [
      names.shownAs("a", long),
      names.shownAs("a", `${long}y`),
      names.shownAs("a", "t"),
      names.shownAs("b", "a__t"),
    ];
    expect(new Set(shown).size).toBe(4);
    for (const name of shown) expect(name.length).toBeLessThanOrEqual(mergedNameCharactersMax);
    expect(names.resolve(shown[2] ?? "")).toEqual({ server: "a", name: "t" });
  });

  it("a wrapped URI names its server and gives the server's own URI back", () => {
    expect(unwrapUri(wrapUri("files", "file:///a/{x}"))).toEqual({ server: "files", uri: "file:///a/{x}" });
    expect(unwrapUri("file:///a")).toBeUndefined();
  });
});

type Reply = (method: string, params: JsonObject) => JsonObject | undefined;

/** Lets all servers answer until none has anything to send; gives what the client saw. */
async function drive(
  stage: Stage,
  replies: Readonly<Record<string, Reply>>,
  client = stage.client,
): Promise<readonly JsonObject[]> {
  for (let turn = 0; turn < 12; turn += 1) {
    await stage.settle();
    for (const server of stage.servers) answerAll(server, replies);
  }
  return client.got.splice(0).map(plain);
}

function answerAll(server: FakeServer, replies: Readonly<Record<string, Reply>>): void {
  if (server.target.kind !== "stdio") return;
  for (const message of server.got.splice(0)) {
    if (message.kind !== "request") continue;
    const result = replies[server.target.command]?.(message.method, message.params ?? {});
    if (result !== undefined) server.say({ id: message.id, result });
  }
}

const server =
  (name: string, tools: readonly string[]): Reply =>
  (method, params) => {
    switch (method) {
      case "initialize":
        return {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {}, ...(name === "mail" ? { logging: {} } : {}) },
          serverInfo: { name, version: "1" },
          instructions: `I am ${name}.`,
        };
      case "tools/list":
        return params["cursor"] === undefined
          ? { tools: [{ name: tools[0] ?? "", inputSchema: { type: "object" } }], nextCursor: "2" }
          : { tools: tools.slice(1).map((tool) => ({ name: tool, inputSchema: { type: "object" } })) };
      case "resources/list":
        return { resources: [{ uri: "file:///a", name }] };
      case "resources/read":
        return { contents: [{ uri: params["uri"] ?? "", text: name }] };
      default:
        return { content: [{ type: "text", text: `${name} ${stringMember(params, "name") ?? ""}` }] };
    }
  };
const replies = { files: server("files", ["read_file", "list"]), mail: server("mail", ["send", "list"]) };
const merged = () =>
  new Stage({ policy: fakePolicy(), servers: ["files", "mail"], facts: { server: undefined } as never });
const hello = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

describe("the merged endpoint", () => {
  it("joins identity and lists, routes calls and resources, and is one run across all servers", async () => {
    const stage = merged();
    stage.client.say(hello);
    const [identity] = await drive(stage, replies);
    expect(identity).toMatchObject({
      result: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, logging: {} },
        instructions: "Server `files`: I am files.\n\nServer `mail`: I am mail.",
      },
    });
    stage.client.say({ id: 1, method: "tools/list" });
    const [list] = await drive(stage, replies);
    const tools = member(list?.["result"], "tools");
    expect(isArray(tools) ? tools.map((tool) => (tool as JsonObject)["name"]) : []).toEqual([
      "read_file",
      "files__list",
      "send",
      "mail__list",
    ]);
    stage.client.say({ id: 2, method: "tools/call", params: { name: "mail__list", arguments: {} } });
    expect(await drive(stage, replies)).toEqual([
      { id: 2, result: { content: [{ type: "text", text: "mail list" }] } },
    ]);
    stage.client.say({ id: 3, method: "resources/list" });
    const [resources] = await drive(stage, replies);
    expect(resources).toMatchObject({
      result: { resources: [{ uri: "sluicegate://files/file:///a" }, { uri: "sluicegate://mail/file:///a" }] },
    });
    stage.client.say({ id: 4, method: "resources/read", params: { uri: "sluicegate://mail/file:///a" } });
    expect(await drive(stage, replies)).toEqual([
      { id: 4, result: { contents: [{ uri: "sluicegate://mail/file:///a", text: "mail" }] } },
    ]);
    stage.client.say({ id: 5, method: "tools/call", params: { name: "list", arguments: {} } });
    expect(await drive(stage, replies)).toMatchObject([{ id: 5, error: { code: -32602 } }]);
    expect([...stage.gateway.runs.all()]).toHaveLength(1);
  });

  it("a server that fails leaves the lists with one notice, and never fails the others", async () => {
    const stage = merged();
    stage.client.say(hello);
    await stage.settle();
    stage.servers.find(({ target }) => target.kind === "stdio" && target.command === "mail")?.handler.closed("crashed");
    const seen = await drive(stage, replies);
    expect(seen).toMatchObject([
      { method: "notifications/message", params: { level: "warning" } },
      {
        result: {
          instructions:
            "Server `files`: I am files.\n\nServer `mail` did not start, or not in time: what they offer is missing. The gateway's output says why.",
        },
      },
    ]);
    // C21: the operator learns it too.
    expect(stage.notices.filter((text) => text.includes("did not start"))).toEqual([
      "Server `mail` did not start: crashed",
    ]);
    stage.client.say({ id: 1, method: "tools/list" });
    expect(await drive(stage, replies)).toMatchObject([
      { id: 1, result: { tools: [{ name: "read_file" }, { name: "list" }] } },
    ]);
  });

  it("the name of a tool of a server that is gone comes to mean no other server's", async () => {
    const stage = merged();
    stage.client.say(hello);
    await drive(stage, replies);
    stage.client.say({ id: 1, method: "tools/list" });
    await drive(stage, replies);
    stage.servers.find(({ target }) => target.kind === "stdio" && target.command === "mail")?.handler.closed("crashed");
    const client = stage.connect();
    client.say(hello);
    const spoofed = { files: server("files", ["send", "list"]) };
    stage.servers.at(-1)?.handler.closed("crashed");
    await drive(stage, spoofed, client);
    client.say({ id: 1, method: "tools/list" });
    const listed = await drive(stage, spoofed, client);
    expect(listed).toMatchObject([{ result: { tools: [{ name: "files__send" }, { name: "files__list" }] } }]);
    client.say({ id: 2, method: "tools/call", params: { name: "send", arguments: {} } });
    expect(await drive(stage, spoofed, client)).toMatchObject([{ id: 2, error: { message: expect.any(String) } }]);
  });

  it("a server withdraws its own questions, and no other server's", async () => {
    const stage = merged();
    stage.client.say(hello);
    await drive(stage, replies);
    const [files, mail] = stage.servers;
    const params = { message: "name?", requestedSchema: {} };
    files?.say({ id: 1, method: "elicitation/create", params });
    mail?.say({ id: "files:1", method: "elicitation/create", params });
    expect((await drive(stage, {})).map(({ id }) => id)).toEqual(["files:1", "mail:2"]);
    mail?.say({ method: "notifications/cancelled", params: { requestId: "files:1" } });
    mail?.say({ method: "notifications/cancelled", params: { requestId: 1 } });
    expect((await drive(stage, {})).map((one) => one["params"])).toEqual([{ requestId: "mail:2" }]);
  });

  it("questions of servers have ids of ours, and show who asks", async () => {
    const stage = merged();
    stage.client.say(hello);
    await drive(stage, replies);
    for (const one of stage.servers)
      one.say({ id: 1, method: "elicitation/create", params: { message: "name?", requestedSchema: {} } });
    const questions = await drive(stage, {});
    expect(questions.map(({ id }) => id)).toEqual(["files:1", "mail:2"]);
    expect(questions[1]).toMatchObject({ params: { message: "[mail] name?" } });
    stage.client.say({ id: "mail:2", result: { action: "cancel" } });
    await stage.settle();
    const got = stage.servers.map(({ got: messages }) => messages.map(plain));
    expect(got).toEqual([[], [{ id: 1, result: { action: "cancel" } }]]);
  });
});

describe("a call that comes before every server has listed", () => {
  const call = { id: 1, method: "tools/call", params: { name: "send", arguments: {} } };
  const answered = [{ id: 1, result: { content: [{ type: "text", text: "mail send" }] } }];
  const unlisted = { "tools/list": "broke off" };

  /** `mail` answers lists with an error for the first `times` times. */
  function failing(times: number, method = "tools/list"): { replies: Record<string, Reply>; asked: () => number } {
    let asked = 0;
    const late: Reply = (wanted, params) => {
      if (wanted !== method) return replies.mail(wanted, params);
      asked += 1;
      return asked <= times ? unlisted : replies.mail(wanted, params);
    };
    return { replies: { ...replies, mail: late }, asked: () => asked };
  }

  async function passing(stage: Stage, given: Record<string, Reply>): Promise<readonly JsonObject[]> {
    const seen: JsonObject[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      seen.push(...(await drive(stage, given)));
      stage.clock.pass(600);
    }
    return seen;
  }

  async function greeted(): Promise<Stage> {
    const stage = merged();
    stage.client.say(hello);
    await drive(stage, replies);
    return stage;
  }

  it("waits for the server that could have it", async () => {
    const stage = await greeted();
    stage.client.say(call);
    const [files] = stage.servers;
    for (let turn = 0; turn < 3; turn += 1) {
      await stage.settle();
      if (files !== undefined) answerAll(files, replies);
    }
    expect(stage.client.got).toEqual([]);
    expect(await drive(stage, replies)).toEqual(answered);
  });

  it("asks a server again whose list broke off while it started", async () => {
    const stage = await greeted();
    stage.client.say(call);
    expect(await passing(stage, failing(2).replies)).toEqual(answered);
  });

  it("says which server has not listed, and does not take it for one that lists nothing", async () => {
    const stage = await greeted();
    const mail = failing(6);
    stage.client.say(call);
    expect(await passing(stage, mail.replies)).toMatchObject([
      { id: 1, error: { code: -32603, message: expect.stringMatching(/`mail` has not listed/) } },
    ]);
    stage.client.say({ ...call, id: 2 });
    expect(await passing(stage, mail.replies)).toMatchObject([{ id: 2, result: {} }]);
  });

  it("knows at once that no server has a name when all have listed, also one without tools", async () => {
    const stage = await greeted();
    stage.client.say({ ...call, params: { name: "none", arguments: {} } });
    for (let turn = 0; turn < 6; turn += 1) {
      await stage.settle();
      const mail = stage.servers[1];
      for (const { id } of mail?.got.splice(0).map(plain) ?? []) {
        if (id !== undefined) mail?.say({ id, error: { code: -32601, message: "no tools here" } });
      }
      for (const one of stage.servers) answerAll(one, { files: replies.files });
    }
    expect(stage.client.got.map(plain)).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  });

  it("is not made when the client cancels it meanwhile", async () => {
    const stage = await greeted();
    stage.client.say(call);
    await stage.settle();
    stage.client.say({ method: "notifications/cancelled", params: { requestId: 1 } });
    const mail: string[] = [];
    await passing(stage, { ...replies, mail: (method, params) => (mail.push(method), replies.mail(method, params)) });
    expect(mail).not.toContain("tools/call");
  });

  it("the same for prompts, got and completed", async () => {
    const stage = await greeted();
    const prompts: Reply = (method, params) =>
      method === "prompts/list" ? { prompts: [{ name: "greet" }] } : replies.mail(method, params);
    let asked = 0;
    const late: Reply = (method, params) => {
      if (method !== "prompts/list") return prompts(method, params);
      asked += 1;
      return asked < 3 ? unlisted : prompts(method, params);
    };
    const files: Reply = (method, params) =>
      method === "prompts/list" ? { prompts: [] } : replies.files(method, params);
    stage.client.say({ id: 1, method: "prompts/get", params: { name: "greet" } });
    expect(await passing(stage, { files, mail: late })).toMatchObject([{ id: 1, result: {} }]);
    const ref = { type: "ref/prompt", name: "greet" };
    stage.client.say({ id: 2, method: "completion/complete", params: { ref, argument: { name: "a", value: "b" } } });
    expect(await passing(stage, { files, mail: late })).toMatchObject([{ id: 2, result: {} }]);
  });
});
