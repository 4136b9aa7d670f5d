/** Rules, hazards and expectations as written. */
import {
  type Infer,
  type Shape,
  anything,
  either,
  flag,
  integer,
  list,
  mapOf,
  number,
  object,
  oneKey,
  oneOf,
  optional,
  required,
  text,
} from "./shape.ts";
import { dataOrLevel, key, mode, pattern, span, words } from "./shapes-labels.ts";

export const identifierPattern = "^[A-Za-z][A-Za-z0-9_.:-]{0,63}$";
export const tier = oneOf("tier", ["block", "must", "confirm", "allow"]);
export type Tier = Infer<typeof tier>;

const gate = object("a gate", {
  before: required(pattern, "the call that must wait"),
  need: required(pattern, "the call that must have succeeded"),
  unless: optional(pattern, "a call that takes the permission back"),
  within: optional(span, "how long the permission lasts"),
  key: optional(key, "argument that both calls must share"),
});
export type GateText = Infer<typeof gate>;
const absenceFields = {
  after: required(pattern, "the call after which"),
  never: required(pattern, "this call is refused"),
  until: optional(pattern, "until this one succeeded"),
  within: optional(span, "only for so long"),
  key: optional(key, "argument that both calls share"),
};
const absence = object("an absence", absenceFields);
export type AbsenceText = Infer<typeof absence>;
const atMost = object("a count", {
  of: required(pattern, "the calls that count"),
  count: required(integer("count", 0, 1_000_000), "how many"),
  within: optional(span, "in any such span of time"),
  key: optional(key, "counted for each value of this argument"),
});
export type AtMostText = Infer<typeof atMost>;
const exactlyOnce = object("an exactly-once", {
  of: required(pattern, "the call"),
  after: optional(pattern, "the call that makes it due"),
  key: optional(key, "once for each value of this argument"),
});
/** At most once; with `after`, its absence at the end of a run is reported. */
export type ExactlyOnceText = Infer<typeof exactlyOnce>;
const immediately = object("an immediately", {
  before: required(pattern, "the call"),
  need: required(pattern, "the call that must come right before it"),
});
export type ImmediatelyText = Infer<typeof immediately>;
const budget = object("a budget", {
  of: required(pattern, "the calls that spend"),
  argument: required(text("argument"), "the amount"),
  limit: required(
    either("a number", number("number", 0), text("number", "^[0-9]{1,300}(\\.[0-9]{1,300})?$", "100.50")),
    "largest sum",
  ),
  within: optional(span, "in any such span of time"),
  key: optional(key, "summed for each value of this argument"),
});
export type BudgetText = Infer<typeof budget>;
const owed = object("a debt", {
  after: required(pattern, "the call that makes the debt"),
  owe: required(pattern, "the call that pays it"),
  /** A number of consequential calls. */
  within: optional(integer("number of calls", 1, 1_000_000), "as one of the next so many consequential calls"),
  before: optional(pattern, "and before any of these"),
});
export type OwedText = Infer<typeof owed>;
const gatewayCall = object("a call", {
  tool: required(text("tool"), "`server.tool`"),
  arguments: optional(mapOf("argument", anything), "its arguments; `{call/NAME}` is what the other call gives there"),
});
const inject = object("an injected call", {
  before: required(pattern, "the call before which"),
  call: required(gatewayCall, "what the gateway itself calls first"),
});
export type InjectText = Infer<typeof inject>;
const byEnd = object("a by-end", {
  after: required(pattern, "the call that makes it due"),
  by: required(pattern, "the call that must have succeeded by the end of the run"),
  action: required(oneOf("action", ["hold", "compensate", "report"]), "what happens to the first call until then"),
  key: optional(key, "argument that both calls must share"),
  call: optional(
    gatewayCall,
    "with `compensate`: what the gateway itself calls at the end where the second is missing",
  ),
});
export type ByEndText = Infer<typeof byEnd>;

const predicateObject = object("a predicate", {
  /** The function that it exports. */
  name: required(text("name", "^[A-Za-z_$][A-Za-z0-9_$]{0,63}$", "isBusy"), "the function that it exports"),
  /** TypeScript or JavaScript, one module that stands alone. */
  source: required(text("program"), "TypeScript or JavaScript, one module that stands alone"),
});
export type PredicateObject = Infer<typeof predicateObject>;
/** A program of the operator: `FILE#NAME`, relative to the document, or the program itself. */
const predicate = either(
  "`FILE#NAME` or `{name, source}`",
  text("predicate", "^[^#]+#[A-Za-z_$][A-Za-z0-9_$]{0,63}$", "checks.ts#isBusy"),
  predicateObject,
);
export type PredicateText = Infer<typeof predicate>;

const ruleObject = object(
  "a rule",
  {
    id: required(text("id", identifierPattern, "R1"), "a name for messages"),
    tier: required(tier, "`block`, `must`, `confirm` or `allow`"),
    why: required(text("sentence", "\\S"), "one sentence for the user who is stopped"),
    serves: optional(words, "requirement, hazard or loss that it serves"),
    mode: optional(mode, "`observe` reports and does not decide"),
    when: optional(pattern, "the calls it is about"),
    /** With `when` in a block rule: it refuses those of the calls for which this function returns `true`. */
    predicate: optional(predicate, "a function of yours that refuses some of them"),
    gate: optional(gate, "A before B"),
    absence: optional(absence, "no B after A"),
    atMost: optional(atMost, "at most so many"),
    exactlyOnce: optional(exactlyOnce, "once and not twice"),
    immediately: optional(immediately, "A right before B"),
    budget: optional(budget, "a sum with a limit"),
    owed: optional(owed, "after A, B is owed"),
    inject: optional(inject, "the gateway calls A before B"),
    byEnd: optional(byEnd, "B by the end of the run"),
  },
  { oneOf: ["when", "gate", "absence", "atMost", "exactlyOnce", "immediately", "budget", "owed", "inject", "byEnd"] },
);
export interface RuleText extends Infer<typeof ruleObject> {}
export const rule: Shape<RuleText> = ruleObject;

const unless = object("an unless", {
  call: required(pattern, "the call that must not happen"),
  need: required(pattern, "unless this one succeeded before"),
  within: optional(span, "no longer ago than this"),
  key: optional(key, "argument that both calls must share"),
});
export type UnlessText = Infer<typeof unless>;

const never = oneKey("a hazard condition", {
  flow: optional(
    object("a flow", {
      from: required(dataOrLevel, "label of the data"),
      to: required(pattern, "where it must not go"),
    }),
    "data that reaches a sink",
  ),
  call: optional(pattern, "a call that must not happen"),
  /** `never` after `after`, as in a rule's `absence`. */
  sequence: optional(object("a sequence", absenceFields), "a call after another"),
  /** `call` unless `need` succeeded before. */
  unless: optional(unless, "a call without another before it"),
  /** More than `count` of these. */
  atMost: optional(atMost, "more than so many calls"),
});
export interface NeverText extends Infer<typeof never> {}

const hazardObject = object("a hazard", {
  loss: optional(text("loss"), "the loss it leads to"),
  consent: optional(oneOf("consent", ["never", "may"]), "`may`: the user can consent"),
  why: optional(text("sentence"), "one sentence for the user who is stopped"),
  mode: optional(mode, "`observe` reports and does not decide"),
  never: required(never, "what must never happen"),
});
export interface HazardText extends Infer<typeof hazardObject> {}
export const hazard: Shape<HazardText> = hazardObject;

/** A tool, or a tool with its arguments; `{run: new}` and `{user: text}` stand for acts of the user. */
export type StepText = Infer<typeof step>;
export const step = either("a tool or `{tool: arguments}`", text("tool"), mapOf("tool", anything));

export const keep = object("a keep", {
  trace: required(list(step, 1), "calls that should stay possible"),
  firm: optional(flag, "enforced, not only warned about"),
});
export type KeepText = Infer<typeof keep>;

export const expect = object("an expectation", {
  trace: required(list(step, 1), "calls in order"),
  verdict: required(oneOf("verdict", ["allow", "confirm", "deny"]), "verdict of its strictest step"),
  by: optional(words, "rules that decide it"),
  /** The user's instruction: literals of the trace are derivable from it. */
  instruction: optional(text("text"), "what the user asked for"),
});
export type ExpectText = Infer<typeof expect>;
