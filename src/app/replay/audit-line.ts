/** One record of the log as a line for users, and as JSON without sealed content. */
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { LogView } from "../../gateway/ports/store.ts";
import { prunedKind } from "../../gateway/log/retention/pruning.ts";
import { many, shown } from "../state/sentences.ts";

/** The record as JSON; arguments and results only where they were asked for. */
export function plainRecord(view: LogView, withPayload: boolean): object {
  const { payload, ...rest } = view;
  return withPayload ? { ...rest, payload: payload ?? null } : rest;
}

/** Characters of a payload in a line for users. */
const payloadLengthMax = 600;

/** The id of a run of an HTTP session with a user known by credentials has about 150. */
const runLengthMax = 240;

/** `2026-01-02 03:04:05  run  released  server.tool  deny  SG-RULE-BLOCK (keep-private)  (decision 4f2a-7)` */
export function auditLineOf(view: LogView, withPayload: boolean): string {
  const decision = member(view.clear, "decision");
  const subject = view.tool === undefined ? (view.server ?? "") : `${view.server ?? "?"}.${view.tool}`;
  const verdict = stringMember(decision, "verdict") ?? "";
  const stopped = stringMember(member(view.clear, "notes"), "wouldHaveBeenStopped");
  const words = [
    view.wallTime.slice(0, 19).replace("T", " "),
    // Whole: it is what `--run`, `replay --run` and `audit policy` want, and keys of sessions differ at their end.
    view.run === "" ? "-" : shown(view.run, runLengthMax),
    shown(view.kind, 20),
    shown(subject, 60),
    stopped === undefined ? verdict : `observed: would have been stopped (${stopped})`,
    shown(reasonsOf(decision), 120),
    shown(resetOf(view), 120),
    decisionOf(view, verdict !== "" && (verdict !== "allow" || stopped !== undefined)),
  ];
  const line = words.filter((word) => word !== "").join("  ");
  const payload = view.payload;
  return withPayload && payload !== undefined
    ? `${line}\n    ${shown(JSON.stringify(payload), payloadLengthMax)}`
    : line;
}

/** The id that the sentence of a refusal ends with, so that a question about a refusal can be answered from here. */
function decisionOf({ clear }: LogView, refused: boolean): string {
  const id = refused ? stringMember(member(clear, "notes"), "decision") : undefined;
  return id === undefined ? "" : `(decision ${shown(id, 40)})`;
}

/** The stores that a user reset, their owner, and the former content of one of them. */
function resetOf({ kind, clear }: LogView): string {
  if (kind === "proved") return provedOf(clear);
  if (kind === prunedKind) return prunedOf(clear);
  if (kind !== "stores-reset") return "";
  const notes = member(clear, "notes");
  const name = stringMember(notes, "stores") ?? "?";
  const was = member(notes, "was");
  const held = name !== "all" && isArray(was) ? `, held ${stringMember(was[0], "label") ?? "?"}` : "";
  return `${name} of ${stringMember(clear, "principal") ?? "?"}${held}, by ${stringMember(notes, "by") ?? "?"}`;
}

/** An act of an approver that took a proof, and who proved what. */
function provedOf(clear: LogView["clear"]): string {
  const [act, by, role] = ["act", "by", "role"].map((name) => stringMember(member(clear, "notes"), name) ?? "?");
  return `${act}, by ${by} (${role})`;
}

/** How many records of how many runs left. */
function prunedOf(clear: LogView["clear"]): string {
  const { runs } = clear;
  const listed = isArray(runs) ? runs : [];
  const records = listed.reduce<number>((sum, run) => sum + Number(member(run, "records") ?? 0), 0);
  return `${many(records, "record")} of ${many(listed.length, "run")} left`;
}

/** Codes and rules of decisions other than a plain allow. */
function reasonsOf(decision: Json | undefined): string {
  const reasons = member(decision, "reasons");
  if (!isArray(reasons)) return "";
  const texts = reasons
    .filter((reason) => isObject(reason) && stringMember(reason, "verdict") !== "allow")
    .map((reason) => {
      const rule = stringMember(reason, "rule");
      return `${stringMember(reason, "code") ?? "?"}${rule === undefined ? "" : ` (${rule})`}`;
    });
  return [...new Set(texts)].join(" ");
}
