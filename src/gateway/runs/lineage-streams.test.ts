// B12: what restricts the runs of a lineage is on record once, and each of them is in the state in which it would be if
// every event had been folded into every open run at once (docs/decisions/0033).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { exactly } from "../../core/label.ts";
import { begin } from "../../core/mechanism.ts";
import type { Run } from "../../core/run.ts";
import { evolve } from "../../core/step.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { type FakeState, fakeContract, fakePolicy, fakeState, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { kept } from "../../../test/kit/gateway/kept-log.ts";
import { temporaryFolder, unwrap } from "../../../test/kit/gateway/log-records.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { restarted, rules, stateOf } from "../../../test/kit/gateway/resumed.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import { replayRun } from "../log/event-replay.ts";
import { streamEntriesMax } from "../ports/limits.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { LogEntry } from "../ports/store.ts";
import { appendBatch, deferRecord, EventBatch } from "./event-batch.ts";
import type { LiveRun } from "./live-run.ts";
import { lastRunIn } from "./refold.ts";
import { restrictiveImage } from "./restrictive-images.ts";
import { lineageOf } from "./run-key.ts";

const principal = "os:1000";
const http = { transport: "http", process: undefined } as never;
const keyOf = (session: number): string => `${principal}/session:${session}`;

/** The rule of before: every event of one run is folded into every open run of its lineage in the same turn. */
class EagerRuns {
  readonly #policy: LoadedPolicy;
  readonly #runs = new Map<string, Run>();
  readonly #history: RunEvent[] = [];

  constructor(policy: LoadedPolicy) {
    this.#policy = policy;
  }

  open(key: string): void {
    if (this.#runs.has(key)) return;
    this.#runs.set(key, begin(this.#policy.engine, key, undefined));
    for (const image of this.#history) this.#fold(key, image);
  }

  happened(key: string, event: RunEvent): void {
    this.#fold(key, event);
    const images = restrictiveImage(event, key);
    this.#history.push(...images);
    for (const other of this.#runs.keys()) if (other !== key) for (const image of images) this.#fold(other, image);
  }

  ended(key: string): void {
    this.#runs.delete(key);
  }

  state(key: string): FakeState | undefined {
    const run = this.#runs.get(key);
    return run === undefined ? undefined : fakeState(run.q);
  }

  #fold(key: string, event: RunEvent): void {
    const run = this.#runs.get(key);
    if (run !== undefined) this.#runs.set(key, unwrap(evolve(this.#policy.engine, run, event)));
  }
}

type Act =
  | { readonly what: "open" | "look" | "end"; readonly session: number }
  | { readonly what: "call"; readonly session: number; readonly tool: string; readonly late: boolean }
  | { readonly what: "restart" };

const session = fc.integer({ min: 0, max: 3 });
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant("open" as const), session }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("look" as const), session }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("end" as const), session }) },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant("call" as const),
      session,
      tool: fc.constantFrom("read_file", "read_secret", "send_mail"),
      late: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("restart" as const) }) },
);

/** A gateway beside the rule of before, and what both say of a run. */
class Side {
  readonly log = new FakeLog();
  readonly policy = fakePolicy([]);
  readonly eager = new EagerRuns(this.policy);
  #stage: Stage;
  #calls = 0;

  constructor() {
    this.#stage = new Stage({ policy: this.policy, facts: http, log: this.log });
  }

  get stage(): Stage {
    return this.#stage;
  }

  async act(one: Act): Promise<void> {
    this.#stage.clock.pass(1);
    if (one.what === "restart") return this.#restart();
    const key = keyOf(one.session);
    const known = this.eager.state(key) !== undefined;
    if (one.what === "open") {
      await this.#obtain(one.session);
      this.eager.open(key);
    } else if (one.what === "look" && known) await this.compare(key);
    else if (one.what === "call" && known) await this.#call(await this.#obtain(one.session), one);
    else if (one.what === "end" && known) {
      await this.#stage.gateway.runs.finish(await this.#obtain(one.session));
      this.eager.ended(key);
    }
  }

  async compare(key: string): Promise<void> {
    const session = Number(key.split(":").at(-1));
    const live = await this.#obtain(session);
    const now = { ...fakeState(live.state.q), inFlight: [] };
    expect(now).toEqual({ ...this.eager.state(key), inFlight: [] });
    expect({ ...(await this.#again(live)), inFlight: [] }).toEqual(now);
  }

  async compareAll(): Promise<void> {
    for (const key of [0, 1, 2, 3].map(keyOf)) if (this.eager.state(key) !== undefined) await this.compare(key);
  }

  /** The state that the log alone gives: sealed, chained, read back, and folded. */
  async #again(live: LiveRun): Promise<FakeState> {
    await this.#stage.gateway.runs.flushDeferred();
    const folder = temporaryFolder();
    try {
      const log = await kept(this.log.entries, { folder: folder.path });
      const { events, complete } = unwrap(await replayRun({ ...log, lattice }, live.key));
      expect(complete).toBe(true);
      let run = begin(this.policy.engine, live.key, undefined);
      for (const event of lastRunIn(events)) run = unwrap(evolve(this.policy.engine, run, event));
      return fakeState(run.q);
    } finally {
      folder.remove();
    }
  }

  async #restart(): Promise<void> {
    await this.#stage.gateway.runs.flushDeferred();
    this.#stage = new Stage({ policy: this.policy, facts: http, log: this.log });
    await this.#stage.gateway.restore();
  }

  async #obtain(session: number): Promise<LiveRun> {
    const key = keyOf(session);
    const live = unwrap(
      this.#stage.gateway.runs.obtain({
        key: { key, kind: "named", lineage: lineageOf(key, principal) },
        principal,
        policy: this.policy,
        workspace: [],
      }),
    );
    if (live.ready !== undefined) await live.ready;
    return live;
  }

  async #call(live: LiveRun, { tool, late }: Extract<Act, { what: "call" }>): Promise<void> {
    const { runs, state } = this.#stage.gateway;
    const { log, clock } = state.services;
    const call = `call-${(this.#calls += 1)}`;
    const contract = fakeContract("files", tool);
    const option = {
      class: { server: "files", tool, truths: new Map(), keys: new Map(), amounts: new Map() },
      contract,
      arguments: new Map(),
    };
    const at = clock.monotonicMs();
    const sent = { kind: "dispatched", at, call, method: "tools/call", option, arguments: {}, digest: call } as const;
    const label = exactly(tool === "read_secret" ? lattice.top : lattice.bottom);
    const released = {
      call,
      server: "files",
      tool,
      how: "pass",
      label,
      fields: [],
      value: `result of ${call}`,
    } as const;
    const before = new EventBatch();
    unwrap(runs.fold(live, sent, before));
    const decision = { verdict: "allow", enforcedVerdict: "allow", reasons: [], obligations: [], option } as const;
    if (late) deferRecord(before, { decision });
    else await appendBatch(log, before, { decision });
    const after = new EventBatch();
    unwrap(runs.fold(live, { kind: "succeeded", at: at + 0.25, call }, after));
    unwrap(runs.fold(live, { kind: "released", at: at + 0.5, ...released }, after));
    await appendBatch(log, after);
    this.eager.happened(live.key, sent);
    this.eager.happened(live.key, { kind: "succeeded", at: at + 0.25, call });
    this.eager.happened(live.key, { kind: "released", at: at + 0.5, ...released });
  }
}

describe("B12: the runs of a lineage", () => {
  it("are, live and out of the log, as if every event had been folded into each of them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 30 }), async (acts) => {
        const side = new Side();
        for (const one of acts) await side.act(one);
        await side.compareAll();
      }),
      { numRuns: 60 },
    );
  });
});

const secretly = (log = new FakeLog()): Stage => new Stage({ policy: fakePolicy([rules]), facts: http, log });

const over = async (
  stage: Stage,
  client: { handler: { closed(reason: string, over?: boolean): void } },
): Promise<void> => {
  client.handler.closed("The client ended the session.", true);
  for (let turn = 0; turn < 4; turn += 1) await stage.settle();
};

describe("B12: what restricts one of them", () => {
  it("is durable for all in the append of the run itself, and entered once", async () => {
    const stage = secretly();
    const appended = new Set<readonly LogEntry[]>();
    const sessions = [...Array(6).keys()].map((one) => stage.connect({ sessionId: `${one}` }));
    for (const one of sessions) await callTool(stage, one, "read_file");
    const before = stage.log.entries.length;
    stage.log.failsAt = (_entry, entries) => {
      appended.add(entries);
      return false;
    };
    const [first] = sessions;
    if (first !== undefined) await callTool(stage, first, "send_mail");
    const added = stage.log.entries.slice(before);
    expect(added.filter(({ run }) => run === keyOf(0)).map(({ events }) => events.map(({ kind }) => kind))).toEqual([
      ["dispatched"],
      ["succeeded", "released"],
    ]);
    expect(added.filter(({ run }) => run.startsWith("stream:"))).toHaveLength(2);
    expect(added).toHaveLength(4);
    const shared = [...appended].map((entries) => entries.filter(({ run }) => run.startsWith("stream:")).length);
    expect(shared).toEqual([1, 1]);
  });

  it("puts every one in its worst state where it cannot be put on record", async () => {
    const stage = secretly();
    const [one, two] = [stage.connect({ sessionId: "0" }), stage.connect({ sessionId: "1" })];
    for (const each of [one, two]) await callTool(stage, each, "read_file");
    stage.log.failsAt = ({ run }) => run.startsWith("stream:");
    await callTool(stage, one, "send_mail");
    expect([0, 1].map((each) => stateOf(stage, keyOf(each))?.top)).toEqual([true, true]);
  });

  it("is folded by one that lags behind by more than is kept in memory, and by no other way", async () => {
    const side = new Side();
    for (const one of [0, 1]) await side.act({ what: "open", session: one });
    for (let count = 0; count <= streamEntriesMax; count += 1) {
      await side.act({ what: "call", session: 0, tool: count === 7 ? "read_secret" : "read_file", late: true });
    }
    expect(stateOf(side.stage, keyOf(1))?.held).toBe(lattice.top);
    await side.compare(keyOf(1));
  });
});

describe("B12: a session that is over", () => {
  it("leaves no run in memory, and the next one holds what it held", async () => {
    const stage = secretly();
    for (let count = 0; count < 5; count += 1) {
      const one = stage.connect({ sessionId: `${count}` });
      expect((await callTool(stage, one, count === 0 ? "read_secret" : "send_mail")).refused).toBe(count > 0);
      await over(stage, one);
      expect([...stage.gateway.runs.all()]).toEqual([]);
      expect(stage.log.runs.get(keyOf(count))?.endedWallMs).toBeDefined();
    }
    const again = await restarted(stage.log);
    expect(again.gateway.runs.dormant.all()).toEqual([]);
    const late = again.connect({ ...(http as object), sessionId: "late" });
    expect((await callTool(again, late, "send_mail")).refused).toBe(true);
  });

  it("is forgotten after the idle time, or when a user says so", async () => {
    for (const how of ["idle", "user"]) {
      const stage = secretly();
      const one = stage.connect({ sessionId: "0" });
      await callTool(stage, one, "read_secret");
      await over(stage, one);
      const [waiting] = stage.gateway.runs.waitingStreams();
      if (how === "user") expect(await stage.gateway.runs.endStream(waiting?.key ?? "")).toBe(true);
      else {
        await stage.gateway.expire();
        expect(stage.gateway.runs.waitingStreams()).toHaveLength(1);
        stage.clock.pass(stage.policy.settings.runIdleMs);
        await stage.gateway.expire();
      }
      expect(stage.gateway.runs.waitingStreams()).toEqual([]);
      expect((await callTool(stage, stage.connect({ sessionId: "1" }), "send_mail")).refused).toBe(false);
    }
  });

  it("ends no run that other messages lead to, and none that was stopped", async () => {
    const stage = secretly();
    const named = stage.connect({ sessionId: "0", process: { pid: 9, startedAt: "1" } });
    await callTool(stage, named, "read_file");
    await over(stage, named);
    expect([...stage.gateway.runs.all()].map(({ key }) => key)).toEqual([`${principal}/process:9@1`]);
    const stopped = stage.connect({ sessionId: "1" });
    await callTool(stage, stopped, "end_it");
    await over(stage, stopped);
    expect([...stage.gateway.runs.all()].map(({ key, ended }) => [key, ended])).toContainEqual([keyOf(1), true]);
    expect((await callTool(stage, stage.connect({ sessionId: "2" }), "read_file")).refused).toBe(true);
  });
});

describe("B12: a log of before", () => {
  it("in which each run has a copy of each event is taken up, and goes on with one stream", async () => {
    const side = new Side();
    await side.act({ what: "open", session: 0 });
    await side.act({ what: "call", session: 0, tool: "read_secret", late: false });
    const { log } = side;
    const begun = { kind: "begun", at: 1, principal } as const;
    const copies = log.events(keyOf(0)).flatMap((event) => restrictiveImage(event, keyOf(0)));
    const [entry] = log.entries;
    if (entry === undefined) throw new Error("nothing was recorded");
    const { decision: _none, ...plain } = entry;
    log.entries.push({ ...plain, run: keyOf(1), events: [begun, ...copies] });
    const row = log.runs.get(keyOf(0));
    if (row !== undefined) log.runs.set(keyOf(1), { ...row, key: keyOf(1) });
    side.eager.open(keyOf(1));
    await side.act({ what: "restart" });
    await side.act({ what: "call", session: 1, tool: "read_file", late: true });
    await side.compareAll();
    await side.act({ what: "restart" });
    await side.act({ what: "open", session: 2 });
    await side.compareAll();
    expect(log.entries.filter(({ run }) => run.startsWith("stream:")).flatMap(({ events }) => events)).toHaveLength(6);
  });
});

it("B12: a session that opens reads nothing of a stream that another one has read, under a regulated policy too", async () => {
  const policy = fakePolicy([rules], { regulation: {} });
  const stage = new Stage({ policy, facts: http, log: new FakeLog() });
  for (let count = 0; count < 3; count += 1) {
    await callTool(stage, stage.connect({ sessionId: `${count}` }), count === 0 ? "read_secret" : "read_file");
  }
  stage.log.unreadable = true;
  expect((await callTool(stage, stage.connect({ sessionId: "3" }), "send_mail")).refused).toBe(true);
  expect(stateOf(stage, keyOf(3))).toMatchObject({
    top: false,
    held: lattice.top,
    allowed: ["read_secret", "read_file", "read_file"],
  });
});
