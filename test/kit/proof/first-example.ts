/**
 * A certificate of formal.md example 1, written by hand: `read_secret`, `write_repo`, `grant` over the store `repo`.
 * Nobody may come to read private data there; two rules see to it, and the proof needs both.
 */
import { createHash } from "node:crypto";
import { textOf, type Json } from "../../../src/proof/check/json.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
export type Members = { [key: string]: Json };

const writeRule = {
  id: "no-private-write",
  tier: "block",
  why: "everybody reads this repository",
  serves: ["leak"],
  mode: "enforce",
  when: {
    tool: ["git.write_repo"],
    data: [{ confidentiality: "private" }],
    store: [{ name: "repo", audience: ["anyone"] }],
  },
};
const grantRule = {
  id: "no-private-grant",
  tier: "block",
  why: "the repository holds private data",
  serves: ["leak"],
  mode: "enforce",
  when: { tool: ["git.grant"], store: [{ name: "repo", label: { confidentiality: "private" } }] },
};

export const policy = {
  version: 1,
  mode: "enforce",
  match: { exact: [] },
  lattice: {
    confidentiality: ["public", "private"],
    categories: [],
    trust: ["trusted", "untrusted"],
    groups: ["me", "anyone"],
    clearance: {},
  },
  host: { tools: "none", send: "gated", read: "gated", execute: "gated", sampling: "refuse" },
  servers: { git: { trust: "trusted", mode: "enforce" } },
  labels: {},
  packs: {},
  stores: { repo: { audience: ["me"], label: { confidentiality: "public", trust: "trusted" } } },
  hazards: {
    leak: {
      loss: "private data is public",
      consent: "never",
      why: "it cannot be taken back",
      mode: "enforce",
      never: {
        flow: {
          from: { confidentiality: "private", audience: ["anyone"] },
          to: { effect: ["write.external"] },
        },
      },
    },
  },
  rules: [writeRule, grantRule],
  keep: [],
  accepts: [],
  flow: { mode: "provenance" },
  approvals: {},
  audit: {},
  limits: {},
  expect: [{ trace: [{ tool: "git.read_secret" }, { tool: "git.write_repo" }], verdict: "allow" }],
};

const argument = { role: "content", sink: false, audience: 0, forbidden: 0 };
const silent = { label: 0, fields: [] };
const contract = {
  server: "git",
  flags: { irreversible: false, openWorld: false },
  arguments: {},
  rest: argument,
  output: silent,
  cases: [],
  reads: [],
  writes: [],
  opens: [],
  consequential: false,
};
export const tools = [
  {
    ...contract,
    tool: "read_secret",
    effects: { must: ["read.local"], may: ["read.local"] },
    output: { label: 1, fields: [] },
  },
  {
    ...contract,
    tool: "write_repo",
    effects: { must: ["write.local"], may: ["write.local"] },
    arguments: { text: argument, path: { ...argument, role: "path" } },
    writes: ["repo"],
    consequential: true,
  },
  {
    ...contract,
    tool: "grant",
    effects: { must: ["write.local.grant"], may: ["write.local.grant"] },
    opens: [{ store: "repo", audience: 2 }],
    consequential: true,
  },
];

/** Private and seen by anyone never go together, and who reads without asking is among those who see it. */
export const certificate = {
  version: 1,
  policy,
  digest: sha256(textOf(policy)),
  manifests: { git: "a".repeat(64) },
  tools,
  hazard: "leak",
  core: ["no-private-write", "no-private-grant"],
  variables: ["K:1", "S:repo:0", "A:repo:0", "A:repo:1", "O:repo:0", "O:repo:1"],
  nodes: [
    [5, 1, 0],
    [3, 2, 0],
    [3, 2, 1],
    [1, 4, 3],
  ],
  root: 5,
  expect: [{ verdict: "allow", holds: true }],
  assumptions: [
    "Every call and every result passes through the gateway.",
    "The labels of tools and stores are upper bounds of what they return and hold.",
    "Runs are not split: all users of a run share its data, and only stores carry data between runs.",
    "Stores begin as the policy says, and every run that shares them follows this policy.",
    "Whoever endorses, declassifies or accepts a risk knows what they do; a proof never counts on it.",
    "The client asks the person before it uses its own send, read, execute.",
    "Data flows by values: what the model rephrases beyond recognition is not followed (mode `provenance`).",
  ],
};

/** A deep copy that may be changed. */
export function changeable(): typeof certificate {
  return structuredClone(certificate);
}

/** The certificate with another policy, whose digest is worked out again. */
export function withPolicy(change: (policy: Members) => void): Members {
  const changed: Members = structuredClone(certificate);
  const its = changed.policy as Members; // the copy of the object above
  change(its);
  return { ...changed, digest: sha256(textOf(its)) };
}
