/**
 * The cause of a decision in one clause: which data, which sink, which rule. It holds names of tools, arguments, rules and
 * labels and the operator's own words, and never a value. Names come from servers, so they are cut and shown without
 * control or direction characters.
 */
import type { Decision } from "../decision.ts";
import type { Reason } from "../opinion.ts";
import { regulationClause } from "./regulation-cause.ts";

const nameLengthMax = 40;
const pathLengthMax = 60;
const whyLengthMax = 80;
const hiding = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}`]/gu;

export type CauseLength = "whole" | "named" | "bare" | "least";

/**
 * The clause for the first deciding reason, without a full stop; undefined where no clause says more than the verdict.
 * `named` leaves out the explanation of the rule, `bare` the rule as well, `least` also the source of the data.
 */
export function causeOf(decision: Decision, length: CauseLength = "whole"): string | undefined {
  const reason = decision.reasons.find((one) => one.verdict === decision.enforcedVerdict) ?? decision.reasons[0];
  if (reason === undefined) return undefined;
  const { option } = decision;
  const tool =
    option === undefined ? "the call" : `\`${shownName(`${option.contract.server}.${option.contract.tool}`)}\``;
  const clause = clauseOf(reason, tool, length === "least");
  const ruled = length === "whole" || length === "named";
  if (clause === undefined) return undefined;
  const { reading, unread } = reason.facts;
  const said = readClause(reading, length, `${clause}${ruled ? ruleOf(reason, length === "whole") : ""}`);
  return typeof unread === "string" ? `${length === "least" ? "" : `${said}; `}${unreadClause(unread, length)}` : said;
}

/** What kept an argument from being read says more than the question that it caused, and its argument and tool are known. */
function readClause(reading: unknown, length: CauseLength, clause: string): string {
  if (typeof reading !== "string" || length === "least") return clause;
  return length === "whole" ? `${clause}; ${reading}` : reading;
}

/** A run whose history cannot be read under this policy: the deciding run goes on from it, so it holds everything. */
function unreadClause(key: string, length: CauseLength): string {
  const shown = (text: string): string => text.slice(0, pathLengthMax).replace(hiding, "?");
  return length === "least"
    ? `run \`${shown(key.slice(key.lastIndexOf("/") + 1))}\` is unreadable: all is held (\`sluicegate runs new\`)`
    : `it goes on from run \`${shown(key)}\`, which this policy cannot read (\`sluicegate runs new\` begins a clean one)`;
}

function clauseOf(reason: Reason, tool: string, least: boolean): string | undefined {
  switch (reason.code) {
    case "SG-RULE-BLOCK":
    case "SG-RULE-UNSURE":
    case "SG-RULE-CONFIRM":
    case "SG-HAZARD":
    case "SG-HAZARD-ASK":
    case "SG-ASK-BOUND":
      return carried(reason, tool, least);
    case "SG-PROGRAM":
      return `a program that has to agree to ${tool} did not answer`;
    case "SG-ASK-UNTRUSTED": {
      const [argument] = listed(reason, "arguments");
      const named = argument === undefined ? "a value" : `\`${shownName(argument)}\``;
      return `${named} of ${tool} may have been chosen by untrusted data`;
    }
    case "SG-ASK-UNTRACED":
      return `${tool} acts, names nothing that shows who chose it, and untrusted data came before it`;
    case "SG-RESULT-LABEL":
      return `its server says that a result of ${tool} is more restricted than the policy says`;
    case "SG-ASK-UNLABELLED":
      return `nothing in the policy says what ${tool} does`;
    case "SG-ADMIT-UNLABELLED":
      return `nothing that the policy admits says what ${tool} does, so it is in quarantine`;
    case "SG-ASK-EXECUTE":
      return `${tool} may run code`;
    case "SG-ASK-OUTSIDE":
      return `${tool} writes outside the workspace${least ? "" : workspaceOf(reason)}`;
    case "SG-ASK-OWN":
      return ownClause(reason, tool);
    case "SG-MUST-FIRST":
    case "SG-OWED":
      return `${neededBy(reason)} must come first`;
    case "SG-INJECT":
      return `${neededBy(reason)} must come first, and ${tool} does not give it what it needs`;
    case "SG-MUST-FAILED":
      return `${neededBy(reason)} must come first, and ${failureOf(reason)}`;
    case "SG-MUST-NOT-FOLLOW":
      return `${tool} must not follow what this run has done`;
    case "SG-LIMIT":
    case "SG-BUDGET":
      return `${tool} would go over a limit`;
    case "SG-CARD-REFUSED":
      return "the user refused its server";
    case "SG-CHANGED":
      return "what its server says of it changed, and is not accepted yet";
    case "SG-LIST-TEXT":
      return "its description tries to give orders to the model, and is not accepted";
    case "SG-UNPROVED":
      return "no proof covers what its server offers now";
    case "SG-MAYBE-DONE": {
      const { at } = reason.facts;
      const time = typeof at === "string" ? ` at ${at.slice(11, 16)} UTC` : "";
      return `the same call may already have happened${time}`;
    }
    case "SG-RESULT-LOST": {
      const { at } = reason.facts;
      const time = typeof at === "string" ? ` at ${at.slice(11, 16)} UTC` : "";
      return `the same call was made${time}, and a restart lost its result`;
    }
    default:
      if (least && reason.code === "SG-ARGUMENTS")
        return listed(reason, "because")[0] ?? regulationClause(reason, tool);
      return (
        regulationClause(reason, tool) ??
        isolationClause(reason, tool) ??
        (reason.rule === undefined ? undefined : `${tool} is stopped`)
      );
  }
}

/** `body` would carry private data from files.read to `mail.send`. */
function carried(reason: Reason, tool: string, least: boolean): string {
  const maybe = reason.code === "SG-RULE-UNSURE" || reason.code === "SG-HAZARD-ASK";
  const [argument] = listed(reason, "arguments");
  const [label] = listed(reason, "labels");
  const [origin] = listed(reason, "origins");
  if (argument === undefined || label === undefined) return `${tool} is stopped`;
  const from = origin === undefined || least ? "" : ` from ${shownName(origin)}`;
  return `\`${shownName(argument)}\` ${maybe ? "may" : "would"} carry ${label} data${from} to ${tool}`;
}

/** The folders of the workspace, since the user may expect others. Records of older versions do not have them. */
function workspaceOf(reason: Reason): string {
  if (reason.facts["workspace"] === undefined) return "";
  const [first, ...more] = listed(reason, "workspace");
  if (first === undefined) return " (no folder is known as one)";
  return ` (\`${shownPath(first)}\`${more.length === 0 ? "" : ` and ${more.length} more`})`;
}

/** The clause for a call that would touch files of the gateway itself. */
function ownClause({ facts }: Reason, tool: string): string {
  const place = typeof facts["place"] === "string" ? ` (\`${shownName(facts["place"])}\`)` : "";
  return facts["stake"] === "kept"
    ? `${tool} would touch what Sluicegate keeps${place}`
    : `${tool} could change what Sluicegate obeys${place}`;
}

/** Why a call that must come first did not. */
function failureOf({ facts }: Reason): string {
  if (facts["quarantined"] !== undefined) return "its server is in quarantine";
  if (facts["unlisted"] !== undefined) return "its server does not list it";
  return facts["changed"] === undefined ? "did not succeed" : "changed since it was accepted";
}

function neededBy(reason: Reason): string {
  const needs = listed(reason, "needs").map((name) => `\`${shownName(name)}\``);
  return needs.length === 0 ? "something else" : needs.join(" or ");
}

function ruleOf(reason: Reason, explained: boolean): string {
  if (reason.rule === undefined) return "";
  const why = !explained || reason.why === undefined || reason.why === "" ? "" : `: ${cut(reason.why, whyLengthMax)}`;
  return ` (${ruleWord(reason)} ${cut(reason.rule, nameLengthMax)}${why})`;
}

/** Whether the id of a reason names a rule of the policy or one of its hazards, which regulation prevents without a rule. */
export function ruleWord({ code, facts }: Reason): "hazard" | "rule" {
  return code.startsWith("SG-HAZARD") || facts["moves"] !== undefined ? "hazard" : "rule";
}

function listed(reason: Reason, name: string): readonly string[] {
  const fact = reason.facts[name];
  return Array.isArray(fact) ? fact : [];
}

/** As `shownName`, but the end of a path is kept: it distinguishes folders. */
function shownPath(path: string): string {
  const plain = path.replace(hiding, "?");
  return plain.length <= pathLengthMax ? plain : `…${plain.slice(1 - pathLengthMax)}`;
}

/** A name from outside: short, on one line, without characters that hide or turn text. */
export function shownName(text: string): string {
  return cut(text.replace(hiding, "?"), nameLengthMax);
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`;
}

/**
 * The clause for a reason of isolation; undefined for any other code. `tool` is the call in words. It does not say which
 * check noticed what: a server could otherwise learn by trying. People and the audit record get the facts.
 */
export function isolationClause(reason: Reason, tool: string): string | undefined {
  switch (reason.code) {
    case "SG-SCOPE-FILE":
    case "SG-SCOPE-NET":
    case "SG-SCOPE-PROCESS":
    case "SG-SCOPE-LIMIT":
    case "SG-SCOPE-WORKSPACE":
    case "SG-EFFECT":
      return `${tool} did what it may not`;
    case "SG-SUSPICION":
      return `what ${tool} did has to be looked at first`;
    case "SG-EVIDENCE":
      return `what ${tool} did could not be watched`;
    case "SG-DISTRUST":
      return `the server of ${tool} has done what it may not in this run`;
    case "SG-BACKGROUND":
      return `${tool} is of a server that works between calls`;
    default:
      return undefined;
  }
}
