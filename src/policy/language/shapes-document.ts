/** Shape of the whole policy document. */
import type {
  AbsenceText,
  ApprovalsSection,
  AtMostText,
  AuditSection,
  BudgetText,
  ByEndText,
  ExactlyOnceText,
  ExpectText,
  FlowSection,
  GateText,
  HazardText,
  HostCapability,
  HostSection,
  ImmediatelyText,
  InjectText,
  KeepText,
  LatticeSection,
  LimitsSection,
  MatchSection,
  ModeText,
  NeverText,
  OwedText,
  PackContents,
  PackSection,
  PolicyDocument,
  PredicateObject,
  RuleText,
  ServerText,
  StepText,
  StoreSection,
  UnlessText,
  Words,
} from "../document.ts";
import { judge } from "./shapes-judges.ts";
import { isolation, packScope } from "./shapes-isolation.ts";
import { admission, reflection } from "./shapes-later.ts";
import { regulation } from "./shapes-regulation.ts";
import type { Shape } from "./shape.ts";
import {
  anything,
  constant,
  either,
  flag,
  integer,
  list,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  required,
  text,
} from "./shape.ts";
import { bound, dataOrLevel, duration, key, label, pattern, serverPattern, span, toolLabels, words } from "./shapes.ts";

const mode: Shape<ModeText> = oneOf("mode", ["enforce", "observe"]);
const identifierPattern = "^[A-Za-z][A-Za-z0-9_.:-]{0,63}$";
const identifier = text("id", identifierPattern, "R1");
/** What an operator may call a connection, with `*` within; any other text would match nobody, without a word. */
const tagPattern = "^[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$";
const namePattern = "^[^\\s\\p{C}]{1,128}$";

const gate = object<GateText>("a gate", {
  before: required(pattern, "the call that must wait"),
  need: required(pattern, "the call that must have succeeded"),
  unless: optional(pattern, "a call that takes the permission back"),
  within: optional(span, "how long the permission lasts"),
  key: optional(key, "argument that both calls must share"),
});
const absenceFields = {
  after: required(pattern, "the call after which"),
  never: required(pattern, "this call is refused"),
  until: optional(pattern, "until this one succeeded"),
  within: optional(span, "only for so long"),
  key: optional(key, "argument that both calls share"),
};
const absence = object<AbsenceText>("an absence", absenceFields);
const atMost = object<AtMostText>("a count", {
  of: required(pattern, "the calls that count"),
  count: required(integer("count", 0, 1_000_000), "how many"),
  within: optional(span, "in any such span of time"),
  key: optional(key, "counted for each value of this argument"),
});
const exactlyOnce = object<ExactlyOnceText>("an exactly-once", {
  of: required(pattern, "the call"),
  after: optional(pattern, "the call that makes it due"),
  key: optional(key, "once for each value of this argument"),
});
const immediately = object<ImmediatelyText>("an immediately", {
  before: required(pattern, "the call"),
  need: required(pattern, "the call that must come right before it"),
});
const budget = object<BudgetText>("a budget", {
  of: required(pattern, "the calls that spend"),
  argument: required(text("argument"), "the amount"),
  limit: required(
    either<[number, string]>(
      "a number",
      number("number", 0),
      text("number", "^[0-9]{1,300}(\\.[0-9]{1,300})?$", "100.50"),
    ),
    "largest sum",
  ),
  within: optional(span, "in any such span of time"),
  key: optional(key, "summed for each value of this argument"),
});
const owed = object<OwedText>("a debt", {
  after: required(pattern, "the call that makes the debt"),
  owe: required(pattern, "the call that pays it"),
  within: optional(integer("number of calls", 1, 1_000_000), "as one of the next so many consequential calls"),
  before: optional(pattern, "and before any of these"),
});
const inject = object<InjectText>("an injected call", {
  before: required(pattern, "the call before which"),
  call: required(
    object<InjectText["call"]>("a call", {
      tool: required(text("tool"), "`server.tool`"),
      arguments: optional(mapOf("argument", anything), "its arguments, literally"),
    }),
    "what the gateway itself calls first",
  ),
});
const byEnd = object<ByEndText>("a by-end", {
  after: required(pattern, "the call that makes it due"),
  by: required(pattern, "the call that must have succeeded by the end of the run"),
  action: required(oneOf("action", ["hold", "compensate", "report"]), "what happens to the first call until then"),
});

const predicate = either<[string, PredicateObject]>(
  "`FILE#NAME` or `{name, source}`",
  text("predicate", "^[^#]+#[A-Za-z_$][A-Za-z0-9_$]{0,63}$", "checks.ts#isBusy"),
  object<PredicateObject>("a predicate", {
    name: required(text("name", "^[A-Za-z_$][A-Za-z0-9_$]{0,63}$", "isBusy"), "the function that it exports"),
    source: required(text("program"), "TypeScript or JavaScript, one module that stands alone"),
  }),
);

const rule = object<RuleText>(
  "a rule",
  {
    id: required(identifier, "a name for messages"),
    tier: required(oneOf("tier", ["block", "must", "confirm", "allow"]), "`block`, `must`, `confirm` or `allow`"),
    why: required(text("sentence", "\\S"), "one sentence for the person who is stopped"),
    serves: optional(words, "requirement, hazard or loss that it serves"),
    mode: optional(mode, "`observe` reports and does not decide"),
    when: optional(pattern, "the calls it is about"),
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

const unless = object<UnlessText>("an unless", {
  call: required(pattern, "the call that must not happen"),
  need: required(pattern, "unless this one succeeded before"),
  within: optional(span, "no longer ago than this"),
  key: optional(key, "argument that both calls must share"),
});

const hazard = object<HazardText>("a hazard", {
  loss: optional(text("loss"), "the loss it leads to"),
  consent: optional(oneOf("consent", ["never", "may"]), "`may`: a person can consent"),
  why: optional(text("sentence"), "one sentence for the person who is stopped"),
  mode: optional(mode, "`observe` reports and does not decide"),
  never: required(
    object<NeverText>(
      "a hazard condition",
      {
        flow: optional(
          object<NonNullable<NeverText["flow"]>>("a flow", {
            from: required(dataOrLevel, "label of the data"),
            to: required(pattern, "where it must not go"),
          }),
          "data that reaches a sink",
        ),
        call: optional(pattern, "a call that must not happen"),
        sequence: optional(object<AbsenceText>("a sequence", absenceFields), "a call after another"),
        unless: optional(unless, "a call without another before it"),
        atMost: optional(atMost, "more than so many calls"),
      },
      { oneOf: ["flow", "call", "sequence", "unless", "atMost"] },
    ),
    "what must never happen",
  ),
});

const capability: Shape<HostCapability> = either<["gated" | "open", { readonly open: Words }]>(
  "`gated`, `open` or `{open: ...}`",
  oneOf("capability", ["gated", "open"]),
  object<{ readonly open: Words }>("an open capability", { open: required(words, "audience, or stores") }),
);

const step: Shape<StepText> = either<[string, { readonly [tool: string]: unknown }]>(
  "a tool or `{tool: arguments}`",
  text("tool"),
  mapOf("tool", anything),
);

const packFields = {
  name: required(text("pack name", "^[a-z][a-z0-9-]{0,63}$", "filesystem"), "name of the pack"),
  title: optional(text("title"), "what it labels"),
  reach: optional(oneOf("reach", ["local", "network"]), "whether such a server reaches the network"),
  digests: optional(
    mapOf("tool", list(text("SHA-256", "^[0-9a-f]{64}$"))),
    "SHA-256 of each tool as listed, for servers chosen by their tools",
  ),
  scope: optional(packScope, "what such a server may touch, where servers are isolated"),
};

export const policyShape: Shape<PolicyDocument> = object<PolicyDocument>("a policy", {
  version: required(constant(1), "1"),
  extends: optional(list(text("policy, pack or file")), "`default`, packs or files that come first"),
  match: optional(
    object<MatchSection>("a match", {
      principal: optional(text("principal"), "`*` within a name"),
      client: optional(text("client"), "`*` within a name"),
      tag: optional(text("tag", tagPattern, "work"), "`*` within a name"),
      sessions: optional(
        oneOf("trust", ["trusted", "untrusted"]),
        "whether session ids of these clients may name a run",
      ),
    }),
    "whom the policy is for",
  ),
  mode: optional(mode, "`observe` reports and does not decide"),
  stpa: optional(text("file"), "STPA document that ids refer to"),
  lattice: optional(
    object<LatticeSection>("a lattice", {
      confidentiality: optional(list(text("level", namePattern), 1), "levels, lowest first"),
      categories: optional(list(text("category", namePattern)), "categories of data"),
      trust: optional(list(oneOf("trust", ["trusted", "untrusted"])), "`[trusted, untrusted]`"),
      groups: optional(list(text("group", namePattern)), "disjoint groups of readers"),
      clearance: optional(mapOf("group", bound), "what each group may see at most"),
    }),
    "the labels there are",
  ),
  host: optional(
    object<HostSection>("a host section", {
      tools: optional(oneOf("mediation", ["hooks", "none"]), "`hooks`: the client's own tools are mediated"),
      send: optional(capability, "the client's own sending; open to groups"),
      read: optional(capability, "the client's own reading; open for stores"),
      execute: optional(capability, "the client's own execution"),
      sampling: optional(oneOf("answer", ["allow", "refuse"]), "whether servers may use the client's model"),
    }),
    "what the client can do by itself",
  ),
  servers: optional(
    mapOf(
      "server",
      object<ServerText>("a server", {
        trust: optional(oneOf("trust", ["trusted", "untrusted"]), "whether its own statements are believed"),
        operator: optional(text("group"), "group that sees what is sent to it"),
        reach: optional(oneOf("reach", ["local", "network"]), "whether it reaches the network"),
        pack: optional(text("pack"), "label pack that describes it"),
        mode: optional(mode, "`observe` reports and does not decide"),
      }),
      serverPattern,
    ),
    "what is known of servers",
  ),
  labels: optional(mapOf("tool", toolLabels, namePattern), "what is known of tools"),
  stores: optional(
    mapOf(
      "store",
      object<StoreSection>("a store", {
        audience: optional(words, "groups that can read it"),
        label: optional(label, "what it holds at first"),
      }),
      namePattern,
    ),
    "where data comes to rest",
  ),
  hazards: optional(mapOf("id", hazard, identifierPattern), "what must never happen"),
  rules: optional(list(rule), "rules, each with one tier"),
  keep: optional(
    list(
      object<KeepText>("a keep", {
        trace: required(list(step, 1), "calls that should stay possible"),
        firm: optional(flag, "enforced, not only warned about"),
      }),
    ),
    "what should stay possible",
  ),
  accepts: optional(list(text("hazard")), "hazards that are accepted as unenforceable"),
  flow: optional(
    object<FlowSection>("a flow section", {
      mode: optional(
        oneOf("flow mode", ["none", "strict", "provenance", "handles"]),
        "how labels of arguments are found",
      ),
    }),
    "how data is followed",
  ),
  approvals: optional(
    object<ApprovalsSection>("an approvals section", {
      form: optional(oneOf("choice", ["reversible", "all", "none"]), "where a form in the client counts as consent"),
      by: optional(oneOf("choice", ["anyone", "other"]), "`other`: not whoever owns the run"),
      hold: optional(duration, "how long a call waits for a person"),
      expires: optional(duration, "how long an approval is good for"),
    }),
    "how consent is asked for",
  ),
  regulation: optional(regulation, "look-ahead"),
  judges: optional(mapOf("judge", judge, namePattern), "models that may be asked"),
  isolation: optional(isolation, "how servers are run"),
  admission: optional(admission, "how servers are let in"),
  reflection: optional(reflection, "how drift is noticed"),
  audit: optional(
    object<AuditSection>("an audit section", {
      payload: optional(
        oneOf("payload", ["sealed", "digests", "clear"]),
        "how arguments and results are stored; with `digests` open runs hold everything after a restart or a change of policy",
      ),
      keepDays: optional(
        integer("days", 1, 36_500),
        "days until run keys are destroyed; a run that is still open then holds everything when it is replayed",
      ),
      durability: optional(oneOf("durability", ["normal", "full"]), "`full` waits for the disk"),
    }),
    "the event log",
  ),
  limits: optional(
    object<LimitsSection>("a limits section", {
      runIdle: optional(duration, "after which a run ends by itself"),
      answerWait: optional(duration, "longest wait for an advisory answer"),
    }),
    "waits",
  ),
  expect: optional(
    list(
      object<ExpectText>("an expectation", {
        trace: required(list(step, 1), "calls in order"),
        verdict: required(oneOf("verdict", ["allow", "confirm", "deny"]), "verdict of its strictest step"),
        by: optional(words, "rules that decide it"),
        instruction: optional(text("text"), "what the user asked for"),
      }),
    ),
    "examples that must hold",
  ),
  pack: optional(object<PackSection>("a pack", packFields), "makes this document a label pack"),
  packs: optional(
    mapOf(
      "pack",
      object<PackContents>("a joined pack", {
        ...packFields,
        labels: required(mapOf("tool", toolLabels, namePattern), "its labels"),
      }),
    ),
    "packs joined in (canonical policies only)",
  ),
});
