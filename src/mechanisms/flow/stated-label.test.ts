import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import {
  atMost,
  categoryLabel,
  confidentiality,
  exactly,
  join,
  levelLabel,
  makeLattice,
  readersLabel,
  withTrust,
  type LabelRange,
} from "../../core/label.ts";
import {
  contract,
  lattice as plain,
  makeSession,
  open,
  secret,
  untrusted,
} from "../../../test/kit/policy/flow-session.ts";
import { statedLabel, withStated } from "./stated-label.ts";

const made = makeLattice({ levels: ["public", "private"], categories: ["medical"], groups: ["me", "anyone"] });
if (!made.ok) throw new Error(made.error);
const lattice = made.value;
const { bottom, top } = lattice;
const hidden = levelLabel(lattice, "private") ?? top;
const medical = categoryLabel(lattice, "medical") ?? top;
const forMe = readersLabel(lattice, ["me"]) ?? top;
const doubtful = withTrust(lattice, bottom, "untrusted");
const anything: LabelRange = { lo: bottom, hi: confidentiality(lattice, top) };

const own = (labels: Json): Json => ({ _meta: { "io.github.sluicegate/labels": labels } });
const flow = (ifc: Json): Json => ({ _meta: { ifc } });

describe("labels that a message states", () => {
  test.each<[string, Json, LabelRange]>([
    ["none", { content: [] }, exactly(bottom)],
    ["a level", own({ confidentiality: "private" }), exactly(hidden)],
    ["a level, as of an output", own({ output: { confidentiality: "private" } }), exactly(hidden)],
    ["trust", own({ trust: "untrusted" }), exactly(doubtful)],
    ["categories and readers", own({ categories: ["medical"], readers: ["me"] }), exactly(join(medical, forMe))],
    ["an interval", own({ confidentiality: ["public", "private"] }), { lo: bottom, hi: hidden }],
    ["nothing for sure", own({ confidentiality: "unsure", trust: "trusted" }), exactly(bottom)],
    ["an unknown level", own({ confidentiality: "secret" }), anything],
    ["an unknown category", own({ categories: ["legal"] }), anything],
    ["categories that are no list", own({ categories: "medical" }), anything],
    ["readers that are no names", own({ readers: [1] }), anything],
    ["an unknown trust", own({ trust: "half" }), anything],
    ["no object", own("private"), anything],
    ["ifc", flow({ confidentiality: "private", integrity: "untrusted" }), exactly(join(hidden, doubtful))],
    ["ifc with readers", flow({ confidentiality: ["ana", "bob"] }), exactly(hidden)],
    ["ifc with a level in a list", flow({ confidentiality: ["public"], integrity: "trusted" }), exactly(bottom)],
    ["of a block", { content: [flow({ confidentiality: "private" })] }, exactly(hidden)],
    ["of a resource in a block", { content: [{ resource: flow({ confidentiality: "private" }) }] }, exactly(hidden)],
    ["of contents", { contents: [{}, own({ trust: "untrusted" })] }, exactly(doubtful)],
    ["of a message of a prompt", { messages: [{ content: own({ trust: "untrusted" }) }] }, exactly(doubtful)],
    ["of the result of a task", { taskId: "t", result: own({ confidentiality: "private" }) }, exactly(hidden)],
    ["of a notification", { params: own({ confidentiality: "private" }) }, exactly(hidden)],
    [
      "two at once",
      { ...(own({ trust: "untrusted" }) as {}), content: [own({ categories: ["medical"] })] },
      exactly(join(doubtful, medical)),
    ],
    ["more than are looked at", { content: Array.from({ length: 2_000 }, () => ({})) }, { lo: bottom, hi: top }],
  ])("%s", (_, message, expected) => expect(statedLabel(lattice, message)).toEqual(expected));

  test("law: a statement never lowers a label, and never goes beyond the bound", () => {
    const label = fc.integer({ min: 0, max: top }).map((bits) => bits as typeof top);
    const range = fc.tuple(label, label).map(([lo, more]) => ({ lo, hi: join(lo, more) }));
    fc.assert(
      fc.property(range, range, range, label, (whole, field, stated, more) => {
        const bound = join(whole.hi, more);
        const given = { kind: "label" as const, range: whole, fields: [{ pointer: "/a", range: field }] };
        const { obligation, reasons } = withStated(lattice, given, stated, bound);
        if (obligation.kind !== "label") throw new Error("it is a label");
        expect(atMost(whole.lo, obligation.range.lo) && atMost(whole.hi, obligation.range.hi)).toBe(true);
        expect(atMost(obligation.range.hi, bound) && atMost(obligation.range.lo, obligation.range.hi)).toBe(true);
        expect(atMost(field.hi, obligation.fields[0]?.range.hi ?? bottom)).toBe(true);
        expect(reasons.length === 0).toBe(atMost(stated.hi, bound));
      }),
    );
  });
});

describe("D28: a result's own labels are joined at release", () => {
  const of = (labels: Json): Json => ({ content: [{ type: "text", text: "figures" }], ...(own(labels) as {}) });

  test.each(["strict", "provenance"] as const)("%s: the argument made of it carries them", (mode) => {
    const session = makeSession(mode);
    const unknown = contract("read", { lo: open, hi: join(secret, untrusted) });
    const { range } = session.exchange(unknown, {}, of({ confidentiality: "private" }));
    expect(range).toEqual({ lo: secret, hi: join(secret, untrusted) });
    expect((session.labels(unknown, { body: "figures" }).get("body")?.range.lo ?? open) & secret).toBe(secret);
  });

  test("what is beyond the labels of the tool is refused, and asked about where it only may be", () => {
    const session = makeSession("strict");
    const option = session.optionOf(contract("read", exactly(open)), {});
    const moment = {
      kind: "release" as const,
      at: 0,
      call: "c",
      outcome: "succeeded" as const,
      contract: option.contract,
    };
    const judge = (labels: Json) => session.consider({ ...moment, option, value: of(labels) });
    expect(judge({ confidentiality: "private" })).toMatchObject({
      verdict: "deny",
      reasons: [{ code: "SG-RESULT-LABEL", facts: { stated: "private", labelled: "public" } }],
      obligations: [{ kind: "label", range: exactly(open) }],
    });
    expect(judge({ confidentiality: "top secret" })).toMatchObject({ verdict: "confirm" });
    expect(judge({ confidentiality: "public", trust: "trusted" })).toMatchObject({ verdict: "allow" });
    session.set({ context: exactly(secret) });
    expect(judge({ confidentiality: "private" })).toMatchObject({
      verdict: "allow",
      obligations: [{ range: exactly(secret) }],
    });
    const beside = { ...moment, call: undefined, option: undefined, value: of({ trust: "untrusted" }) };
    expect(session.consider(beside)).toMatchObject({ verdict: "allow", obligations: [{ range: exactly(untrusted) }] });
  });

  test("without flow nothing is labelled", () => {
    const session = makeSession("none");
    expect(session.exchange(contract("read", exactly(open)), {}, of({ confidentiality: "private" })).range).toEqual(
      exactly(plain.bottom),
    );
  });
});
