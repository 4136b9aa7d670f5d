/** Labels, patterns and tests as written: the parts of which sections are made. Short forms are unions here. */
import { argumentRoles, roles } from "../../core/contract.ts";
import { effectActions, effectBases, effectReaches } from "../../core/effect.ts";
import { readingLanguages } from "../../core/reading.ts";
import {
  type Infer,
  type Members,
  type Shape,
  anything,
  constant,
  either,
  flag,
  list,
  mapOf,
  someOf,
  named,
  nothing,
  number,
  object,
  oneKey,
  oneOf,
  optional,
  pair,
  required,
  text,
} from "./shape.ts";

export const durationPattern = "^[0-9]{1,9}(ms|s|m|h|d)$";
/** In `SERVER.TOOL` the server ends at the first dot: a statement about a server with a dot applies to no server. */
export const serverPattern = "^[^\\s\\p{C}.]{1,128}$";
export const duration = text("duration", durationPattern, "10m");
/** A rule that held within no time at all would hold nothing back. */
export const span = text("duration above zero", "^[1-9][0-9]{0,8}(ms|s|m|h|d)$", "10m");
export const words = either("a word or a list", text("word"), list(text("word")));
/** One word or several. */
export type Words = Infer<typeof words>;

/** At least one word: an empty list could mean nothing or everything. */
export const someWords = either("a word or a list of some", text("word"), list(text("word"), 1));

const effectPath = `^((${effectBases.join("|")})(\\.(${effectReaches.join("|")})(\\.(${effectActions.join("|")}))?)?|external_write)$`;
const effect = text("effect", effectPath, "write.external.send");

const effects = either(
  "an effect or a list of effects",
  effect,
  list(effect),
  object("an effect range", {
    must: optional(list(effect), "what it does for sure"),
    may: required(list(effect), "all that it could do"),
  }),
);
export type EffectsText = Infer<typeof effects>;

const flagText = oneOf("flag", ["irreversible", "open_world"]);
export type FlagText = Infer<typeof flagText>;
const role = oneOf("role", roles);
/** What an argument may be called: `unsure` stands for each role where one restricts, and for none where one permits. */
const argumentRole = oneOf("role", argumentRoles);

const level = either("a level or `[lo, hi]`", text("level"), pair(text("level")));

const labelFields = {
  confidentiality: optional(level, "a level, `[lo, hi]`, `unsure` or `inferred`"),
  categories: optional(list(text("category")), "categories of the value"),
  trust: optional(level, "`trusted`, `untrusted` or `unsure`"),
  /** The paper's word for `trust`. */
  trust_level: optional(level, "the same as `trust`"),
  /** Groups that may read the value; absent = everyone. */
  readers: optional(list(text("group")), "groups that may read the value; absent = everyone"),
};

/** Kind of name that a field holds and an argument takes: `file-id`, `account-number`. */
const kindOfName = text("type of value", "^[a-z][a-z0-9-]{0,63}$", "file-id");

const labelObject = object("a label", labelFields, { notEmpty: true });
export interface LabelObject extends Infer<typeof labelObject> {}
export const label: Shape<string | LabelObject> = either("a label", text("level"), labelObject);
export type LabelText = Infer<typeof label>;

export const bound = either(
  "a bound",
  text("level"),
  object("a bound", {
    confidentiality: required(text("level"), "highest level that may pass"),
    categories: optional(list(text("category")), "categories that may pass"),
  }),
);
export type BoundText = Infer<typeof bound>;

const field = either(
  "a label",
  text("level"),
  object("a field label", {
    ...labelFields,
    from: optional(list(text("argument")), "arguments whose labels reach this field; absent = all"),
    type: optional(kindOfName, "kind of name that it holds; arguments of another `type` do not take it"),
  }),
);
export type FieldText = Infer<typeof field>;

const pointerPattern = "^(/([^~/]|~[01])*)*$";

const output = either(
  "a label",
  text("level"),
  object("an output label", {
    ...labelFields,
    fields: optional(mapOf("JSON Pointer", field, pointerPattern), "labels by JSON Pointer, `*` for every element"),
  }),
);
export type OutputText = Infer<typeof output>;

const argumentObject = object("an argument label", {
  role: optional(argumentRole, "what the argument means"),
  /** Whether anyone besides the run's user sees the argument; absent = as effects and server say. */
  sink: optional(flag, "whether anyone besides you can see it"),
  bound: optional(bound, "highest label that may be sent here"),
  audience: optional(someWords, "groups that can see it"),
  type: optional(kindOfName, "kind of name that it takes; fields of another `type` are none"),
});
export type ArgumentObject = Infer<typeof argumentObject>;
const argumentLabels = either("a role or an argument label", argumentRole, argumentObject);
export type ArgumentText = Infer<typeof argumentLabels>;

const scalar = either("text, a number, true, false or null", text("text"), number("number"), flag, nothing);
export type Scalar = Infer<typeof scalar>;

const decimal = either("a number", number("number"), text("number", "^-?[0-9]{1,300}(\\.[0-9]{1,300})?$", "100.50"));

// The annotated result keeps the compiler from following the circle of tests.
export const test = named("testOrValue", (): Shape<TestText> =>
  either("a test or a value", text("text"), number("number"), flag, nothing, testObject),
);
export type TestText = Scalar | TestObject;

const testFields = {
  present: optional(flag, "whether the argument is there"),
  equals: optional(either("a value or a list of values", scalar, list(scalar, 1)), "one of these values"),
  glob: optional(someWords, "`*` within a segment, `**` across segments"),
  domain: optional(someWords, "domain of an address or URL, subdomains included"),
  path: optional(someWords, "inside one of these folders"),
  cidr: optional(someWords, "IP address in one of these blocks"),
  regex: optional(text("regular expression"), "a linear-time expression that matches somewhere"),
  range: optional(
    object(
      "a range",
      { min: optional(decimal, "smallest number"), max: optional(decimal, "largest number") },
      { notEmpty: true },
    ),
    "a number between these, exactly",
  ),
  schema: optional(anything, "a JSON Schema that the argument satisfies"),
  reads: optional(oneOf("language", readingLanguages), "text of this language that is read whole and only reads"),
  not: optional(test, "the test fails"),
  all: optional(list(test, 1), "every test passes"),
  any: optional(list(test, 1), "some test passes"),
  /** Label of this one argument; only at the top of a test. */
  label: optional(label, "label of this argument"),
};
/** Exactly one key. A scalar alone means `equals`. */
export interface TestObject extends Members<typeof testFields> {}
const testObject: Shape<TestObject> = named("test", () => oneKey("a test", testFields));

const data = object("a label of data", {
  ...labelFields,
  roles: optional(list(role, 1), "only arguments with these roles"),
  args: optional(list(text("argument"), 1), "only these arguments"),
  audience: optional(someWords, "only arguments that these groups can see"),
});
export type DataText = Infer<typeof data>;

export const dataOrLevel = either("a label of data", text("level"), data);

const store = object("a store condition", {
  name: required(text("store"), "name of a store"),
  label: optional(label, "what it holds"),
  audience: optional(someWords, "who can read it"),
});
export type StoreText = Infer<typeof store>;

const patternObject = object(
  "a pattern",
  {
    tool: optional(someWords, "`server.tool`, `*` within a name"),
    effect: optional(either("an effect or a list", effect, list(effect, 1)), "an effect or its prefix"),
    flags: optional(either("a flag or a list", flagText, list(flagText, 1)), "flags that it has"),
    arg: optional(someOf("argument", test), "tests by argument name"),
    data: optional(either("a label of data", text("level"), data, list(data, 1)), "label of what is sent"),
    held: optional(label, "label of everything the agent holds"),
    store: optional(either("a store condition", store, list(store, 1)), "state of stores"),
    workspace: optional(flag, "whether every path is in the workspace"),
  },
  { notEmpty: true },
);
export interface PatternObject extends Infer<typeof patternObject> {}

export const pattern: Shape<PatternText> = named("pattern", () =>
  either("a tool, a list of tools or a pattern", text("tool"), list(text("tool"), 1), patternObject),
);
/** A tool, several tools, or a pattern. */
export type PatternText = Words | PatternObject;

const keyForm = oneOf("form", ["email", "domain", "path", "url", "iban", "id"]);
export type KeyForm = Infer<typeof keyForm>;
const keyObject = object("a key", {
  argument: required(text("argument"), "name of the argument"),
  form: optional(keyForm, "how values are compared"),
  exact: optional(flag, "whether the local part of an address keeps its case"),
});
interface KeyObject extends Infer<typeof keyObject> {}
export type KeyText = string | KeyObject;
export const key: Shape<KeyText> = either("one argument (a rule has one key)", text("argument"), keyObject);

const caseLabels = object("a case", {
  when: required(
    object("a case condition", {
      arg: required(mapOf("argument", test), "arguments and their tests, which all hold"),
    }),
    "when the case holds",
  ),
  output: optional(output, "label of the result"),
  effects: optional(effects, "effects of the call"),
});
/** Labels for calls whose arguments pass tests, for instance files whose path looks like a secret. */
export type CaseText = Infer<typeof caseLabels>;

const opens = object("an opened store", {
  store: required(text("store"), "name of the store"),
  audience: required(someWords, "groups that can read it from then on"),
});

const shippedFields = {
  version: optional(constant(1), "version of this form"),
  effects: optional(effects, "what a call does to the world"),
  flags: optional(list(flagText), "`irreversible`, `open_world`"),
  args: optional(mapOf("argument", argumentLabels), "what each argument means"),
  rest: optional(argumentLabels, "what holds for other arguments"),
  output: optional(output, "label of the result"),
};

const toolLabelsObject = object("a tool label", {
  effects: optional(effects, "what a call does to the world"),
  /** The paper's word for `effects`. */
  capabilities: optional(effects, "the same as `effects`"),
  flags: optional(list(flagText), "`irreversible`, `open_world`"),
  args: optional(mapOf("argument", argumentLabels), "what each argument means"),
  /** Labels of arguments that are not named. */
  rest: optional(argumentLabels, "what holds for other arguments"),
  output: optional(output, "label of the result"),
  cases: optional(list(caseLabels), "labels that depend on an argument; the first that holds counts"),
  reads: optional(words, "stores that it reads"),
  writes: optional(words, "stores that it writes"),
  opens: optional(either("an opened store", opens, list(opens)), "stores that it opens to others"),
});
export interface ToolLabelsText extends Infer<typeof toolLabelsObject> {}
export const toolLabels: Shape<ToolLabelsText> = toolLabelsObject;

/**
 * What a server ships in the `_meta` of a tool (docs/labels.md): labels without names that only an operator gives, which are
 * those of stores, and without cases, which would be predicates of the policy.
 */
export const shippedToolLabels: Shape<Members<typeof shippedFields>> = object("labels of a tool", shippedFields);

export const namePattern = "^[^\\s\\p{C}]{1,128}$";
export const mode = oneOf("mode", ["enforce", "observe"]);
export type ModeText = Infer<typeof mode>;
export const trust = oneOf("trust", ["trusted", "untrusted"]);

const latticeObject = object("a lattice", {
  /** Lowest first. */
  confidentiality: optional(list(text("level", namePattern), 1), "levels, lowest first"),
  categories: optional(list(text("category", namePattern)), "categories of data"),
  trust: optional(list(trust), "`[trusted, untrusted]`"),
  groups: optional(list(text("group", namePattern)), "disjoint groups of readers"),
  /** The highest label that each group may see. */
  clearance: optional(mapOf("group", bound), "what each group may see at most"),
});
export interface LatticeSection extends Infer<typeof latticeObject> {}
export const lattice: Shape<LatticeSection> = latticeObject;
