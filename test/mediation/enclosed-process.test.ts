// Belief that rests on what the projection of the running process enforces (docs/semantics.md 10), over the whole gateway:
// what passes before any question, and what a planted secret cannot do.
import { describe, expect, it } from "vitest";
import type { IsolationTier } from "../../src/core/isolation/scope.ts";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { FakeProjection, traceOf } from "../kit/isolation/fake-projection.ts";
import { Conversation, type ConversationOptions } from "../kit/gateway/real-policy.ts";

const secret = "the merger closes on Friday";

/** Unlabelled tools, as most servers list them. */
const tools = {
  notes: ["get_page", "write_page", "add", "list"],
  mail: ["inbox", "post"],
};

/** `mail` is known: it returns private text, and sends to others. */
const known = `
  mail.inbox: {effects: [read.local], output: {confidentiality: private, trust: trusted}}
  mail.post: {effects: [write.external.send], args: {text: {role: content}}}
`;

const closed = "files: {workspace: {mode: none}}";

/** What a section says, and what a policy without one gets. */
const backends = ["auto", "where-possible"] as const;
type Backend = (typeof backends)[number];

/** The default policy with scopes by server; others get the defaults. */
function policy(servers: string, backend: Backend = "auto"): string {
  const section = `{backend: ${backend}, servers: {mail: {${closed}}, ${servers}}}`;
  return `extends: [default]\nisolation: ${section}\nlabels:${known}`;
}

function talkOf(text: string, tier: IsolationTier = "A", options: ConversationOptions = {}): Conversation {
  const projection = new FakeProjection();
  projection.tier = tier;
  projection.traces = () => traceOf([], { tier });
  const talk = new Conversation(text, tools, { projection, ...options });
  talk.answer = (tool) => ({ content: [{ type: "text", text: tool === "inbox" ? secret : `${tool} done` }] });
  return talk;
}

describe.each(backends)("an unlabelled server in an enclosed process, `backend: %s`", (backend) => {
  it("answers reads and writes before any question, also with untrusted values", async () => {
    for (const tier of ["A", "A-"] as const) {
      const talk = talkOf(policy("", backend), tier);
      expect(await talk.call("notes.get_page", { path: "plan.md" })).toEqual({ refused: false, text: "get_page done" });
      expect((await talk.call("notes.get_page", { path: "said by the page" })).refused).toBe(false);
      expect((await talk.call("notes.write_page", { path: "/elsewhere/plan.md", text: secret })).refused).toBe(false);
    }
  });

  it("is the worst case in a tier that encloses nothing, and while it starts", async () => {
    for (const tier of ["B", "C", "none"] as const) {
      const talk = talkOf(policy("", backend), tier);
      expect((await talk.call("notes.get_page", { path: "plan.md" })).refused, tier).toBe(true);
      expect(talk.reached).toEqual([]);
    }
  });

  it("has no bounds for a process of another tier, from the next decision on", async () => {
    const projection = new FakeProjection();
    const talk = talkOf(policy("", backend), "A", { projection });
    expect((await talk.call("notes.get_page", { path: "a" })).refused).toBe(false);
    projection.tier = "B";
    expect((await talk.call("notes.get_page", { path: "b" })).refused).toBe(true);
  });

  it("does not make what acts outside pass", async () => {
    const talk = talkOf(policy("", backend));
    await talk.call("notes.get_page", { path: "plan.md" });
    expect((await talk.call("mail.post", { text: "get_page done" })).refused).toBe(true);
  });

  it("asks about what the server itself says against a tool", async () => {
    const talk = talkOf(policy("", backend));
    const sends = { "io.github.sluicegate/labels": { effects: ["write.external.send"] } };
    const listed = {
      notes: ["get_page", { name: "share", _meta: sends }, { name: "drop", annotations: { destructiveHint: true } }],
      mail: tools.mail,
    };
    const told = new Conversation(policy("", backend), listed, { projection: new FakeProjection() });
    await told.call("notes.get_page", {});
    expect((await told.call("notes.share", { to: "them" })).refused).toBe(true);
    expect((await told.call("notes.drop", { path: "all" })).refused).toBe(true);
    await talk.end();
  });
});

/**
 * Everything passes that no rule of the default stops, so that flow alone decides. `stores` are declared where given; they
 * and `servers` are members of the policy.
 */
function plantedUnder(backend: Backend, servers: string, stores = ""): string {
  const declared = stores === "" ? "" : `stores: {${stores}}\n`;
  const rules = `rules:\n  - {id: ALL, tier: allow, when: {tool: "*"}, why: "only flow decides"}\n`;
  return policy(servers, backend).replace("\n", `\n${declared}${rules}`);
}

const remembers = `"proc:notes": {label: {confidentiality: public}}`;
const [first, second] = [7, 8];

/** Gives private text to `notes.add` in the first run; true where the gateway lets it. */
async function plant(talk: Conversation): Promise<boolean> {
  await talk.call("mail.inbox", {}, first);
  return !(await talk.call("notes.add", { text: secret }, first)).refused;
}

/** Whether text that `notes.list` returned may be posted by a run that holds nothing else. */
async function leaks(talk: Conversation, process: number): Promise<boolean> {
  talk.answer = () => ({ content: [{ type: "text", text: secret }] });
  expect((await talk.call("notes.list", {}, process)).refused).toBe(false);
  return !(await talk.call("mail.post", { text: secret }, process)).refused;
}

describe.each(backends)("planted secrets, `backend: %s`", (backend) => {
  const planted = (servers: string, stores = ""): string => plantedUnder(backend, servers, stores);

  it("a private argument to `add` makes the public result of `list` private, in another run", async () => {
    const text = planted(`notes: {${closed}}`, remembers);
    expect(await leaks(talkOf(text), second)).toBe(true);
    const talk = talkOf(text);
    expect(await plant(talk)).toBe(true);
    expect(await leaks(talk, second)).toBe(false);
  });

  it("and in every later run, under whatever order the process runs then", async () => {
    const log = new FakeLog();
    const before = talkOf(planted(`notes: {${closed}}`, remembers), "A", { log });
    expect(await plant(before)).toBe(true);
    await before.end();
    const narrower = planted(`notes: {${closed}, exec: {mode: none}}`, remembers);
    expect(await leaks(talkOf(narrower, "A", { log }), second)).toBe(false);
    expect(await leaks(talkOf(narrower), second)).toBe(true);
  });

  it("a result without a label has every restriction where the policy declares no memory", async () => {
    expect(await leaks(talkOf(planted(`notes: {${closed}}`)), second)).toBe(false);
  });

  it("a scope of one tool is a way out for the arguments of every other", async () => {
    const own = (net: string): string => planted(`notes: {${closed}, ${net}}`);
    expect(await plant(talkOf(own("net: {mode: none}")))).toBe(true);
    const publishing = 'net: {mode: list}, tools: {publish: {allow: ["wiki.example.com:443"]}}';
    expect(await plant(talkOf(own(publishing)))).toBe(false);
    expect(await plant(talkOf(own("tools: {publish: {write: [/srv/www]}}")))).toBe(false);
  });

  it("what yesterday's broad scope let into the home comes back under today's narrow one", async () => {
    const log = new FakeLog();
    const broad = talkOf(
      planted(`notes: {files: {read: [/srv/accounts]}, net: {allow: ["a.example.com:443"]}}`, remembers),
      "A",
      { log },
    );
    expect((await broad.call("notes.add", { text: "public" }, first)).refused).toBe(false);
    await broad.end();
    const narrow = planted(`notes: {${closed}}`, remembers);
    expect(await leaks(talkOf(narrow, "A", { log }), second)).toBe(false);
    expect(await leaks(talkOf(narrow), second)).toBe(true);
  });

  it("what yesterday's weak tier let in does so, too", async () => {
    const log = new FakeLog();
    const text = planted(`notes: {${closed}}`, remembers);
    const weak = talkOf(text, "none", { log });
    expect((await weak.call("notes.add", { text: "public" }, first)).refused).toBe(false);
    await weak.end();
    expect(await leaks(talkOf(text, "A", { log }), second)).toBe(false);
  });

  it("A writes the workspace, B syncs it: a server whose writes another one can pass on is not enclosed", async () => {
    const syncing = (files: string): string => `sync: {net: {allow: ["git.example.com:443"]}, ${files}}`;
    expect(await plant(talkOf(planted(syncing("files: {workspace: {mode: none}}"))))).toBe(true);
    expect(await plant(talkOf(planted(syncing("files: {workspace: {mode: read}}"))))).toBe(false);
    expect(await plant(talkOf(planted(syncing("files: {workspace: {mode: none}, read: [./out]}"))))).toBe(false);
    expect(await plant(talkOf(planted("sync: {backend: off}")))).toBe(false);
    // Nothing of what it writes gets there, or nothing is written.
    const kept = "notes: {files: {workspace: {commit: never}}}, ";
    expect(await plant(talkOf(planted(kept + syncing("files: {workspace: {mode: read}}"))))).toBe(true);
    expect(await plant(talkOf(planted(kept.replace("commit: never", "mode: read") + syncing(""))))).toBe(true);
  });

  it("a host with many tenants: a list of hosts bounds addresses, not audiences", async () => {
    expect(await plant(talkOf(planted(`notes: {${closed}, net: {allow: ["api.github.com:443"]}}`)))).toBe(false);
  });

  it("A writes the workspace, C reads it: no declared memory bounds what others write meanwhile", async () => {
    const label = `"proc:notes": {label: {confidentiality: public}}`;
    for (const scope of ["", "files: {workspace: {mode: read}}", "files: {workspace: {mode: none}, read: [./out]}"])
      expect(await leaks(talkOf(planted(`notes: {${scope}}`, label)), second), scope).toBe(false);
  });
});
