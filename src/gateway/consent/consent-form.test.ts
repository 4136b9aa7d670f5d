// Where the answer in a form is the consent, and where the form only shows the card.
import { describe, expect, it } from "vitest";
import { policyOf } from "../../../test/kit/gateway/real-policy.ts";
import { FakeProjection } from "../../../test/kit/isolation/fake-projection.ts";
import type { Decision } from "../../core/decision.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { formRole } from "./consent-form.ts";

const labels = `
labels:
  notes.send: {effects: write.external.send}
  notes.burn: {effects: write.external.send, flags: [irreversible]}
`;

type Given = {
  readonly isolation?: string;
  readonly tool?: string;
  readonly tier?: FakeProjection["tier"] | "gone";
  readonly approvals?: string;
  readonly scope?: string;
  readonly own?: boolean;
  readonly capabilities?: JsonObject;
};

/** The role of the form about one call of an unlabelled tool, unless the case says otherwise. */
function roleFor({
  isolation = "",
  tool = "do",
  tier = "A",
  approvals = "",
  scope,
  own,
  capabilities,
}: Given): unknown {
  const section = isolation === "" ? "" : `isolation: {servers: {notes: ${isolation}}}\n`;
  const policy = policyOf(`${labels}${section}${approvals}`);
  const projection = Object.assign(new FakeProjection(), tier === "gone" ? {} : { tier });
  const reason = {
    mechanism: "x",
    code: own === true ? "SG-ASK-OWN" : "SG-TEST",
    verdict: "confirm",
    facts: {},
  } as const;
  const decision = {
    verdict: "confirm",
    enforcedVerdict: "confirm",
    reasons: [reason],
    obligations: scope === undefined ? [] : [{ kind: "isolate", scope }],
  } as unknown as Decision;
  const call = { live: { policy } as LiveRun, contract: policy.contractOfTool("notes", { name: tool }) };
  const facts = {
    capabilities: capabilities ?? { elicitation: {} },
    projection: tier === "gone" ? undefined : projection,
  };
  return formRole(call, decision, facts);
}

const closed = "{net: {mode: none}, files: {workspace: {mode: overlay, commit: allow}}}";

describe("the role of a form", () => {
  it("an unlabelled tool: the form is shown, and is no consent", () => {
    expect(roleFor({})).toBe("shows");
    expect(roleFor({ tool: "burn" })).toBe("shows");
  });

  it("an accepted label without the flag excludes lasting effects", () => {
    expect(roleFor({ tool: "send" })).toBe("consents");
  });

  it("a closed projection excludes lasting effects outside", () => {
    expect(roleFor({ isolation: closed })).toBe("consents");
    expect(roleFor({ isolation: closed, tier: "A-" })).toBe("consents");
    expect(roleFor({ isolation: closed, scope: '{"allow":[],"order":"x","serial":true}' })).toBe("consents");
    expect(roleFor({ isolation: closed, tool: "burn" })).toBe("consents");
  });

  it.each([
    ["no namespaces", { isolation: closed, tier: "B" }],
    ["a hook tier", { isolation: closed, tier: "C" }],
    ["a remote server", { isolation: closed, tier: "remote" }],
    ["no projection runs", { isolation: closed, tier: "gone" }],
    ["the policy only learns", { isolation: "{backend: learn}" }],
    ["the policy switches it off", { isolation: "{backend: 'off'}" }],
    ["a destination", { isolation: "{net: {allow: [api.example:443]}}" }],
    ["the whole network", { isolation: "{net: {mode: open}}" }],
    ["a socket of this machine", { isolation: "{sockets: [/run/x.sock]}" }],
    ["a folder that is written directly", { isolation: "{files: {write: [/srv/data]}}" }],
    ["a workspace that is written directly", { isolation: "{files: {workspace: {mode: direct}}}" }],
    [
      "a destination of this call",
      { isolation: closed, scope: '{"allow":["a.example:443"],"order":"x","serial":true}' },
    ],
    ["a scope that cannot be read", { isolation: closed, scope: "{" }],
    ["the gateway's own files", { isolation: closed, own: true }],
    ["the gateway's own files, labelled", { tool: "send", own: true }],
    ["another approver", { tool: "send", approvals: "approvals: {by: other}\n" }],
  ] satisfies readonly (readonly [string, Given])[])("%s: the form only shows the card", (_name, given) => {
    expect(roleFor(given)).toBe("shows");
  });

  it("the policy and the client have the last word", () => {
    expect(roleFor({ approvals: "approvals: {form: all}\n" })).toBe("consents");
    expect(roleFor({ approvals: "approvals: {form: none}\n", tool: "send" })).toBeUndefined();
    expect(roleFor({ tool: "send", capabilities: {} })).toBeUndefined();
    expect(roleFor({ tool: "send", capabilities: { elicitation: { url: {} } } })).toBeUndefined();
  });
});
