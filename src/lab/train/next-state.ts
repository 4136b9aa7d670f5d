/**
 * The state that a run reaches if its pending call takes effect, and that state in words: the answers of stage 1
 * (foresight.md 5). SafeMCP's stage 1 learns the dynamics of the environment, P(s'|h,a), apart from its judgement, so the
 * text describes the state and names no verdict: a call that must not run reaches a state, too. Equal states have equal
 * texts, and other states others.
 */
import { held } from "../../oracles/foresight/embedded/held.ts";
import type { ArgumentRole } from "./catalogue.ts";
import type { Store } from "./store-game.ts";

/** What a call does: `carries` are label bits that leave with it, `brings` those of its result. */
export type Act = {
  readonly tool: string;
  readonly actions: readonly string[];
  readonly closes: boolean;
  readonly given: readonly { readonly role: ArgumentRole; readonly value: string | number }[];
  /** Undefined where no other reader sees anything of the call. */
  readonly carries: number | undefined;
  readonly brings: number;
};

/** The state after the pending call, or the present one where a list is judged. */
export type NextState = {
  readonly act: Act | undefined;
  /** Label bits that the run holds. */
  readonly holds: number;
  readonly elevated: boolean;
  /** Stores that hold, open or run something, by the server that shows them. */
  readonly stores: readonly (Store & { readonly server: string })[];
};

/** Verbs of actions, the one that matters most first. */
const verbs: readonly (readonly [string, string])[] = [
  ["execute", "runs"],
  ["pay", "pays"],
  ["send", "sends"],
  ["publish", "publishes"],
  ["share", "shares"],
  ["grant", "grants access"],
  ["webhook", "connects a webhook"],
  ["schedule", "starts a job"],
  ["credential", "takes credentials"],
  ["config", "changes settings"],
  ["actuate", "acts on things outside"],
  ["delete", "deletes"],
  ["store", "writes"],
  ["read", "reads"],
];

/** The state as a model is to predict it: two sentences, as the protocol asks for. */
export function nextStateText({ act, holds, elevated, stores }: NextState): string {
  const rights = elevated ? " and has given itself rights" : "";
  const run = `run ${act === undefined ? "" : "then "}holds ${heldText(holds)}${rights}`;
  const state = [run, ...stores.map(storeText)].join("; ");
  return act === undefined ? `No call is pending; the ${state}.` : `${actText(act)} The ${state}.`;
}

/** Label bits as words. */
export function heldText(bits: number): string {
  const names = [
    ...((bits & held.private) === 0 ? [] : ["private data"]),
    ...((bits & held.secret) === 0 ? [] : ["credentials"]),
    ...((bits & held.untrusted) === 0 ? [] : ["untrusted text"]),
  ];
  return names.length === 0 ? "nothing restricted" : names.join(" and ");
}

function actText({ tool, actions, closes, given, carries, brings }: Act): string {
  const done = verbs.flatMap(([action, verb]) => (actions.includes(action) ? [verb] : []));
  const verb = closes ? "ends what was open" : done.length === 0 ? "answers" : done.join(" and ");
  const values = given.map(({ role, value }) => valueText(role, value));
  const shown = carries === undefined ? [] : [`it carries ${heldText(carries)} out`];
  const result = brings === 0 ? [] : [`its result brings ${heldText(brings)}`];
  return `${[`\`${tool}\` ${verb}${values.length === 0 ? "" : `: ${values.join(", ")}`}`, ...shown, ...result].join("; ")}.`;
}

function valueText(role: ArgumentRole, value: string | number): string {
  const quoted = JSON.stringify(value);
  switch (role) {
    case "recipient":
      return `to ${quoted}`;
    case "url":
      return `at ${quoted}`;
    case "path":
    case "id":
    case "command":
      return quoted;
    case "amount":
      return `${quoted} EUR`;
    case "date":
      return `at the time ${quoted}`;
    case "query":
      return `about ${quoted}`;
    case "flag":
      return `with the option ${quoted}`;
    case "text":
      return `with the words ${quoted}`;
  }
}

const readers = {
  nobody: "with no other reader",
  named: "read by one whom the user named",
  everybody: "read by anyone",
} as const;

function storeText({ server, content, open, job }: NextState["stores"][number]): string {
  return `\`${server}\` holds ${heldText(content)}, ${readers[open]}${job ? ", used by a job" : ""}`;
}
