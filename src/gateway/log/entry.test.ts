import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { exactly } from "../../core/label.ts";
import type { Json } from "../../core/json.ts";
import { contract, lattice } from "../../../test/kit/gateway/log-records.ts";
import type { LogEntry } from "../ports/store.ts";
import { entryWriter, makeDocuments } from "./entry.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const keys = { hash, keyedDigest: (text: string) => hash(text).slice(0, 32) };
const secret = `ghp_${"a1B2".repeat(10)}`;

/** An entry in which everything that somebody else could have chosen is this text. */
function entryOf(foreign: string, call = "c-1"): LogEntry {
  const label = exactly(lattice.bottom);
  const step = { origin: call, server: foreign, tool: foreign, pointer: foreign, label: label.lo };
  const option = {
    class: {
      server: foreign,
      tool: foreign,
      truths: new Map([[0, true]]),
      keys: new Map([[foreign, [foreign]]]),
      amounts: new Map([[foreign, foreign]]),
    },
    contract,
    arguments: new Map([[foreign, { range: label, digest: "d", path: [step] }]]),
  };
  const common = { digest: foreign, purpose: foreign, principal: foreign, expiresAt: 9 };
  const events: RunEvent[] = [
    { at: 1, kind: "begun", principal: foreign, parent: foreign },
    { at: 1, kind: "registered", text: { source: "instruction", value: foreign } },
    { at: 1, kind: "refused", call, server: "s", tool: foreign, digest: "d", codes: [foreign] },
    {
      at: 1,
      kind: "dispatched",
      call,
      method: foreign,
      option,
      digest: "d",
      consent: foreign,
      arguments: { [foreign]: foreign },
      forecast: { labels: [foreign], effects: [foreign] },
      filter: { hides: [foreign], asks: [foreign] },
    },
    { at: 2, kind: "foreseen", filter: { hides: [foreign], asks: [foreign] } },
    { at: 2, kind: "unknown", call, cause: foreign },
    { at: 2, kind: "granted", grant: { kind: "consent", ...common } },
    { at: 2, kind: "granted", grant: { kind: "endorse", role: "content", from: label, to: label, ...common } },
    {
      at: 3,
      kind: "released",
      call,
      server: foreign,
      tool: foreign,
      how: "pass",
      label,
      codes: [foreign],
      fields: [{ pointer: foreign, range: label }],
      value: { content: [foreign] },
    },
  ];
  const reason = { mechanism: foreign, code: foreign, verdict: "deny", rule: foreign, why: foreign } as const;
  return {
    run: "r",
    at: 1,
    kind: foreign,
    events,
    context: {
      policyDigest: "p",
      policyText: "{}",
      lattice,
      payload: "sealed",
      manifestDigest: foreign,
      principal: foreign,
    },
    decision: {
      verdict: "deny",
      enforcedVerdict: "confirm",
      reasons: [{ ...reason, facts: { [foreign]: foreign }, serves: [foreign], way: foreign }],
      obligations: [
        { kind: "isolate", scope: foreign },
        { kind: "label", range: label, fields: [{ pointer: foreign, range: label }] },
        { kind: "redact", pointer: foreign },
        { kind: "perform", rule: foreign, server: foreign, tool: foreign, arguments: foreign },
        { kind: "hold", rule: foreign, since: 0 },
        { kind: "revoke", server: foreign, end: true, rule: foreign },
        { kind: "notify", rule: foreign, text: foreign },
      ],
      option: { ...option },
    },
    answers: { [foreign]: foreign },
    plainAnswers: { [foreign]: foreign },
    notes: { [foreign]: foreign },
    details: { [foreign]: foreign },
  };
}

/** A writer, for one entry at a time. */
function writerOfOne() {
  const { context, texts } = entryWriter(keys, makeDocuments(keys));
  return { context, texts: (entry: LogEntry) => texts([entry])[0] ?? { kind: "", clear: "", hidden: undefined } };
}

/** Everything that is kept of the entry. */
function written(entry: LogEntry): string {
  const writer = writerOfOne();
  const { clear, hidden } = writer.texts(entry);
  return `[${writer.context(entry.context)},${clear},${hidden}]`;
}

describe("the texts of an entry", () => {
  it("are JSON as `JSON.stringify` writes it", () => {
    for (const foreign of ["plain", '"\\\n\u2028\ud800', "__proto__"]) {
      const text = written(entryOf(foreign, foreign));
      expect(JSON.stringify(JSON.parse(text))).toBe(text);
    }
  });

  it("hold no secret, wherever it stood, and are the same in all else", () => {
    const marker = `[secret token ${keys.keyedDigest(secret)}]`;
    expect(written(entryOf(secret))).toBe(written(entryOf(marker)));
    expect(written(entryOf("plain")).match(/plain/g)?.length).toBe(written(entryOf(marker)).split(marker).length - 1);
    expect(written(entryOf(secret))).not.toContain(secret);
  });

  it("are alike where several runs are told of one large value, and hold no secret in any", () => {
    const told = (value: Json): LogEntry => ({ ...entryOf("x"), events: [], answers: { value } });
    const [one, other] = [told({ text: secret.padEnd(5_000, " ") }), told({ text: "b".repeat(5_000) })];
    const { texts } = entryWriter(keys, makeDocuments(keys));
    const alone = [one, other].map((entry) => writerOfOne().texts(entry));
    expect(texts([one, one, other, other, one])).toEqual([0, 0, 1, 1, 0].map((index) => alone[index]));
    expect(JSON.stringify(alone)).not.toContain(secret);
  });

  it("hold no secret when a name comes again", () => {
    const { texts } = writerOfOne();
    expect(texts(entryOf(secret)).clear).toBe(texts(entryOf(secret)).clear);
    // More names than are remembered.
    for (let name = 0; name < 1_500; name += 1) texts({ ...entryOf("x"), events: [], kind: `${name}` });
    expect(texts(entryOf(secret)).clear).not.toContain(secret);
  });

  it("name what entries have in common anew when it changes", () => {
    const writer = entryWriter(keys, makeDocuments(keys));
    const { context } = entryOf("ann");
    const first = writer.context(context);
    expect(writer.context({ ...context })).toBe(first);
    expect(writer.context({ ...context, principal: "bob" })).toContain("bob");
    expect(writer.context(context)).toBe(first);
  });
});
