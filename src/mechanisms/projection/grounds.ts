/**
 * The grounds of judging one trace: the scope in force, the contract of the tool, and the names in the call's arguments.
 */
import type { Effect } from "../../core/effect.ts";
import type { EffectEvent, EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { LabelSource } from "../../core/contract.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";

/** Facts about the call that a trace belongs to. */
export type Called = {
  readonly tool: string;
  /** All that the tool could do, by its labels and this call's arguments. */
  readonly effects: readonly Effect[];
  readonly source: LabelSource;
  /** The belief rests on what the projection enforces. */
  readonly enclosed: boolean;
  /** Paths that the arguments name; undefined where no argument of the tool is a path. */
  readonly paths: readonly string[] | undefined;
  /** Destinations of this call: those of its scope. */
  readonly allow: readonly string[];
};

export type Grounds = {
  readonly order: IsolationOrder;
  readonly trace: EffectTrace;
  /** Undefined: what happened outside of calls. */
  readonly called: Called | undefined;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly allow: readonly string[];
  readonly programs: readonly string[];
  /** Destinations may have been granted by a judge, which only the broker knows. */
  readonly judgedDestinations: boolean;
};

export function groundsOf(
  order: IsolationOrder,
  trace: EffectTrace,
  called: Called | undefined,
  judgedDestinations = false,
): Grounds {
  const { scope } = order;
  const own = called === undefined ? undefined : scope.tools.get(called.tool);
  return {
    order,
    trace,
    called,
    read: [...scope.files.read, ...(own?.read ?? [])],
    write: [...scope.files.write, ...(own?.write ?? [])],
    allow: [...scope.net.allow, ...(called?.allow ?? [])],
    programs: [...scope.exec.programs, ...(own?.programs ?? [])],
    judgedDestinations,
  };
}

/** Something that a trace shows and that is held against it. */
export type Finding = {
  readonly rule: string;
  readonly code: string;
  readonly verdict: Verdict;
  /** The event and why it counts, as a clause that begins with a verb in the past. */
  readonly what: string;
  readonly way: string;
};

/** A rule about single events, as data. */
export type EventRule = {
  readonly id: string;
  readonly code: string;
  readonly applies: (event: EffectEvent, grounds: Grounds) => boolean;
  readonly what: (event: EffectEvent) => string;
  readonly way: (event: EffectEvent, server: string) => string;
};

/** Something happened, or it is not known that nothing did. */
export function took({ outcome }: Pick<EffectEvent, "outcome">): boolean {
  return outcome === "success" || outcome === "unknown";
}

const shownMax = 80;

/** A text of the server in a form fit for users: short, on one line, without characters that hide or turn text. */
export function shown(text: string | undefined): string {
  const plain = (text ?? "?").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`]/gu, "?");
  return `\`${plain.length <= shownMax ? plain : `${plain.slice(0, shownMax - 1)}…`}\``;
}
