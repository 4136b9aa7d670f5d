/** Shape of the STPA document. Properties and rules are those of the policy language, taken from its own shape. */
import type { Tier } from "../ir.ts";
import type { FieldNode, ObjectNode, Shape, ShapeNode } from "../language/shape.ts";
import { constant, either, list, mapOf, object, oneOf, optional, required, text } from "../language/shape.ts";
import { policyShape } from "../language/shapes-document.ts";
import type { LatticeSection, Words } from "../document.ts";
import type {
  ControlAction,
  Controller,
  Feedback,
  Loss,
  LossScenario,
  Process,
  Property,
  Requirement,
  RuleSkeleton,
  Stakeholder,
  StpaDocument,
  StpaHazard,
  UnsafeControlAction,
} from "./document.ts";
import { ucaForms } from "./document.ts";
import { stpaNamesMax, stpaTextUnitsMax } from "./limits.ts";

const identifierPattern = "^[A-Za-z][A-Za-z0-9_.:-]{0,63}$";
const identifier = text("id", identifierPattern, "L1");
const sentence = text("sentence", `^(?=[\\s\\S]*\\S)[\\s\\S]{1,${stpaTextUnitsMax}}$`);
const selector = text("tool", "^[^\\s\\p{C}]{1,192}$", "mail.send_email");

const listed = (what: string, item: Shape<string>): Shape<Words> =>
  either<[string, readonly string[]]>(`${what} or a list`, item, list(item, 1, stpaNamesMax));
const ids = listed("an id", identifier);
const tools = listed("a tool", selector);

function entries<T>(values: Shape<T>): Shape<{ readonly [id: string]: T }> {
  return mapOf("id", values, identifierPattern);
}

/** Follows keys and items of a shape. The policy language has these parts; if it loses one, the first test says so. */
function part(shape: ShapeNode, ...keys: readonly string[]): ShapeNode {
  const [key, ...rest] = keys;
  if (key === undefined) return shape;
  const next =
    shape.kind === "array"
      ? shape.items
      : shape.kind === "record"
        ? shape.values
        : shape.kind === "object"
          ? shape.fields[key]?.shape
          : undefined;
  if (next === undefined) throw new Error(`the policy language has no ${key}`);
  return part(next, ...rest);
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

const ruleSkeleton: Shape<RuleSkeleton> = relaxed(part(policyShape, "rules", "*"), ["serves"], "a rule");
const hazardOfPolicy = relaxed(part(policyShape, "hazards", "*"), ["loss", "mode"], "a property");
const property: Shape<Property> = {
  ...hazardOfPolicy,
  fields: {
    id: optional(identifier, "its name in the policy; absent = made from the requirement"),
    ...hazardOfPolicy.fields,
  },
};
const lattice: Shape<LatticeSection> = part(policyShape, "lattice");
const tier: Shape<Tier> = oneOf("tier", ["block", "must", "confirm", "allow"]);

const stakeholder = object<Stakeholder>("a stakeholder", {
  kind: required(oneOf("kind", ["direct", "indirect"]), "`direct` uses the system, `indirect` is affected by it"),
  who: optional(sentence, "who that is"),
  values: required(mapOf("id", sentence, identifierPattern), "what they care about, by id"),
});
const loss = object<Loss>("a loss", {
  says: required(sentence, "what is lost"),
  harms: required(ids, "the values that it harms"),
});
const hazard = object<StpaHazard>("a hazard", {
  says: required(sentence, "the state that leads to a loss"),
  losses: required(ids, "the losses it leads to"),
});
const controller = object<Controller>("a controller", {
  kind: required(oneOf("kind", ["agent", "gateway", "person"]), "who decides"),
  does: optional(sentence, "what it is responsible for"),
});
const process = object<Process>("a process", {
  kind: required(oneOf("kind", ["tools", "store"]), "`tools`: a server; `store`: where data comes to rest"),
  does: optional(sentence, "what it is for"),
  store: optional(text("store", "^[^\\s\\p{C}]{1,128}$", "mail:outbox"), "its name in the policy"),
});
const action = object<ControlAction>("a control action", {
  by: required(identifier, "the controller"),
  on: required(identifier, "the process, or the controller that is told something"),
  tools: optional(tools, "the tools that carry it out, `server.tool`"),
  does: required(sentence, "what it does"),
});
const feedback = object<Feedback>("a feedback", {
  from: required(identifier, "a process or controller"),
  to: required(identifier, "the controller that learns of it"),
  tools: optional(tools, "the tools that carry it, `server.tool`"),
  says: required(sentence, "what it tells"),
});
const uca = object<UnsafeControlAction>("an unsafe control action", {
  controller: required(identifier, "who acts, or fails to"),
  action: required(identifier, "the control action"),
  form: required(oneOf("form", ucaForms), "one of the four ways to be unsafe"),
  hazards: required(ids, "the hazards it leads to"),
  context: required(sentence, "when exactly it is unsafe"),
});
const scenario = object<LossScenario>("a loss scenario", {
  ucas: required(ids, "the unsafe control actions it explains"),
  cause: required(sentence, "how it comes about"),
});
const requirement = object<Requirement>("a requirement", {
  says: required(sentence, "what must hold"),
  ucas: optional(ids, "the unsafe control actions it prevents"),
  hazards: optional(ids, "the hazards it prevents"),
  refines: optional(ids, "the wider requirement it makes precise"),
  tier: required(tier, "`block`, `must`, `confirm` or `allow`"),
  reason: required(sentence, "why this tier and no other"),
  property: optional(property, "what must never happen, in the policy language"),
  rules: optional(list(ruleSkeleton, 1, stpaNamesMax), "rules of the policy language"),
});

export const stpaShape: Shape<StpaDocument> = object<StpaDocument>("an STPA document", {
  version: required(constant(1), "1"),
  system: optional(sentence, "what is analysed"),
  lattice: optional(lattice, "labels beyond the built-in ones"),
  stakeholders: required(entries(stakeholder), "whom the system serves or affects"),
  losses: required(entries(loss), "what must not be lost"),
  hazards: required(entries(hazard), "states that lead to losses"),
  control: required(
    object<StpaDocument["control"]>("a control structure", {
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
