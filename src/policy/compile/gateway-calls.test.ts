// Calls that the gateway itself makes for a rule: before another one, or at the end of a run.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (rule: string) =>
  loadPolicy(
    { file: "p.yaml", text: `version: 1\nrules: [{id: R, tier: must, why: w, ${rule}}]\n` },
    { loader: () => undefined, hash },
  );
const many = Array.from({ length: 65 }, (_, at) => `{call/${at}}`).join("");

describe("a call of the gateway's own", () => {
  it.each([
    ["byEnd: {after: a.b, by: a.c, action: compensate}", "COMPENSATE"],
    ["byEnd: {after: a.b, by: a.c, action: report, call: {tool: a.d}}", "COMPENSATE"],
    ["byEnd: {after: a.b, by: a.c, action: compensate, call: {tool: d}}", "INJECT"],
    ["byEnd: {after: a.b, by: a.c, action: compensate, call: {tool: a.d, arguments: {x: '{call}'}}}", "REFERENCE"],
    ["inject: {before: a.b, call: {tool: a.c, arguments: {x: ['{call/}']}}}", "REFERENCE"],
    [`inject: {before: a.b, call: {tool: a.c, arguments: {x: "${many}"}}}`, "REFERENCE"],
  ])("%s", (rule, code) => {
    const { policy, diagnostics } = load(rule);
    expect(policy).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: `SG-POLICY-${code}`, line: 2 }]);
    for (const { message, remedy } of diagnostics) expect(`${message} ${remedy}`).not.toContain("undefined");
  });

  it("keeps its references until it is decided", () => {
    const call = "call: {tool: log.write, arguments: {of: '{call/x}'}}";
    const { policy } = load(`byEnd: {after: a.b, by: a.c, action: compensate, ${call}}`);
    const wanted = { server: "log", tool: "write", arguments: { of: "{call/x}" } };
    expect(policy?.ir.rules).toMatchObject([{ temporal: { kind: "by-end", action: "compensate", call: wanted } }]);
  });
});
