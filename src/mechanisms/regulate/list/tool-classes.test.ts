import { describe, expect, it } from "vitest";
import { argument, contract } from "../../../../test/kit/policy/scene.ts";
import { compiled } from "../../../../test/kit/regulation/small-run.ts";
import { openHost } from "../../../../test/kit/regulation/documents.ts";
import type { ToolContract } from "../../../core/contract.ts";
import { toolClasses } from "./tool-classes.ts";

const { ir } = compiled({
  ...openHost(),
  rules: [
    { id: "plain", tier: "block", when: { tool: "s.named*" }, why: "by name" },
    { id: "counted", tier: "block", atMost: { of: { tool: "s.counted" }, count: 1 }, why: "once" },
  ],
});
const text = (value: unknown): string => String(value);
const classOf = toolClasses(ir, text);
const plain = contract("a", { arguments: new Map([["to", argument("recipient", true)]]) });
const same = (change: Partial<ToolContract>): boolean => classOf({ ...plain, ...change }) === classOf(plain);

describe("classes of tools", () => {
  it("leave out what no decision about a list looks at", () => {
    expect(same({ tool: "b" })).toBe(true);
    expect(same({ toolDigest: "other", source: "pack" })).toBe(true);
    const offered = { ...argument("recipient", true), schemaValues: ["a"] };
    expect(same({ arguments: new Map([["to", offered]]) })).toBe(true);
  });

  it("tell apart what a rule or automaton names", () => {
    expect(same({ server: "s", tool: "named_x" })).toBe(false);
    expect(same({ server: "s", tool: "counted" })).toBe(false);
    expect(same({ server: "t", tool: "counted" })).toBe(true);
    expect(classOf({ ...plain, server: "s", tool: "counted" })).not.toBe(
      classOf({ ...plain, server: "s", tool: "named" }),
    );
  });

  it.each<Partial<ToolContract>>([
    { effects: { must: [], may: ["execute.local"] } },
    { flags: { irreversible: true, openWorld: true } },
    { arguments: new Map([["to", argument("content", true)]]) },
    { arguments: new Map([["too", argument("recipient", true)]]) },
    { arguments: new Map() },
    { rest: argument("command", true) },
    { required: ["to"] },
    { output: { ...plain.output, fields: [{ pointer: "/a", label: plain.output.label }] } },
    { cases: [{ predicates: [0], effects: { must: [], may: [] } }] },
    { reads: ["x"] },
    { writes: ["x"] },
    { opens: [{ store: "x", audience: ["anyone"] }] },
    { consequential: !plain.consequential },
  ])("tell apart what differs in anything else: %o", (change) => {
    expect(same(change)).toBe(false);
  });

  it("are worked out once for a contract", () => {
    let asked = 0;
    const counting = toolClasses(ir, (value) => {
      asked += 1;
      return text(value);
    });
    counting(plain);
    counting(plain);
    expect(asked).toBe(1);
  });
});
