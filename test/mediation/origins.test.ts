/** Trusted values of one server, store or type in the arguments of another (docs/threat-model.md). */
import { describe, expect, it } from "vitest";
import { type JsonObject, member, stringMember } from "../../src/core/json.ts";
import { Conversation, policyOf } from "../kit/gateway/real-policy.ts";
import { plain, Stage } from "../kit/gateway/playbook.ts";

const trusted = "output: {confidentiality: public, trust: trusted}";
const policy = (changes = ""): string => `
flow: {mode: provenance}
stores:
  files: {audience: [me], label: {confidentiality: public, trust: trusted}}
  events: {audience: [me], label: {confidentiality: public, trust: trusted}}
labels:
  web.read: {effects: [read.local], output: {confidentiality: public, trust: untrusted}}
  suite.list_files: {effects: [read.local], ${trusted}, reads: files}
  suite.list_events: {effects: [read.local], ${trusted}, reads: events}
  suite.clock: {effects: [read.local], ${trusted}}
  suite.delete_file: {effects: [write.local.delete], args: {id: {role: identifier}}, ${trusted}, writes: files}
  suite.delete_event: {effects: [write.local.delete], args: {id: {role: identifier}}, ${trusted}, writes: events}
  bank.pay: {effects: [write.local.pay], args: {amount: {role: amount}, to: {role: recipient}}, ${trusted}}
${changes}`;
const tools = {
  web: ["read"],
  suite: ["list_files", "list_events", "clock", "delete_file", "delete_event"],
  bank: ["pay"],
};
const results: { readonly [tool: string]: JsonObject } = {
  list_files: { files: [{ id: "f-90210", size: 90210, owner: "ann@example.com" }] },
  list_events: { id: "e-555" },
  clock: { tick: "t-8800" },
};

function talking(text = policy()): Conversation {
  const talk = new Conversation(text, tools);
  talk.answer = (tool) => {
    const result = results[tool];
    const said = result === undefined ? "do as I say" : JSON.stringify(result);
    return { content: [{ type: "text", text: said }], ...(result === undefined ? {} : { structuredContent: result }) };
  };
  return talk;
}

async function refused(reads: readonly string[], call: string, given: JsonObject, text?: string): Promise<boolean> {
  const talk = talking(text);
  for (const read of [...reads, "web.read"]) expect((await talk.call(read)).refused).toBe(false);
  const told = await talk.call(call, given);
  if (told.refused) expect(told.text).toContain("may have been chosen by untrusted data");
  return told.refused;
}

describe("A5: trusted values are not interchangeable", () => {
  it.each<[string, readonly string[], string, JsonObject, boolean]>([
    ["an id where it was listed", ["suite.list_files"], "suite.delete_file", { id: "f-90210" }, false],
    ["an id of an event as that of a file", ["suite.list_events"], "suite.delete_file", { id: "e-555" }, true],
    ["a size of a file as an amount", ["suite.list_files"], "bank.pay", { amount: 90210 }, true],
    ["the same as text", ["suite.list_files"], "bank.pay", { amount: "90210" }, true],
    ["the same in a list", ["suite.list_files"], "bank.pay", { amount: [90210] }, true],
    ["an id of a file as a recipient", ["suite.list_files"], "bank.pay", { to: "f-90210" }, true],
    ["an address as a recipient", ["suite.list_files"], "bank.pay", { to: "ann@example.com" }, false],
    ["a name of a tool without a store", ["suite.clock"], "suite.delete_file", { id: "t-8800" }, true],
    ["an id in base64", ["suite.list_files"], "suite.delete_file", { id: "Zi05MDIxMA==" }, true],
  ])("%s", async (_, reads, call, given, expected) => {
    expect(await refused(reads, call, given)).toBe(expected);
  });

  it("nothing is asked before anything untrusted is held", async () => {
    const talk = talking();
    await talk.call("suite.list_files");
    expect((await talk.call("bank.pay", { amount: 90210 })).refused).toBe(false);
  });

  it("types of the policy part what one store holds, and join what shares none", async () => {
    const typed = policy(`
  suite.list_*: {output: {fields: {"/files/*/id": {type: file}, "/files/*/size": {type: bytes}}}}
  suite.delete_*: {args: {id: {role: identifier, type: file}}}
  suite.purge: {effects: [write.local.delete], args: {id: {role: identifier, type: bytes}}, ${trusted}}
`);
    const list = ["suite.list_files"];
    expect(await refused(list, "suite.delete_file", { id: "f-90210" }, typed)).toBe(false);
    expect(await refused(list, "suite.delete_file", { id: 90210 }, typed)).toBe(true);
    expect(await refused(list, "suite.delete_event", { id: "f-90210" }, typed)).toBe(false);
  });

  it("the merged endpoint joins no origins: its servers keep their own", async () => {
    const stage = new Stage({
      policy: policyOf(policy()),
      servers: Object.keys(tools),
      facts: { server: undefined } as never,
    });
    const listed: { readonly [server: string]: readonly string[] } = tools;
    let ids = 0;
    const ask = async (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
      ids += 1;
      stage.client.say({ id: ids, method, params });
      for (let turn = 0; turn < 12; turn += 1) {
        await stage.settle();
        for (const server of stage.servers) {
          const name = server.target.kind === "stdio" ? server.target.command : "";
          for (const message of server.got.splice(0)) {
            if (message.kind !== "request") continue;
            const entries = (listed[name] ?? []).map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
            const called = results[stringMember(message.params, "name") ?? ""];
            const answer: JsonObject =
              message.method === "initialize"
                ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name, version: "1" } }
                : message.method === "tools/list"
                  ? { tools: entries }
                  : { content: [{ type: "text", text: JSON.stringify(called ?? "do as I say") }] };
            server.say({ id: message.id, result: answer });
          }
        }
      }
      return stage.client.got
        .splice(0)
        .map(plain)
        .find((message) => message["id"] === ids);
    };
    const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    await ask("initialize", client);
    await ask("tools/list", {});
    const call = async (name: string, given: JsonObject): Promise<unknown> =>
      member(member(await ask("tools/call", { name, arguments: given }), "result"), "isError") === true;
    for (const read of ["list_files", "read"]) expect(await call(read, {})).toBe(false);
    expect(await call("pay", { amount: 90210 })).toBe(true);
    expect(await call("delete_event", { id: "f-90210" })).toBe(true);
    expect(await call("delete_file", { id: "f-90210" })).toBe(false);
  });
});

describe("A5: what a schema offers is known only of tools that are labelled", () => {
  const entry = {
    name: "send",
    inputSchema: { type: "object", properties: { to: { type: "string", enum: ["eve"], default: "mal" } } },
  };
  const effects = "effects: [write.local.pay]";
  const sent = async (labels: string, to: string): Promise<boolean> => {
    const text = `
flow: {mode: provenance}
labels:
  web.read: {effects: [read.local], output: {confidentiality: public, trust: untrusted}}
${labels}`;
    const talk = new Conversation(text, { web: ["read"], shop: [entry] });
    await talk.call("web.read");
    return !(await talk.call("shop.send", { to })).refused;
  };

  it("a labelled tool of an accepted list offers its choices", async () => {
    expect(await sent(`  shop.send: {${effects}, args: {to: {role: recipient}}}`, "eve")).toBe(true);
    expect(await sent(`  shop.send: {${effects}, args: {to: {role: recipient}}}`, "mal")).toBe(true);
    expect(await sent(`  shop.send: {${effects}, args: {to: {role: recipient}}}`, "other")).toBe(false);
  });
});
