/**
 * The whole policy document: as written (`policyShape`, which registers the shape of each section) and in its one long
 * form (`CanonicalPolicy`). Each long form is a narrower case of the written one, so a canonical policy is itself a
 * policy, and making it canonical again changes nothing.
 */
import type { Diagnostic } from "../document/diagnostic.ts";
import type {
  HazardForm,
  IsolationForm,
  LabelForm,
  LatticeForm,
  RuleForm,
  ToolLabelsForm,
} from "../document/long-form.ts";
import { type DocumentKind, type SourceDocument, checkBuilt, parseChecked } from "../document/parse.ts";
import {
  type Infer,
  type Members,
  type Shape,
  constant,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  required,
  text,
} from "../document/shape.ts";
import { isolation, packScope } from "../document/shapes-isolation.ts";
import {
  label,
  lattice,
  mode,
  namePattern,
  serverPattern,
  toolLabels,
  trust,
  words,
  type ModeText,
} from "../document/shapes-labels.ts";
import {
  expect,
  hazard,
  identifierPattern,
  keep,
  rule,
  type ExpectText,
  type KeepText,
} from "../document/shapes-rules.ts";
import type { Result } from "../../core/result.ts";
import * as host from "../sections/host.ts";
import * as judges from "../sections/judges.ts";
import * as later from "../sections/later.ts";
import * as readings from "../sections/readings.ts";
import * as regulation from "../sections/regulation.ts";
import * as settings from "../sections/settings.ts";

const reach = oneOf("reach", ["local", "network"]);

const packFields = {
  name: required(text("pack name", "^[a-z][a-z0-9-]{0,63}$", "filesystem"), "name of the pack"),
  title: optional(text("title"), "what it labels"),
  /** For readers: a pack labels tools by their names, whatever version lists them. */
  writtenFor: optional(
    list(text("package", "^[^\\s\\p{C}]{1,200}$", "npm:chrome-devtools-mcp@1.11.0"), 1),
    "packages and versions whose list of tools it was written for",
  ),
  reach: optional(reach, "whether such a server reaches the network"),
  digests: optional(
    mapOf("tool", list(text("SHA-256", "^[0-9a-f]{64}$"))),
    "SHA-256 of each tool as listed, for servers chosen by their tools",
  ),
  /** The scope of such a server, for policies that isolate servers. */
  scope: optional(packScope, "what such a server may touch, where servers are isolated"),
};

/** A label pack: labels for one kind of server, pinned to digests of the tools as listed. */
export interface PackSection extends Members<typeof packFields> {}
const joinedPack = object("a joined pack", {
  ...packFields,
  labels: required(mapOf("tool", toolLabels, namePattern), "its labels"),
});
export type PackContents = Infer<typeof joinedPack>;

const server = object("a server", {
  /** `trusted`: its own statements are believed. `untrusted`: everything it returns is untrusted for sure. */
  trust: optional(trust, "whether its own statements are believed"),
  /** Group that sees what is sent to it. */
  operator: optional(text("group"), "group that sees what is sent to it"),
  /** `local`: a process of this machine that reaches no network. */
  reach: optional(reach, "whether it reaches the network"),
  pack: optional(text("pack"), "label pack that describes it"),
  mode: optional(mode, "`observe` reports and does not decide"),
});

const store = object("a store", {
  audience: optional(words, "groups that can read it"),
  label: optional(label, "what it holds at first"),
});
export type StoreSection = Infer<typeof store>;

const flowMode = oneOf("flow mode", ["none", "strict", "provenance", "handles"]);

const policy = object("a policy", {
  version: required(constant(1), "1"),
  extends: optional(list(text("policy, pack or file")), "`default`, packs or files that come first"),
  match: optional(settings.shape.match, "whom the policy is for"),
  mode: optional(mode, "`observe` reports and does not decide"),
  stpa: optional(text("file"), "STPA document that ids refer to"),
  lattice: optional(lattice, "the labels there are"),
  host: optional(host.shape, "what the client can do by itself"),
  servers: optional(mapOf("server", server, serverPattern), "what is known of servers"),
  labels: optional(mapOf("tool", toolLabels, namePattern), "what is known of tools"),
  readings: optional(readings.shape, "what was accepted of tools on admission cards"),
  stores: optional(mapOf("store", store, namePattern), "where data comes to rest"),
  hazards: optional(mapOf("id", hazard, identifierPattern), "what must never happen"),
  rules: optional(list(rule), "rules, each with one tier"),
  keep: optional(list(keep), "what should stay possible"),
  accepts: optional(list(text("hazard")), "hazards that are accepted as unenforceable"),
  flow: optional(
    object("a flow section", { mode: optional(flowMode, "how labels of arguments are found") }),
    "how data is followed",
  ),
  approvals: optional(settings.shape.approvals, "how consent is asked for"),
  regulation: optional(regulation.shape, "look-ahead"),
  judges: optional(judges.shape, "models that may be asked"),
  isolation: optional(isolation, "how servers are run"),
  admission: optional(later.shape.admission, "how servers are let in"),
  reflection: optional(later.shape.reflection, "how drift is noticed"),
  audit: optional(settings.shape.audit, "the event log"),
  limits: optional(settings.shape.limits, "waits"),
  expect: optional(list(expect), "examples that must hold"),
  pack: optional(object("a pack", packFields), "makes this document a label pack"),
  /** Only in canonical policies: the packs that were joined in. */
  packs: optional(mapOf("pack", joinedPack), "packs joined in (canonical policies only)"),
});
export interface PolicyDocument extends Infer<typeof policy> {}
export const policyShape: Shape<PolicyDocument> = policy;

const policyKind: DocumentKind<PolicyDocument> = {
  shape: policyShape,
  what: "the policy",
  split: "split it with `extends`",
};

/** A checked policy document with the way back from a path to its place in the text. */
export type PolicySource = SourceDocument<PolicyDocument>;

/** Parses and checks one policy document; `file` is only a name for messages. All diagnostics are errors. */
export function parsePolicy(text: string, file: string): Result<PolicySource, readonly Diagnostic[]> {
  return parseChecked(text, file, policyKind);
}

/** Checks a policy document that was built in code; it has no lines. */
export function checkDocument(value: unknown, file: string): Result<PolicySource, readonly Diagnostic[]> {
  return checkBuilt(value, file, policyKind);
}

export type PackForm = Required<Pick<PackSection, "name" | "digests">> &
  Pick<PackSection, "title" | "reach" | "scope"> & { readonly labels: { readonly [tool: string]: ToolLabelsForm } };
export type StoreSectionForm = { readonly audience: readonly string[]; readonly label?: LabelForm };

export type CanonicalPolicy = later.LaterSections &
  settings.SettingsForm &
  Pick<PolicyDocument, "stpa"> & {
    readonly version: 1;
    readonly mode: ModeText;
    readonly lattice: LatticeForm;
    readonly host: host.HostForm;
    readonly servers: { readonly [name: string]: Infer<typeof server> };
    readonly labels: { readonly [selector: string]: ToolLabelsForm };
    readonly packs: { readonly [name: string]: PackForm };
    readonly stores: { readonly [name: string]: StoreSectionForm };
    readonly hazards: { readonly [id: string]: HazardForm };
    readonly rules: readonly RuleForm[];
    readonly keep: readonly Required<KeepText>[];
    readonly accepts: readonly string[];
    readonly flow: { readonly mode: Infer<typeof flowMode> };
    readonly expect: readonly ExpectText[];
    /** Absent where the policy says nothing: the digest of such a policy must not depend on what this could say. */
    readonly regulation?: regulation.RegulationForm;
    readonly judges?: judges.JudgesForm;
    readonly isolation?: IsolationForm;
    readonly readings?: readonly readings.ReadingForm[];
  };
