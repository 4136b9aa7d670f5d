// What stands against an option, as a call and as an entry of the list.
import { describe, expect, it } from "vitest";
import type { LabelRange } from "../../core/label.ts";
import type { HazardText, RuleText } from "../../policy/document/shapes-rules.ts";
import type { PatternObject } from "../../policy/document/shapes-labels.ts";
import { slotsOf } from "../../policy/semantics/monitors.ts";
import { relevance } from "../../policy/semantics/relevance.ts";
import { initialState } from "../../policy/semantics/state.ts";
import { local, open, secret, tools } from "../../../test/kit/proof/small.ts";
import { unsure } from "../../../test/kit/regulation/documents.ts";
import { compiled, SmallRun, type SmallDocument } from "../../../test/kit/regulation/small-run.ts";
import { type Objection, objectionTo } from "./guard.ts";
import { optionsOf } from "./game/options.ts";

const writes = { effects: "write.local", args: { x: local }, rest: local, output: open } as const;
const labels = { "s.a": writes, "s.b": writes, "s.sure": tools.reads(secret), "s.doubtful": tools.reads(unsure) };
const free: RuleText = { id: "free", tier: "allow", when: { tool: "s.*" }, why: "ordinary work" };
const rule = (id: string, part: Omit<RuleText, "id" | "why">): RuleText => ({ id, why: `because of ${id}`, ...part });
const blocks = (id: string, when: PatternObject): RuleText => rule(id, { tier: "block", when });
const hazard = (part: Partial<HazardText>): SmallDocument => ({
  rules: [free],
  hazards: { h: { never: { call: { tool: "s.a" } }, why: "harm", consent: "never", ...part } },
});
const of = (...rules: readonly RuleText[]): SmallDocument => ({ rules: [free, ...rules] });

/** The objection to the first option with the tool `s.a` in a run that holds what these tools return. */
function objection(document: SmallDocument, as: "call" | "entry" = "call", held: readonly string[] = []): Objection {
  const whole = { labels, ...document };
  const { ir } = compiled(whole);
  const frame = { ir, slots: slotsOf(ir) };
  const run = new SmallRun(whole);
  const contract = run.contract("s.a");
  const relevant = relevance(frame)(contract);
  const ranges = held.map((name): LabelRange => run.contract(name).output.label);
  const q = { ...initialState(ir, frame.slots, undefined), held: ranges };
  const option = optionsOf(frame, q, contract, relevant)?.[0];
  if (option === undefined) throw new Error("a tool has options");
  return objectionTo({ frame, q, option, at: 0 }, relevant, as);
}

const said = (found: Objection): string => [found.verdict, found.rule, found.why].filter(Boolean).join(" ");
const none: Objection = { verdict: "allow", rule: undefined, why: "" };

describe("what stands against a call", () => {
  const private_ = { tool: "s.a", held: { confidentiality: "private" } };
  it.each<[string, SmallDocument, readonly string[], string]>([
    ["nothing", of(), [], "allow"],
    ["a rule that blocks", of(blocks("no", { tool: "s.a" })), [], "deny no because of no"],
    ["a rule that blocks what is only perhaps", of(blocks("no", private_)), ["s.doubtful"], "confirm no because of no"],
    ["a rule that blocks what is so", of(blocks("no", private_)), ["s.sure"], "deny no because of no"],
    ["a rule that asks", of(rule("ask", { tier: "confirm", when: "s.a" })), [], "confirm ask because of ask"],
    ["a rule that only observes", of({ ...blocks("no", { tool: "s.a" }), mode: "observe" }), [], "allow"],
    [
      "the strictest, and of equal ones the first",
      of(rule("ask", { tier: "confirm", when: "s.a" }), blocks("no", { tool: "s.a" }), blocks("too", { tool: "s.a" })),
      [],
      "deny no because of no",
    ],
    ["a count", of(rule("few", { tier: "block", atMost: { of: "s.a", count: 0 } })), [], "deny few because of few"],
    [
      "a count that asks",
      of(rule("few", { tier: "confirm", atMost: { of: "s.a", count: 0 } })),
      [],
      "confirm few because of few",
    ],
    [
      "the count that is full, with its own words",
      of(
        rule("many", { tier: "block", atMost: { of: "s.a", count: 9 } }),
        rule("none", { tier: "block", atMost: { of: "s.a", count: 0 } }),
      ),
      [],
      "deny none because of none",
    ],
    [
      "a count that only observes",
      of({ ...rule("few", { tier: "block", atMost: { of: "s.a", count: 0 } }), mode: "observe" }),
      [],
      "allow",
    ],
    ["a hazard", hazard({}), [], "deny h harm"],
    ["a hazard by key", hazard({ never: { atMost: { of: "s.a", count: 0, key: "x" } } }), [], "allow"],
    ["a hazard that a person may take", hazard({ consent: "may" }), [], "confirm h harm"],
    ["a hazard that is only observed", hazard({ mode: "observe" }), [], "allow"],
    ["the default", { labels: { ...labels, "s.a": { ...writes, effects: "execute.local" } } }, [], "confirm"],
    [
      "the default, lifted",
      { ...of(), labels: { ...labels, "s.a": { ...writes, effects: "execute.local" } } },
      [],
      "allow",
    ],
    [
      "the default where what lifts it only observes",
      { rules: [{ ...free, mode: "observe" }], labels: { ...labels, "s.a": { ...writes, effects: "execute.local" } } },
      [],
      "confirm",
    ],
    ["a count by key", of(rule("few", { tier: "block", atMost: { of: "s.a", count: 0, key: "x" } })), [], "allow"],
    ["a budget", of(rule("little", { tier: "block", budget: { of: "s.a", argument: "x", limit: 0 } })), [], "allow"],
  ])("%s", (_what, document, held, wanted) => {
    expect(said(objection(document, "call", held))).toBe(wanted);
  });
});

describe("what stands against an entry of the list", () => {
  it.each<[string, SmallDocument]>([
    ["a gate for a tool", of(rule("r", { tier: "must", gate: { before: "s.a", need: "s.b" } }))],
    ["a gate for an effect", of(rule("r", { tier: "must", gate: { before: "s.a", need: { effect: "read" } } }))],
    [
      "a gate for calls of which neither is said",
      of(rule("r", { tier: "must", gate: { before: "s.a", need: { flags: ["open_world"] } } })),
    ],
    ["a call just before", of(rule("r", { tier: "must", immediately: { before: "s.a", need: "s.b" } }))],
    ["a hazard that another call makes good", hazard({ never: { unless: { call: "s.a", need: "s.b" } } })],
  ])("%s refuses the call, and does not hide the tool that works toward it", (_what, document) => {
    expect(objection(document, "call").verdict).toBe("deny");
    expect(objection(document, "entry")).toEqual(none);
  });

  it.each<[string, SmallDocument]>([
    ["a count", of(rule("r", { tier: "block", atMost: { of: "s.a", count: 0 } }))],
    ["a block", of(blocks("r", { tool: "s.a" }))],
    ["a hazard", hazard({})],
  ])("%s that no other call lifts hides the tool", (_what, document) => {
    expect(objection(document, "entry").verdict).toBe("deny");
  });
});
