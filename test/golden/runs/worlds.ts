/** Policies, servers and clients' own tools of the recorded runs: each way of deciding has a world. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { EffectEvent } from "../../../src/core/isolation/effect-trace.ts";
import { type JsonObject, isArray, isObject } from "../../../src/core/json.ts";
import type { Answer, Question } from "../../../src/core/opinion.ts";
import type { Projection } from "../../../src/gateway/ports/projection.ts";
import { FakeProjection, traceOf } from "../../kit/isolation/fake-projection.ts";
import { documents } from "../../kit/proof/random-policy.ts";
import { hazardDocuments } from "../../kit/proof/game/random-hazards.ts";

const repository = join(import.meta.dirname, "../../..");

export type World = {
  readonly name: string;
  /** Without its version; it extends nothing unless it begins with that. */
  readonly policy: string;
  readonly tools: Readonly<Record<string, readonly (string | JsonObject)[]>>;
  /** How many logs are recorded, each of some runs. */
  readonly logs: number;
  /** Cards are answered at once; elsewhere the operator approves later, and the call is repeated. */
  readonly cards?: true;
  readonly oracle?: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  readonly projection?: () => Projection;
};

/** A tool with text arguments. */
const tool = (name: string, ...names: readonly string[]): JsonObject => ({
  name,
  inputSchema: { type: "object", properties: Object.fromEntries(names.map((one) => [one, { type: "string" }])) },
});

function manifest(pack: string, wanted: RegExp): readonly JsonObject[] {
  const read: unknown = JSON.parse(readFileSync(join(repository, `packs/manifests/${pack}.json`), "utf8"));
  const { tools } = read as { readonly tools: readonly JsonObject[] }; // a file of this repository
  return tools.filter(({ name }) => typeof name === "string" && wanted.test(name));
}

function packaged(file: string): string {
  return readFileSync(join(repository, file), "utf8").replace(/^(#.*\n)*version: 1\n/, "");
}

const allMayPass = `{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}`;

const desk = `
lattice: {confidentiality: [public, private]}
servers: {desk: {trust: trusted}, post: {trust: trusted}}
labels:
  desk.read_file: {effects: read.local, rest: {role: path, sink: false}, output: {confidentiality: private, trust: trusted}}
  desk.read_page: {effects: read.external, output: {confidentiality: public, trust: untrusted}}
  desk.look: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  desk.keep:
    {effects: write.local, args: {text: {role: content, sink: false}}, writes: [box], output: {confidentiality: public, trust: trusted}}
  desk.open_box: {effects: read.local, reads: [box], output: {confidentiality: public, trust: trusted}}
  desk.share_box: {effects: write.local.grant, opens: {store: box, audience: anyone}, output: {confidentiality: public, trust: trusted}}
  post.send:
    effects: write.external.send
    args: {to: {role: recipient}, body: {role: content}}
    output: {confidentiality: public, trust: trusted}
  "host:claude-code.Read": {output: {confidentiality: public, trust: untrusted}}
stores: {box: {label: {confidentiality: public, trust: trusted}, audience: me}}
`;
const deskTools = {
  desk: [tool("read_file", "path"), tool("read_page", "url"), "look", tool("keep", "text"), "open_box", "share_box"],
  post: [tool("send", "to", "body")],
};
const leak = `{id: LEAK, tier: block, when: {tool: post.send, data: {confidentiality: private}}, why: "what is private stays"}`;
const asked = `{id: ASK, tier: confirm, when: {tool: post.send}, why: "letters are read first"}`;
const hazard = (consent: string): string => `hazards:
  leak:
    consent: ${consent}
    why: what is private stays here
    never: {flow: {from: {confidentiality: private, audience: [anyone]}, to: {effect: write.external}}}
`;
const rules = (...more: readonly string[]): string =>
  `rules:\n${[allMayPass, ...more].map((one) => `  - ${one}\n`).join("")}`;
const mode = (flow: string): string => `flow: {mode: ${flow}}\n`;

const duties = `
labels:
  desk.read: {effects: [read.local]}
  desk.pay: {effects: [write.local], args: {amount: {role: content}}}
  desk.notify: {effects: [write.local]}
  desk.backup: {effects: [write.local]}
  desk.delete: {effects: [write.local], args: {id: {role: identifier}}}
  post.send: {effects: [write.local], args: {to: {role: recipient}}}
  post.post: {effects: [write.local]}
`;
const dutyTools = {
  desk: ["read", tool("pay", "amount"), "notify", tool("backup", "id"), tool("delete", "id")],
  post: [tool("send", "to"), "post"],
};
const gate = `{id: GATE, tier: must, gate: {before: desk.delete, need: desk.backup, key: id}, why: "deletions are backed up"}`;
const owed = `{id: OWED, tier: must, owed: {after: desk.pay, owe: desk.notify, within: 2}, why: "payments are told"}`;
const inject = `{id: FIRST, tier: must, inject: {before: post.post, call: {tool: desk.backup, arguments: {id: all}}}, why: "backed up"}`;
const hold = `{id: HOLD, tier: must, byEnd: {after: post.send, by: desk.notify, action: hold}, why: "mails are recorded"}`;
const report = `{id: REPORT, tier: must, byEnd: {after: post.post, by: desk.notify, action: report}, why: "posts are recorded"}`;
const once = `{id: FEW, tier: block, atMost: {of: post.send, count: 2, within: 10m}, why: "two mails in ten minutes"}`;
const budget = `{id: MONEY, tier: block, budget: {of: desk.pay, argument: amount, limit: "20.00"}, why: "twenty"}`;

/** A judge that finds one text bad, and sometimes has nothing to say. */
async function judge(questions: readonly Question[]): Promise<readonly Answer[]> {
  return questions.flatMap((question): readonly Answer[] => {
    const text = JSON.stringify(question.content);
    if (text.includes("gamma")) return [{ kind: "unavailable", question, cause: "timeout" }];
    const safety = text.includes("delta") ? { safety: "unsafe", pUnsafe: 1 } : { safety: "safe", pUnsafe: 0 };
    return [{ kind: "known", question, value: { ...safety, filteredTools: [] } }];
  });
}

/** Every few calls one does what it may not, or may have done it: its result then waits for consent. */
function watched(): Projection {
  const projection = new FakeProjection();
  const connects: Partial<EffectEvent> = { action: "net-connect", address: "203.0.113.7:443" };
  let calls = 0;
  projection.traces = (call) => {
    if (call === undefined) return traceOf();
    calls += 1;
    if (calls === 7) return traceOf([], { complete: false, dropped: 3 });
    if (calls === 14) return traceOf([connects]);
    const reads: Partial<EffectEvent> = { action: "file-read", path: "/project/a", phase: "ambiguous" };
    return traceOf([reads], { changes: [{ path: "/project/b", kind: "added", bytes: 3, guarded: false }] });
  };
  return projection;
}

const named: readonly World[] = [
  { name: "strict", policy: `${desk}${mode("strict")}${hazard("never")}${rules(asked)}`, tools: deskTools, logs: 6 },
  {
    name: "strict, risks accepted",
    policy: `${desk}${mode("strict")}${hazard("may")}host: {send: {open: anyone}}\n${rules()}`,
    tools: deskTools,
    logs: 4,
  },
  { name: "provenance", policy: `${desk}${mode("provenance")}${rules(leak)}`, tools: deskTools, logs: 6 },
  {
    name: "provenance, cards",
    policy: `${desk}${mode("provenance")}rules:\n  - ${allMayPass.replace('"*"', '"desk.*"')}\n`,
    tools: deskTools,
    logs: 4,
    cards: true,
  },
  { name: "handles", policy: `${desk}${mode("handles")}${hazard("may")}${rules()}`, tools: deskTools, logs: 2 },
  {
    name: "observe",
    policy: `mode: observe\n${desk}${mode("strict")}${hazard("never")}${rules(asked, leak)}`,
    tools: deskTools,
    logs: 3,
  },
  {
    name: "one server observed",
    policy: `${desk.replace("post: {trust: trusted}", "post: {trust: trusted, mode: observe}")}${mode("provenance")}${rules(asked, leak)}`,
    tools: deskTools,
    logs: 3,
  },
  {
    name: "payloads in the clear",
    policy: `${desk}${mode("provenance")}audit: {payload: clear}\n${rules(leak)}`,
    tools: deskTools,
    logs: 2,
  },
  {
    name: "payloads as digests",
    policy: `${desk}${mode("provenance")}audit: {payload: digests}\n${rules(leak)}`,
    tools: deskTools,
    logs: 1,
  },
  {
    name: "judged",
    policy: `${desk}${mode("provenance")}regulation: {models: {embedded: true}}\n${rules(leak)}`,
    tools: deskTools,
    logs: 3,
    oracle: judge,
  },
  { name: "gates and debts", policy: `${mode("none")}${duties}${rules(gate, owed, once)}`, tools: dutyTools, logs: 4 },
  {
    name: "injected and held",
    policy: `${mode("none")}${duties}${rules(inject, hold, budget)}`,
    tools: dutyTools,
    logs: 5,
  },
  { name: "by the end", policy: `${mode("none")}${duties}${rules(report, hold, once)}`, tools: dutyTools, logs: 3 },
  {
    name: "watched servers",
    policy: `${desk}${mode("provenance")}isolation: {}\n${rules()}`,
    tools: deskTools,
    logs: 3,
    projection: watched,
  },
  {
    name: "default",
    policy: "extends: [default]\nservers: {files: {pack: filesystem}, memory: {pack: memory}}\n",
    tools: {
      files: manifest("filesystem", /read_text|write_file|list_dir|edit_file|move/),
      memory: manifest("memory", /create_ent|read_graph|search/),
    },
    logs: 4,
  },
  {
    name: "regulated",
    policy: packaged("examples/regulation/policy.yaml"),
    tools: {
      files: ["read_notes", "read_salaries"],
      wiki: [tool("edit", "text"), "publish"],
      mail: ["order", tool("announce", "text")],
    },
    logs: 5,
  },
  {
    name: "payments",
    policy: packaged("packs/policies/payments.yaml"),
    tools: {
      payments: manifest("payments", /refund|list_(pay|sub)|cancel/),
      mail: [tool("send_email", "to", "subject", "body")],
    },
    logs: 3,
  },
  {
    name: "shell",
    policy: packaged("packs/policies/shell.yaml"),
    tools: { shell: manifest("shell", /./), mail: [tool("send_email", "to", "subject", "body")] },
    logs: 2,
  },
];

/** Random small policies of the laws; their tools are called with the arguments that they label. */
function randomWorlds(seed: number): readonly World[] {
  const drawn = [...fc.sample(documents, { seed, numRuns: 7 }), ...fc.sample(hazardDocuments, { seed, numRuns: 5 })];
  return drawn.map(({ document, tools }, index) => {
    const { version: _, ...sections } = document;
    const lines = Object.entries(sections).map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`);
    const byServer: Record<string, JsonObject[]> = {};
    for (const selector of tools) {
      const [server = "", name = ""] = selector.split(".");
      (byServer[server] ??= []).push(tool(name, "x", "y"));
    }
    return { name: `random ${index + 1}`, policy: lines.join(""), tools: byServer, logs: 1 };
  });
}

export function worlds(seed: number): readonly World[] {
  return [...named, ...randomWorlds(seed)];
}

/** Names of the text arguments of a listed tool. */
export function argumentsOf(listed: string | JsonObject): readonly (readonly [string, JsonObject])[] {
  const schema = typeof listed === "string" ? undefined : listed["inputSchema"];
  const properties = isObject(schema) ? (schema as JsonObject)["properties"] : undefined; // narrowed
  if (!isObject(properties) || isArray(properties)) return [];
  return Object.entries(properties as JsonObject).filter((pair): pair is [string, JsonObject] => isObject(pair[1])); // narrowed
}
