/**
 * How a call comes, and which guards of `commitCall` apply to it (docs/decisions/0022). A guard that is off says why,
 * and has a test that fails when it is switched on beside one of the attack that it stops elsewhere
 * (`attendance.test.ts`).
 */

/**
 * `client`: a request of a client. `outbox`: a call that a rule held and no client waits for any more. `injected`: the
 * call that a must-rule makes before another. `compensation`: the call that one makes at the end of a run. `hook`: a client's own tool, which the client executes itself.
 * `client-data`: an answer or a notification of the client, which is data for the server.
 */
export type Attendance = "client" | "outbox" | "injected" | "compensation" | "hook" | "client-data";

/** Guards beside the engine's decision and the record, which no attendance can do without. */
export type Guard = "selfProtection" | "inDoubt" | "otherRuns" | "runEnd" | "consent" | "hold" | "perform";

type Cell<Way extends string> = { readonly way: Way } | { readonly way: "off"; readonly why: string };

/** One row of the table. A new attendance does not compile without each cell. */
export type GuardRow = {
  readonly selfProtection: Cell<"on">;
  readonly inDoubt: Cell<"on">;
  readonly otherRuns: Cell<"on">;
  readonly runEnd: Cell<"on">;
  /** A confirm is put to `people`, or to the user of the `client`, which executes the call; else it refuses. */
  readonly consent: Cell<"people" | "client" | "refuse">;
  /** The obligation `hold`: the call waits in the outbox, or cannot wait and is refused. */
  readonly hold: Cell<"wait" | "refuse">;
  /** The obligation `perform`: the calls are made first, or cannot be made and the call is refused. */
  readonly perform: Cell<"first" | "refuse">;
};

/** Properties of the record of a call. */
export type RecordRow = {
  /** A plain read may be put on record after it was sent (docs/decisions/0008). */
  readonly mayBeLate: boolean;
  /** Whether an outcome will follow. Where none does, `unknown` is recorded with the dispatch. */
  readonly hasOutcome: boolean;
};

const on = { way: "on" } as const;
const asksPeople = { way: "people" } as const;
const asksClient = { way: "client" } as const;
const refuses = { way: "refuse" } as const;
const waits = { way: "wait" } as const;
const madeFirst = { way: "first" } as const;
const off = (why: string): { readonly way: "off"; readonly why: string } => Object.freeze({ way: "off", why });

const everywhere = { selfProtection: on, otherRuns: on, runEnd: on } as const;

/** The table: a row for each attendance. */
export const attendances: Readonly<Record<Attendance, GuardRow & RecordRow>> = frozen({
  client: {
    ...everywhere,
    inDoubt: on,
    consent: asksPeople,
    hold: waits,
    perform: madeFirst,
    mayBeLate: true,
    hasOutcome: true,
  },
  // Its record lets it leave the outbox: sent before that, it would be held again after a crash.
  outbox: {
    ...everywhere,
    inDoubt: on,
    consent: refuses,
    hold: waits,
    perform: madeFirst,
    mayBeLate: false,
    hasOutcome: true,
  },
  injected: {
    ...everywhere,
    inDoubt: off("a rule wants it made anew before each call that needs it, so the policy asks for the repeat"),
    consent: refuses,
    hold: refuses,
    perform: off("an injected call is under no injection, or rules could inject each other for ever"),
    mayBeLate: true,
    hasOutcome: true,
  },
  // Made twice it does harm, so it is on record before it is sent, and one that may have been made is not made again.
  compensation: {
    ...everywhere,
    inDoubt: on,
    consent: refuses,
    hold: refuses,
    perform: madeFirst,
    mayBeLate: false,
    hasOutcome: true,
  },
  hook: {
    ...everywhere,
    inDoubt: on,
    consent: asksClient,
    hold: refuses,
    perform: refuses,
    mayBeLate: false,
    hasOutcome: true,
  },
  "client-data": {
    ...everywhere,
    inDoubt: off("data has no outcome, so all of it would be in doubt, and the server asked for it anew"),
    consent: refuses,
    hold: refuses,
    perform: refuses,
    mayBeLate: false,
    hasOutcome: false,
  },
});

function frozen<T extends Readonly<Record<string, object>>>(table: T): T {
  for (const row of Object.values(table)) {
    for (const cell of Object.values(row)) if (typeof cell === "object") Object.freeze(cell);
    Object.freeze(row);
  }
  return Object.freeze(table);
}
