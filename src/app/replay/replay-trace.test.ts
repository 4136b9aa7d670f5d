import { expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { digest } from "../../wire/canonical.ts";
import { open, secret, tools } from "../../../test/kit/proof/small.ts";
import { openHost } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled } from "../../../test/kit/regulation/small-run.ts";
import { loadedPolicy } from "../policy/loaded-policy.ts";
import { sha256 } from "../policy/policy-source.ts";
import { replayTrace } from "./replay-trace.ts";

/** What each call of a trace is told, and whether the run would have been shown its tool. */
function shownIn(document: SmallDocument, names: readonly string[]) {
  const servers = new Map([["s", [...new Set(names)].map((name) => ({ name }))]]);
  const steps = names.map((tool) => {
    const result = { content: [] };
    return { kind: "call" as const, server: "s", tool, arguments: {}, result, isError: false };
  });
  const options = { consent: "once" as const, workspace: [], digest: (value: Json) => digest(value, sha256) };
  const trace = { servers, labels: undefined, instruction: undefined, steps };
  return replayTrace(loadedPolicy(compiled(document), "small"), trace, options).map(
    ({ tool, verdict, hidden }) => `${tool} ${verdict}${hidden ? " hidden" : ""}`,
  );
}

test("a tool that regulation hides counts as hidden, not only one that a rule stops", () => {
  expect(shownIn(openHost(), ["read_pub", "read_priv"])).toEqual(["read_pub allow", "read_priv deny hidden"]);
});

test("a tool that a rule always stops is hidden, one that is stopped for its arguments is not", () => {
  const document: SmallDocument = {
    labels: { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.drop": tools.reads(open) },
    rules: [
      { id: "never", tier: "block", when: { tool: "s.drop" }, why: "not here" },
      { id: "stays", tier: "block", when: { tool: "s.send", data: { confidentiality: "private" } }, why: "it stays" },
      { id: "ordinary", tier: "allow", when: { tool: "s.send" }, why: "ordinary" },
    ],
    flow: { mode: "provenance" },
  };
  expect(shownIn(document, ["drop", "send", "read"])).toEqual(["drop deny hidden", "send allow", "read allow"]);
});

test("a tool whose lease has ended is hidden from then on", () => {
  const document: SmallDocument = {
    labels: { "s.read": tools.reads(open) },
    rules: [{ id: "ordinary", tier: "allow", when: { tool: "s.read" }, why: "ordinary" }],
    regulation: { leases: [{ tool: "s.read", calls: 2 }] },
  };
  expect(shownIn(document, ["read", "read", "read"])).toEqual(["read allow", "read allow", "read deny hidden"]);
});
