/** Shapes of labels, patterns and tests: the parts that other sections are made of. */
import { roles } from "../../core/contract.ts";
import type { Role } from "../../core/contract.ts";
import { effectActions, effectBases, effectReaches } from "../../core/effect.ts";
import type {
  ArgumentObject,
  ArgumentText,
  BoundText,
  CaseText,
  DataText,
  EffectsText,
  FieldText,
  FlagText,
  KeyText,
  LabelObject,
  LabelText,
  LevelText,
  OpenText,
  OutputText,
  PatternObject,
  PatternText,
  Scalar,
  StoreText,
  TestObject,
  TestText,
  ToolLabelsText,
  Words,
} from "../document.ts";
import type { Shape } from "./shape.ts";
import {
  anything,
  either,
  flag,
  list,
  mapOf,
  someOf,
  named,
  nothing,
  number,
  object,
  oneOf,
  optional,
  pair,
  required,
  text,
} from "./shape.ts";

export const durationPattern = "^[0-9]{1,9}(ms|s|m|h|d)$";
/** In `SERVER.TOOL` the server ends at the first dot: whatever is said of a name with a dot is said of no server. */
export const serverPattern = "^[^\\s\\p{C}.]{1,128}$";
export const duration: Shape<string> = text("duration", durationPattern, "10m");
/** A rule that held within no time at all would hold nothing back. */
export const span: Shape<string> = text("duration above zero", "^[1-9][0-9]{0,8}(ms|s|m|h|d)$", "10m");
export const words: Shape<Words> = either<[string, readonly string[]]>(
  "a word or a list",
  text("word"),
  list(text("word")),
);

/** Words of which there is one at least: a list without any would mean nothing, or everything, and nobody means either. */
export const someWords: Shape<Words> = either<[string, readonly string[]]>(
  "a word or a list of some",
  text("word"),
  list(text("word"), 1),
);

const effectPath = `^((${effectBases.join("|")})(\\.(${effectReaches.join("|")})(\\.(${effectActions.join("|")}))?)?|external_write)$`;
const effect = text("effect", effectPath, "write.external.send");

const effects: Shape<EffectsText> = either<[string, readonly string[], Exclude<EffectsText, Words>]>(
  "an effect or a list of effects",
  effect,
  list(effect),
  object<Exclude<EffectsText, Words>>("an effect range", {
    must: optional(list(effect), "what it does for sure"),
    may: required(list(effect), "all that it could do"),
  }),
);

const flagText: Shape<FlagText> = oneOf("flag", ["irreversible", "open_world"]);
const role: Shape<Role> = oneOf("role", roles);

const level: Shape<LevelText> = either<[string, readonly [string, string]]>(
  "a level or `[lo, hi]`",
  text("level"),
  pair(text("level")),
);

const labelFields = {
  confidentiality: optional(level, "a level, `[lo, hi]`, `unsure` or `inferred`"),
  categories: optional(list(text("category")), "categories of the value"),
  trust: optional(level, "`trusted`, `untrusted` or `unsure`"),
  trust_level: optional(level, "the same as `trust`"),
  readers: optional(list(text("group")), "groups that may read the value; absent = everyone"),
};

const labelObject = object<LabelObject>("a label", labelFields, { notEmpty: true });
export const label: Shape<LabelText> = either<[string, LabelObject]>("a label", text("level"), labelObject);

export const bound: Shape<BoundText> = either<[string, Exclude<BoundText, string>]>(
  "a bound",
  text("level"),
  object<Exclude<BoundText, string>>("a bound", {
    confidentiality: required(text("level"), "highest level that may pass"),
    categories: optional(list(text("category")), "categories that may pass"),
  }),
);

const field: Shape<FieldText> = either<[string, Exclude<FieldText, string>]>(
  "a label",
  text("level"),
  object<Exclude<FieldText, string>>("a field label", {
    ...labelFields,
    from: optional(list(text("argument")), "arguments whose labels reach this field; absent = all"),
  }),
);

const pointerPattern = "^(/([^~/]|~[01])*)*$";

export const output: Shape<OutputText> = either<[string, Exclude<OutputText, string>]>(
  "a label",
  text("level"),
  object<Exclude<OutputText, string>>("an output label", {
    ...labelFields,
    fields: optional(mapOf("JSON Pointer", field, pointerPattern), "labels by JSON Pointer, `*` for every element"),
  }),
);

const argumentLabels: Shape<ArgumentText> = either<[Role, ArgumentObject]>(
  "a role or an argument label",
  role,
  object<ArgumentObject>("an argument label", {
    role: optional(role, "what the argument means"),
    sink: optional(flag, "whether somebody besides you can see it"),
    bound: optional(bound, "highest label that may be sent here"),
    audience: optional(someWords, "groups that can see it"),
  }),
);

const scalar: Shape<Scalar> = either<[string, number, boolean, null]>(
  "text, a number, true, false or null",
  text("text"),
  number("number"),
  flag,
  nothing,
);

const decimal: Shape<number | string> = either<[number, string]>(
  "a number",
  number("number"),
  text("number", "^-?[0-9]{1,300}(\\.[0-9]{1,300})?$", "100.50"),
);

const testObject: Shape<TestObject> = named("test", () =>
  object<TestObject>(
    "a test",
    {
      present: optional(flag, "whether the argument is there"),
      equals: optional(
        either<[Scalar, readonly Scalar[]]>("a value or a list of values", scalar, list(scalar, 1)),
        "one of these values",
      ),
      glob: optional(someWords, "`*` within a segment, `**` across segments"),
      domain: optional(someWords, "domain of an address or URL, subdomains included"),
      path: optional(someWords, "inside one of these folders"),
      cidr: optional(someWords, "IP address in one of these blocks"),
      regex: optional(text("regular expression"), "a linear-time expression that matches somewhere"),
      range: optional(
        object<NonNullable<TestObject["range"]>>(
          "a range",
          { min: optional(decimal, "smallest number"), max: optional(decimal, "largest number") },
          { notEmpty: true },
        ),
        "a number between these, exactly",
      ),
      schema: optional(anything, "a JSON Schema that the argument satisfies"),
      not: optional(test, "the test fails"),
      all: optional(list(test, 1), "every test passes"),
      any: optional(list(test, 1), "some test passes"),
      label: optional(label, "label of this argument"),
    },
    {
      oneOf: [
        "present",
        "equals",
        "glob",
        "domain",
        "path",
        "cidr",
        "regex",
        "range",
        "schema",
        "not",
        "all",
        "any",
        "label",
      ],
    },
  ),
);

export const test: Shape<TestText> = named("testOrValue", () =>
  either<[string, number, boolean, null, TestObject]>(
    "a test or a value",
    text("text"),
    number("number"),
    flag,
    nothing,
    testObject,
  ),
);

const data = object<DataText>("a label of data", {
  ...labelFields,
  roles: optional(list(role, 1), "only arguments with these roles"),
  args: optional(list(text("argument"), 1), "only these arguments"),
  audience: optional(someWords, "only arguments that these groups can see"),
});

export const dataOrLevel: Shape<string | DataText> = either<[string, DataText]>("a label of data", text("level"), data);

const store = object<StoreText>("a store condition", {
  name: required(text("store"), "name of a store"),
  label: optional(label, "what it holds"),
  audience: optional(someWords, "who can read it"),
});

const patternObject = object<PatternObject>(
  "a pattern",
  {
    tool: optional(someWords, "`server.tool`, `*` within a name"),
    effect: optional(
      either<[string, readonly string[]]>("an effect or a list", effect, list(effect, 1)),
      "an effect or its prefix",
    ),
    flags: optional(
      either<[FlagText, readonly FlagText[]]>("a flag or a list", flagText, list(flagText, 1)),
      "flags that it has",
    ),
    arg: optional(someOf("argument", test), "tests by argument name"),
    data: optional(
      either<[string, DataText, readonly DataText[]]>("a label of data", text("level"), data, list(data, 1)),
      "label of what is sent",
    ),
    held: optional(label, "label of everything the agent holds"),
    store: optional(
      either<[StoreText, readonly StoreText[]]>("a store condition", store, list(store, 1)),
      "state of stores",
    ),
    workspace: optional(flag, "whether every path lies in the workspace"),
  },
  { notEmpty: true },
);

export const pattern: Shape<PatternText> = named("pattern", () =>
  either<[string, readonly string[], PatternObject]>(
    "a tool, a list of tools or a pattern",
    text("tool"),
    list(text("tool"), 1),
    patternObject,
  ),
);

export const key: Shape<KeyText> = either<[string, Exclude<KeyText, string>]>(
  "one argument (a rule has one key)",
  text("argument"),
  object<Exclude<KeyText, string>>("a key", {
    argument: required(text("argument"), "name of the argument"),
    form: optional(oneOf("form", ["email", "domain", "path", "url", "iban", "id"]), "how values are compared"),
    exact: optional(flag, "whether the local part of an address keeps its case"),
  }),
);

const caseLabels = object<CaseText>("a case", {
  when: required(
    object<CaseText["when"]>("a case condition", {
      arg: required(mapOf("argument", test), "one argument and its test"),
    }),
    "when the case holds",
  ),
  output: optional(output, "label of the result"),
  effects: optional(effects, "effects of the call"),
});

const opens = object<OpenText>("an opened store", {
  store: required(text("store"), "name of the store"),
  audience: required(someWords, "groups that can read it from then on"),
});

export const toolLabels: Shape<ToolLabelsText> = object<ToolLabelsText>("a tool label", {
  effects: optional(effects, "what a call does to the world"),
  capabilities: optional(effects, "the same as `effects`"),
  flags: optional(list(flagText), "`irreversible`, `open_world`"),
  args: optional(mapOf("argument", argumentLabels), "what each argument means"),
  rest: optional(argumentLabels, "what holds for other arguments"),
  output: optional(output, "label of the result"),
  cases: optional(list(caseLabels), "labels that depend on an argument; the first that holds counts"),
  reads: optional(words, "stores that it reads"),
  writes: optional(words, "stores that it writes"),
  opens: optional(
    either<[OpenText, readonly OpenText[]]>("an opened store", opens, list(opens)),
    "stores that it opens to others",
  ),
});
