/** The starts of a trial: the first one, and those that differ from it in one thing each. */
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { JsonObject } from "../../core/json.ts";
import { ownMetaPrefix } from "../../wire/meta.ts";
import type { DriveOptions, ServerCommand } from "../client/driven-server.ts";
import { nodeOptions } from "./other-date.ts";
import type { ProbeHome } from "./probe-home.ts";

/** `again`: the same home folder. `flag`: another client that says that it tries it out. `date`: a year and a month later. */
export type StartId = "first" | "again" | "flag" | "date" | "user";

export type Start = {
  readonly id: StartId;
  /** A clause of time, as a sentence about it begins or ends. */
  readonly when: string;
  readonly home: "usual" | "other";
  readonly options: DriveOptions;
  readonly meta: JsonObject | undefined;
  /** False where honest servers may list something else, since their user is another one. */
  readonly isItself: boolean;
  readonly changed: (target: ServerCommand, home: ProbeHome) => ServerCommand;
  /** By the trace of what it did outside of calls: whether the difference reached the program. */
  readonly isInForce: (trace: EffectTrace | undefined) => boolean;
  /** The sentence for a start whose difference did not reach it. */
  readonly limit: string;
};

const plain = {
  home: "usual",
  options: {},
  meta: undefined,
  isItself: true,
  changed: (target: ServerCommand) => target,
  isInForce: () => true,
  limit: "",
} as const;

export const firstStart: Start = { ...plain, id: "first", when: "at its first start" };

/** Read by a program for which another date is in force; runtimes do not look at it by themselves. */
const mark = "/proc/self/timens_offsets";

/** In this order: those with the same home folder come first, so that what a server counts goes on. */
export const laterStarts: readonly Start[] = [
  { ...plain, id: "again", when: "at its second start" },
  {
    ...plain,
    id: "flag",
    when: "for a client of another name, or told that it is tried out",
    options: { clientInfo: { name: "inspector", version: "0.1.0" } },
    meta: { [`${ownMetaPrefix}probe`]: { mock: true } },
  },
  {
    ...plain,
    id: "date",
    when: "a year later",
    changed: (target) => {
      const NODE_OPTIONS = nodeOptions(target.env["NODE_OPTIONS"], mark);
      return { ...target, env: { ...target.env, NODE_OPTIONS } };
    },
    isInForce: (trace) => (trace?.events ?? []).some(({ path }) => path === mark),
    limit: "Its clock was not changed: only servers that Node runs are started at a later date.",
  },
  { ...plain, id: "user", when: "for another user", home: "other", isItself: false },
];
