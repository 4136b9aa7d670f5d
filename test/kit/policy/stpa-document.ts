/** A small, complete STPA document and its policy, for tests that break one thing in it. */
import { type Loaded, loadPolicy } from "../../../src/policy/load.ts";
import { defaultPolicy } from "../../../src/policy/canonical/default-policy.ts";
import type { CompiledPolicy } from "../../../src/policy/compile/compile.ts";
import type { StpaDocument } from "../../../src/policy/stpa/document.ts";
import { type StpaSource, readStpa } from "../../../src/policy/stpa/read.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";

export const smallText = `version: 1
stakeholders:
  owner: {kind: direct, values: {V1: what is private stays private}}
losses:
  L1: {says: a secret is out, harms: V1}
hazards:
  H1: {says: a secret lies in a mail, losses: L1}
control:
  controllers: {agent: {kind: agent}, owner-here: {kind: person}}
  processes: {mail: {kind: tools}, outbox: {kind: store, store: "mail:outbox"}}
  actions:
    A1: {by: agent, on: mail, tools: mail.send, does: sends a mail}
  feedback:
    F1: {from: mail, to: agent, tools: [mail.list], says: the mails}
ucas:
  U1: {controller: agent, action: A1, form: provided, hazards: H1, context: with a secret in it}
scenarios:
  S1: {ucas: U1, cause: the agent is helpful}
requirements:
  SR1:
    says: no secret in a mail
    ucas: [U1]
    tier: block
    reason: it is never right
    property:
      id: H1
      consent: never
      never: {flow: {from: {confidentiality: private}, to: mail.send}}
    rules: [{id: R1, when: {tool: mail.send, data: {confidentiality: private}}}]
`;

export const smallPolicyText = `version: 1
stpa: stpa.yaml
labels:
  mail.list: {effects: [read.external], output: {confidentiality: private, trust: trusted}}
  mail.send: {effects: [write.external.send], args: {to: recipient, body: content}}
stores: {"mail:outbox": {audience: anyone}}
hazards:
  H1: {loss: L1, consent: never, never: {flow: {from: {confidentiality: private}, to: mail.send}}}
rules:
  - {id: R1, tier: block, when: {tool: mail.send, data: {confidentiality: private}}, why: no secrets, serves: SR1}
expect:
  - {trace: [{mail.send: {to: ann@example.com, body: hello}}], verdict: allow}
  - {trace: [mail.list, {mail.send: {to: ann@example.com, body: "{list}"}}], verdict: deny, by: R1}
`;

/** What stands in the document instead; every replacement must find something. */
export type Change = readonly [from: string, to: string];

export function changed(text: string, ...changes: readonly Change[]): string {
  return changes.reduce((all, [from, to]) => {
    if (!all.includes(from)) throw new Error(`nothing to replace: ${from}`);
    return all.replace(from, () => to);
  }, text);
}

/** The small document with changes; throws where it does not read. */
export function smallSource(...changes: readonly Change[]): StpaSource {
  const read = readStpa(changed(smallText, ...changes), "stpa.yaml", sha256);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

export function smallDocument(...changes: readonly Change[]): StpaDocument {
  return smallSource(...changes).document;
}

export function loadSmall(...changes: readonly Change[]): Loaded {
  const text = changed(smallPolicyText, ...changes);
  const loader = (name: string) =>
    name === "default" ? { file: "default", document: { ...defaultPolicy, extends: [] } } : undefined;
  return loadPolicy({ file: "policy.yaml", text }, { loader, hash: sha256 });
}

export function smallPolicy(...changes: readonly Change[]): CompiledPolicy {
  const { policy, diagnostics } = loadSmall(...changes);
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy;
}
