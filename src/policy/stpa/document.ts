/**
 * The STPA document (docs/stpa.md): from the stakeholders of a system, over what they could lose, to what the gateway
 * must do. Ids are the keys of maps and unique in the whole document, because `loss:` and `serves:` of a policy may name
 * any. Properties and rules are those of the policy language, taken from its own shapes.
 */
import {
  type FieldNode,
  type Infer,
  type ObjectNode,
  type Shape,
  type ShapeNode,
  constant,
  either,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  required,
  text,
} from "../document/shape.ts";
import {
  type HazardText,
  type RuleText,
  hazard as policyHazard,
  identifierPattern,
  rule as policyRule,
  tier,
} from "../document/shapes-rules.ts";
import { lattice } from "../document/shapes-labels.ts";

/** Entries in one section. */
export const stpaEntriesMax = 500;

/** Ids or selectors that one entry may name. */
export const stpaNamesMax = 200;

/** UTF-16 units of one sentence. */
export const stpaTextUnitsMax = 2_000;

/** Rows of a trace matrix; losses, hazards, actions and requirements multiply. */
export const matrixRowsMax = 5_000;

/** Traces that are judged to find what requirements cost. */
export const judgementsMax = 20_000;

/** Unsafe control actions of tools that a draft proposes. */
export const draftUcasMax = 400;

/** Tools that one drafted action names one by one. */
export const draftToolsMax = 100;

/** Properties in the report of a proof. */
export const proofPropertiesMax = 10_000;

/** The four ways in which a control action can be unsafe (STPA Handbook, step 3). */
export const ucaForms = [
  "not-provided",
  "provided",
  "wrong-time-or-order",
  "stopped-too-soon-or-applied-too-long",
] as const;
export type UcaForm = (typeof ucaForms)[number];

const identifier = text("id", identifierPattern, "L1");
const sentence = text("sentence", `^(?=[\\s\\S]*\\S)[\\s\\S]{1,${stpaTextUnitsMax}}$`);
const selector = text("tool", "^[^\\s\\p{C}]{1,192}$", "mail.send_email");

const listed = (what: string, item: Shape<string>) => either(`${what} or a list`, item, list(item, 1, stpaNamesMax));
const ids = listed("an id", identifier);
const tools = listed("a tool", selector);

function entries<T>(values: Shape<T>): Shape<{ readonly [id: string]: T }> {
  return mapOf("id", values, identifierPattern);
}

/** The same map with some keys left out and others no longer needed. */
function relaxed(shape: ShapeNode, without: readonly string[], what: string): ObjectNode {
  if (shape.kind !== "object") throw new Error(`${what} is a map in the policy language`);
  const fields: { [name: string]: FieldNode } = {};
  for (const [name, field] of Object.entries(shape.fields)) {
    if (!without.includes(name)) fields[name] = name === "never" ? field : { ...field, required: false };
  }
  return { ...shape, what, fields };
}

/** A rule of the policy language; what it leaves out comes from the requirement. */
type RuleSkeleton = Omit<RuleText, "id" | "tier" | "why" | "serves"> & Partial<Pick<RuleText, "id" | "tier" | "why">>;
const ruleSkeleton: Shape<RuleSkeleton> = relaxed(policyRule, ["serves"], "a rule");

/** A hazard of the policy language; `id` is its name in the policy. */
type Property = Pick<HazardText, "consent" | "why" | "never"> & { readonly id?: string };
const hazardOfPolicy = relaxed(policyHazard, ["loss", "mode"], "a property");
const property: Shape<Property> = {
  ...hazardOfPolicy,
  fields: {
    id: optional(identifier, "its name in the policy; absent = made from the requirement"),
    ...hazardOfPolicy.fields,
  },
};

const stakeholder = object("a stakeholder", {
  kind: required(oneOf("kind", ["direct", "indirect"]), "`direct` uses the system, `indirect` is affected by it"),
  who: optional(sentence, "who that is"),
  values: required(mapOf("id", sentence, identifierPattern), "what they care about, by id"),
});
export type Stakeholder = Infer<typeof stakeholder>;
const loss = object("a loss", {
  says: required(sentence, "what is lost"),
  harms: required(ids, "the values that it harms"),
});
export type Loss = Infer<typeof loss>;
const hazard = object("a hazard", {
  says: required(sentence, "the state that leads to a loss"),
  losses: required(ids, "the losses it leads to"),
});
export type StpaHazard = Infer<typeof hazard>;
const controller = object("a controller", {
  kind: required(oneOf("kind", ["agent", "gateway", "person"]), "who decides"),
  does: optional(sentence, "what it is responsible for"),
});
const process = object("a process", {
  kind: required(oneOf("kind", ["tools", "store"]), "`tools`: a server; `store`: where data comes to rest"),
  does: optional(sentence, "what it is for"),
  store: optional(text("store", "^[^\\s\\p{C}]{1,128}$", "mail:outbox"), "its name in the policy"),
});
export type Process = Infer<typeof process>;
const action = object("a control action", {
  by: required(identifier, "the controller"),
  on: required(identifier, "the process, or the controller that is informed"),
  tools: optional(tools, "the tools that carry it out, `server.tool`"),
  does: required(sentence, "what it does"),
});
export type ControlAction = Infer<typeof action>;
const feedback = object("a feedback", {
  from: required(identifier, "a process or controller"),
  to: required(identifier, "the controller that learns of it"),
  tools: optional(tools, "the tools that carry it, `server.tool`"),
  says: required(sentence, "what it tells"),
});
export type Feedback = Infer<typeof feedback>;
const uca = object("an unsafe control action", {
  controller: required(identifier, "who acts, or fails to"),
  action: required(identifier, "the control action"),
  form: required(oneOf("form", ucaForms), "one of the four ways to be unsafe"),
  hazards: required(ids, "the hazards it leads to"),
  context: required(sentence, "when exactly it is unsafe"),
});
export type UnsafeControlAction = Infer<typeof uca>;
const scenario = object("a loss scenario", {
  ucas: required(ids, "the unsafe control actions it explains"),
  cause: required(sentence, "how it comes about"),
});
const requirement = object("a requirement", {
  says: required(sentence, "what must hold"),
  ucas: optional(ids, "the unsafe control actions it prevents"),
  hazards: optional(ids, "the hazards it prevents"),
  refines: optional(ids, "the wider requirement it makes precise"),
  tier: required(tier, "`block`, `must`, `confirm` or `allow`"),
  reason: required(sentence, "why this tier and no other"),
  property: optional(property, "what must never happen, in the policy language"),
  rules: optional(list(ruleSkeleton, 1, stpaNamesMax), "rules of the policy language"),
});
export type Requirement = Infer<typeof requirement>;

const documentShape = object("an STPA document", {
  version: required(constant(1), "1"),
  system: optional(sentence, "what is analysed"),
  lattice: optional(lattice, "labels beyond the built-in ones"),
  stakeholders: required(entries(stakeholder), "whom the system serves or affects"),
  losses: required(entries(loss), "what must not be lost"),
  hazards: required(entries(hazard), "states that lead to losses"),
  control: required(
    object("a control structure", {
      controllers: required(entries(controller), "who decides"),
      processes: optional(entries(process), "what is acted upon"),
      actions: required(entries(action), "what controllers can do"),
      feedback: optional(entries(feedback), "what controllers learn"),
    }),
    "who acts on what",
  ),
  ucas: optional(entries(uca), "unsafe control actions"),
  scenarios: optional(entries(scenario), "how they come about"),
  requirements: optional(entries(requirement), "what prevents them"),
});
export interface StpaDocument extends Infer<typeof documentShape> {}
export const stpaShape: Shape<StpaDocument> = documentShape;
