import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EffectEvent,
  type EffectTrace,
  type WorkspaceChange,
  effectActions,
  effectGrades,
  effectOutcomes,
  effectPhases,
} from "../../core/isolation/effect-trace.ts";
import { effectActions as kindsOfEffect, effectBases, effectReaches } from "../../core/effect.ts";
import { type Verdict, atLeastAsStrict } from "../../core/verdict.ts";
import { isLoopback } from "./destinations.ts";
import { lattice, option } from "../../../test/kit/policy/scene.ts";
import { evidence, orderOf, run, tool, traceOf, workspace } from "../../../test/kit/isolation/projection-scene.ts";
import { makeProjection } from "./projection.ts";

const numRuns = Number(process.env.SLUICEGATE_RUNS ?? 200);

/** Places that the rules tell apart. */
const path = fc.constantFrom(
  "/etc/shadow",
  "/etc/hosts",
  "/tmp/x",
  "/opt/server/a.js",
  "/home/ana/.bashrc",
  "/home/ana/.ssh/id_rsa",
  "letter",
  ...["a", "b", ".env", "deep/c"].map((name) => `${workspace}/${name}`),
);
const event: fc.Arbitrary<EffectEvent> = fc.record(
  {
    sequence: fc.nat(99),
    at: fc.nat(99),
    action: fc.constantFrom(...effectActions),
    outcome: fc.constantFrom(...effectOutcomes),
    grade: fc.constantFrom(...effectGrades),
    phase: fc.constantFrom(...effectPhases),
    count: fc.constantFrom(1, 2),
    path,
    target: path,
    domain: fc.constantFrom("api.example.com", "evil.example", "localhost"),
    address: fc.constantFrom("127.0.0.1", "198.18.1.1", "93.184.216.34", "0.0.0.0", "169.254.169.254"),
    port: fc.constantFrom(0, 80, 443),
    transport: fc.constantFrom("tcp" as const, "udp" as const, "unix" as const),
    program: fc.constantFrom("/usr/bin/git", "/usr/bin/curl", "/bin/tar", "/opt/node/bin/node"),
    bytes: fc.constantFrom(1, 300_000),
    detail: fc.constantFrom("clone3", "ptrace"),
  },
  { requiredKeys: ["sequence", "at", "action", "outcome", "grade", "phase", "count"] },
);
const change: fc.Arbitrary<WorkspaceChange> = fc.record({
  path: fc.constantFrom("a", "b", "deep/c"),
  kind: fc.constantFrom("added", "modified", "deleted", "mode", "link", "special"),
  bytes: fc.nat(9),
  guarded: fc.boolean(),
});
const effect = fc
  .tuple(fc.constantFrom(...effectBases), fc.constantFrom(...effectReaches), fc.constantFrom("", ...kindsOfEffect))
  .map(([base, reach, kind]) => (kind === "" ? `${base}.${reach}` : `${base}.${reach}.${kind}`));

type Setting = {
  readonly trace: EffectTrace;
  readonly does: readonly string[];
  readonly given: string;
  readonly exec: "any" | "list" | "none";
  readonly net: "none" | "list" | "open";
};

const setting: fc.Arbitrary<Setting> = fc.record({
  trace: fc
    .record({
      tier: fc.constantFrom("A" as const, "A-" as const, "B" as const, "C" as const, "none" as const),
      complete: fc.boolean(),
      dropped: fc.constantFrom(0, 99),
      events: fc.array(event, { maxLength: 6 }),
      changes: fc.array(change, { maxLength: 3 }),
    })
    .map((part) => traceOf(part)),
  does: fc.array(effect, { maxLength: 3 }),
  given: fc.constantFrom("a", workspace, ".env"),
  exec: fc.constantFrom("any", "list", "none"),
  net: fc.constantFrom("none", "list", "open"),
});

function opinionOn({ trace, does, given, exec, net }: Setting) {
  const order = orderOf({ exec: { mode: exec }, net: { mode: net } });
  const digest = (value: unknown): string => JSON.stringify(value);
  const made = makeProjection({ order: () => order, lattice, digest });
  const x = option(tool({ does }));
  const head = { kind: "dispatched", at: 1, call: "c", method: "tools/call", digest: "" } as const;
  const memory = made.remember(made.initial(), { ...head, option: x, arguments: { path: given } }, run);
  const moment = {
    kind: "release",
    at: 2,
    call: "c",
    contract: x.contract,
    option: x,
    outcome: "succeeded",
    value: null,
  } as const;
  const opinion = made.consider({ moment, option: undefined }, run, memory, evidence(trace));
  if (opinion.kind !== "settled") throw new Error("asked although everything is known");
  return opinion;
}

const verdictOn = (given: Setting): Verdict => opinionOn(given).verdict;

function never(loosens: (given: Setting) => Setting): void {
  fc.assert(
    fc.property(setting, (given) => {
      expect(atLeastAsStrict(verdictOn(loosens(given)), verdictOn(given))).toBe(true);
    }),
    { numRuns },
  );
}

test("law: more events and more changes never loosen", () => {
  fc.assert(
    fc.property(
      setting,
      fc.array(event, { maxLength: 4 }),
      fc.array(change, { maxLength: 2 }),
      (given, events, changes) => {
        const { trace } = given;
        const more = { ...trace, events: [...trace.events, ...events], changes: [...trace.changes, ...changes] };
        const calm = trace.events.concat(events).every(({ phase }) => phase !== "ambiguous");
        const { verdict } = opinionOn({ ...given, trace: more });
        // That calls overlap is itself an event, and makes changes somebody else's perhaps: then a person is asked.
        const before = verdictOn(given);
        expect(atLeastAsStrict(verdict, calm || before !== "deny" ? before : "confirm")).toBe(true);
      },
    ),
    { numRuns },
  );
});

test("law: weaker grades never loosen, so a hint explains nothing away", () => {
  for (const grade of ["hint", "self"] as const) {
    // The broker speaks of another loopback than the server: said by somebody else it is another event, not a weaker one.
    const weaker = (one: EffectEvent): EffectEvent =>
      one.grade === "broker" && isLoopback(one) ? one : { ...one, grade };
    never((given) => ({ ...given, trace: { ...given.trace, events: given.trace.events.map(weaker) } }));
  }
});

test("law: without its hints a trace is never judged more strictly: they raise alarms only", () => {
  fc.assert(
    fc.property(setting, (given) => {
      // Whether calls overlap is told by the window of the gateway, not by the server.
      const events = given.trace.events.map((one) => ({ ...one, phase: "call" as const }));
      const whole = { ...given, trace: { ...given.trace, events } };
      const truths = events.filter(({ grade }) => grade === "kernel" || grade === "broker");
      const without = { ...given, trace: { ...given.trace, events: truths } };
      expect(atLeastAsStrict(verdictOn(whole), verdictOn(without))).toBe(true);
    }),
    { numRuns },
  );
});

test("law: an incomplete or failed trace is never looser than a whole one", () => {
  never((given) => ({ ...given, trace: { ...given.trace, complete: false } }));
  never((given) => ({ ...given, trace: { ...given.trace, failure: "it ended" } }));
  never((given) => ({ ...given, trace: { ...given.trace, dropped: given.trace.dropped + 1 } }));
});

test("law: fewer effects in the labels never loosen", () => {
  never((given) => ({ ...given, does: given.does.slice(1) }));
});

test("law: the same answer gives the same opinion", () => {
  fc.assert(
    fc.property(setting, (given) => {
      expect(opinionOn(given)).toEqual(opinionOn(structuredClone(given)));
    }),
    { numRuns },
  );
});
