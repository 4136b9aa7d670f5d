/**
 * Reasons of regulation in one clause: the data that the run holds, and moves that could follow without another question.
 * Facts are names from the policy (`holds`, `moves`, `lost`, `tools`, `risks`) and numbers, never a value.
 */
import type { Reason } from "../opinion.ts";

const nameLengthMax = 40;

/** Names in a clause; the approval card lists all of them. */
const namesMax = 3;

/** The clause for a reason of regulation; undefined for any other code. `tool` is the call in words. */
export function regulationClause(reason: Reason, tool: string): string | undefined {
  const [move] = namesIn(reason, "moves");
  switch (reason.code) {
    case "SG-HIDDEN":
      return hidden(reason, tool, move);
    case "SG-UNSAFE-STATE":
    case "SG-LOOMING":
      return unpreventable(reason, `after ${tool}`, move);
    case "SG-OTHER-RUN":
      return move === undefined
        ? `another open run holds what ${tool} would expose`
        : `another open run holds data, and after ${tool} ${moveInWords(move)} unasked`;
    case "SG-POWER":
      return `with ${tool} this run would gather power ${numberOf(reason, "after")} of ${numberOf(reason, "budget")}`;
    case "SG-ARGUMENTS": {
      const [because] = namesIn(reason, "because");
      const effects = namesIn(reason, "effects").map(short).join(", ");
      return because === undefined
        ? `with these arguments ${tool} does more than its labels say (${effects})`
        : `with these arguments of ${tool}, ${because}`;
    }
    case "SG-LEASE": {
      const { limit } = reason.facts;
      return `the lease of ${tool} has ended${typeof limit === "string" ? ` (${short(limit)})` : ""}`;
    }
    case "SG-FILTERED": {
      const { waitMs } = reason.facts;
      const wait = typeof waitMs === "number" ? ` for ${Math.ceil(waitMs / 1_000)} s` : "";
      return `${tool} was hidden from this run before, and stays so${wait}`;
    }
    case "SG-KEEP-LOST":
      return `after ${tool}, ${quoted(namesIn(reason, "tools"))} cannot be used in this run any more`;
    case "SG-FORESIGHT":
      return `what ${tool} may lead to looks unsafe`;
    case "SG-SILENT":
      return silent(reason, tool);
    case "SG-SURPRISE":
      return "calls of this run did other things than expected";
    default:
      return undefined;
  }
}

/** One sentence for each kind of silence of a model. */
function silent({ facts }: Reason, tool: string): string {
  switch (facts["silence"]) {
    case "late":
      return `the model that judges ${tool} did not answer in time`;
    case "garbled":
      return `the answer of the model that judges ${tool} cannot be read`;
    case "down":
      return `the model that judges ${tool} cannot be reached`;
    case "unasked":
      return `the model that judges ${tool} could not be asked`;
    case undefined:
    default:
      return `no model said what ${tool} may lead to`;
  }
}

const inRun = " in run ";

/** The risk of another run than the one that is asked about: a consent accepts it there, so it names that run. */
export function riskInRun(risk: string, run: string): string {
  return `${risk}${inRun}${run}`;
}

export type RiskParts = { readonly hazard: string; readonly move: string; readonly run: string | undefined };

/** The parts of a risk, `HAZARD MOVE` or `HAZARD MOVE in run KEY`. */
export function riskParts(risk: string): RiskParts {
  const end = risk.lastIndexOf(inRun);
  const own = end < 0 ? risk : risk.slice(0, end);
  const at = own.indexOf(" ");
  const [hazard, move] = at < 0 ? [own, ""] : [own.slice(0, at), own.slice(at + 1)];
  return { hazard, move, run: end < 0 ? undefined : risk.slice(end + inRun.length) };
}

/** The risk that a consent accepts, as a sentence for the approval card. */
export function riskInWords(risk: string): string {
  const { hazard, move, run } = riskParts(risk);
  const happens = move === "" ? "a move that the gateway does not decide" : `\`${short(move)}\` (${moveInWords(move)})`;
  const where = run === undefined ? "this run" : `run \`${short(run)}\``;
  return `approving means: from then on ${happens} may cause hazard \`${short(hazard)}\` in ${where}`;
}

/** An uncontrollable move in words; `move` is its name in the game. */
export function moveInWords(move: string): string {
  const [kind = "", store = "", group = ""] = move.split(" ");
  switch (kind) {
    case "fire":
      return `\`${short(group)}\` reads \`${short(store)}\``;
    case "host.send":
      return "the client sends what it holds";
    case "host.execute":
      return "the client runs code";
    case "host.read":
      return "the client reads by itself";
    case "tick":
      return `the time of \`${short(store)}\` runs out`;
    default:
      return `\`${short(move)}\` happens`;
  }
}

function hidden(reason: Reason, tool: string, move: string | undefined): string {
  const holds = namesIn(reason, "holds");
  const held = holds.length === 0 ? "" : `this run holds ${holds.map(short).join(", ")} data`;
  const danger = move === undefined ? "" : `after it ${moveInWords(move)} unasked`;
  const causes = [held, danger].filter((part) => part !== "").join("; ");
  const lost = quoted(namesIn(reason, "lost"));
  if (causes === "" && lost !== "") return `${tool} is hidden: after it ${lost} could not follow any more`;
  return causes === "" ? `${tool} is hidden` : `${tool} is hidden: ${causes}`;
}

function unpreventable(reason: Reason, when: string, move: string | undefined): string {
  if (move !== undefined) return `${when} nothing can stop that ${moveInWords(move)}`;
  const lost = quoted(namesIn(reason, "lost"));
  return lost === "" ? `${when} this run would be unsafe` : `${when} ${lost} could not follow any more`;
}

function namesIn(reason: Reason, name: string): readonly string[] {
  const fact = reason.facts[name];
  return Array.isArray(fact) ? fact.slice(0, namesMax) : [];
}

function numberOf(reason: Reason, name: string): string {
  const fact = reason.facts[name];
  return typeof fact === "number" ? String(fact) : "?";
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${short(name)}\``).join(", ");
}

/** A name of a tool or label, which may come from a server: short, on one line, without hiding or direction characters. */
function short(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}`]/gu, "?");
  return shown.length <= nameLengthMax ? shown : `${shown.slice(0, nameLengthMax - 1)}…`;
}
