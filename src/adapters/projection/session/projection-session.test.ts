import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { FakeServer, orderWith, scopeText } from "../../../../test/kit/isolation/fake-parts.ts";
import type { EffectTrace } from "../../../core/isolation/effect-trace.ts";
import { type LaunchedProjection, openProjection } from "./projection-session.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const plain = scopeText();

let server: FakeServer;
let projection: LaunchedProjection;

function open(more: Parameters<typeof orderWith>[0] = {}, parts: Parameters<FakeServer["launched"]>[0] = {}): void {
  server = new FakeServer();
  projection = openProjection(server.launched(parts), orderWith(more), { clock: server.clock });
}

beforeEach(() => open());

const paths = ({ events }: EffectTrace): unknown => events.map(({ path, phase }) => `${phase} ${path}`);

test("what was seen before, in and after a window is told where it belongs", async () => {
  server.tracer.see({ path: "/opt/server/a" }, { path: "/opt/server/b" });
  expect(projection.begin("a", "read", plain)).toEqual({ ok: true, value: undefined });
  server.tracer.see({ path: "/project/in" });
  server.broker.see({ action: "dns-query", grade: "broker", path: "", domain: "example.org" });
  server.clock.move(10);
  projection.end("a");
  server.clock.move(10);
  server.tracer.see({ at: 15, path: "/project/soon" });
  server.clock.move(500);
  server.tracer.see({ at: 515, path: "/project/later" });
  const trace = await projection.trace("a");
  expect(trace).toMatchObject({ tier: "A", complete: true, dropped: 0, changes: [] });
  expect(paths(trace)).toEqual(["call /project/in", "call "]);
  const background = await projection.trace(undefined);
  expect(background.events).toMatchObject([
    { phase: "startup", path: "/opt/server", count: 2, detail: "summary" },
    { phase: "background", path: "/project/soon", detail: "after a" },
    { phase: "background", path: "/project/later" },
  ]);
  expect((await projection.trace(undefined)).events).toEqual([]);
});

test("traces are told in the time of the gateway", async () => {
  projection = openProjection(server.launched(), orderWith(), { clock: server.clock, offsetMs: 1_000 });
  void projection.begin("a", "read", plain);
  server.clock.move(10);
  server.tracer.see({ at: 5 });
  projection.end("a");
  expect((await projection.trace("a")).events).toMatchObject([{ at: 1_005 }]);
});

test("calls that overlap share what nobody can tell apart", async () => {
  void projection.begin("a", "read", plain);
  void projection.begin("b", "read", plain);
  server.tracer.see({ path: "/project/x" });
  projection.end("a");
  server.tracer.see({ path: "/project/y" });
  projection.end("b");
  expect(paths(await projection.trace("a"))).toEqual(["ambiguous /project/x"]);
  expect(paths(await projection.trace("b"))).toEqual(["ambiguous /project/x", "call /project/y"]);
});

test("the trace of an ended call is told to all who judge its texts, and only of calls that ran", async () => {
  void projection.begin("a", "read", plain);
  server.tracer.see({ path: "/project/x" });
  projection.end("a");
  const [first, second] = await Promise.all([projection.trace("a"), projection.trace("a")]);
  expect(paths(first)).toEqual(["call /project/x"]);
  expect(second).toEqual(first);
  expect(await projection.trace("a")).toEqual(first);
  expect(await projection.trace("never begun")).toMatchObject({
    complete: false,
    failure: expect.stringContaining("no longer known"),
  });
});

test("a call that still runs tells what it did so far, and goes on", async () => {
  void projection.begin("a", "read", plain);
  server.tracer.see({ path: "/project/x" });
  expect(paths(await projection.trace("a"))).toEqual(["call /project/x"]);
  projection.end("a");
  expect(paths(await projection.trace("a"))).toEqual(["call /project/x"]);
});

test("traces nobody asks for are forgotten, the oldest first", async () => {
  for (let index = 0; index < 40; index += 1) {
    void projection.begin(`${index}`, "read", plain);
    projection.end(`${index}`);
  }
  expect((await projection.trace("7")).failure).toBeDefined();
  expect((await projection.trace("8")).failure).toBeUndefined();
});

test("a scope that is not understood, or of another order, is not sent", () => {
  const texts = [
    "",
    "{}",
    "[]",
    '{"allow":[],"serial":0,"order":"order-1"}',
    scopeText(["a"]).replace('"a"', "1"),
    `${plain.slice(0, -1)},"x":1}`,
  ];
  for (const text of [...texts, plain.replace("order-1", "order-2")]) {
    expect(projection.begin("a", "read", text)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^Not executed: .{20,220}$/),
    });
  }
});

test("what a call may reach beyond its server ends with it", () => {
  void projection.begin("a", "fetch", scopeText(["example.org:443"]));
  expect(server.broker.granted.get("a")).toEqual(["example.org:443"]);
  projection.end("a");
  expect(server.broker.granted.size).toBe(0);
});

test("one call at a time: the next waits, is refused when given up, and what came before is not its own", async () => {
  open({ serial: true });
  void projection.begin("a", "read", plain);
  const second = projection.begin("b", "read", plain);
  const third = projection.begin("c", "read", plain);
  server.tracer.see({ path: "/project/a" });
  projection.end("b");
  projection.end("a");
  expect(await second).toMatchObject({ ok: false, error: expect.stringContaining("given up") });
  expect(await third).toEqual({ ok: true, value: undefined });
  server.tracer.see({ path: "/project/c" });
  projection.end("c");
  expect(paths(await projection.trace("c"))).toEqual(["call /project/c"]);
});

test("a call does not wait for its turn for ever", async () => {
  open({ serial: true });
  void projection.begin("a", "read", plain);
  const second = projection.begin("b", "read", plain);
  server.clock.move(120_000);
  expect(await second).toMatchObject({ ok: false, error: expect.stringContaining("too long") });
});

test("an overdue call is on record and reported, and stays open", async () => {
  const late: string[] = [];
  projection.onOverdue?.((call) => late.push(call));
  void projection.begin("a", "read", plain);
  server.clock.move(120_000);
  expect(late).toEqual(["a"]);
  projection.end("a");
  expect((await projection.trace("a")).events).toMatchObject([{ action: "limit-hit", detail: "callTimeoutMs" }]);
});

test("outside of calls only what is no noise is announced, at the pace of the idle look", () => {
  let told = 0;
  projection.onBackground(() => (told += 1));
  projection.listed();
  server.tracer.see({ path: "/project/x" });
  server.clock.move(500);
  expect(told).toBe(0);
  server.tracer.see({ path: "/project/x", action: "file-write" }, { path: "/home/ada/.ssh/id_rsa" });
  server.clock.move(500);
  expect(told).toBe(1);
});

test.each(["tracer", "broker"] as const)(
  "without its %s the projection ends: no call begins, no trace is complete",
  async (part) => {
    const waiting = ((): unknown => {
      open({ serial: true });
      void projection.begin("a", "read", plain);
      return projection.begin("b", "read", plain);
    })();
    server[part].failure = "it is gone";
    projection.end("a");
    expect(await projection.trace("a")).toMatchObject({
      complete: false,
      failure: expect.stringContaining("it is gone"),
    });
    expect(await waiting).toMatchObject({ ok: false });
    expect(projection.begin("c", "read", plain)).toMatchObject({ ok: false });
    expect(server.killed).toBe(0);
    server.clock.move(50);
    expect(server.killed).toBe(1);
    expect(projection.ending).toContain("it is gone");
  },
);

test("lost sightings make the call incomplete in which they were lost, and every later look a real one", async () => {
  void projection.begin("a", "read", plain);
  server.tracer.lost = 3;
  projection.end("a");
  expect((await projection.trace("a")).complete).toBe(false);
  expect(server.workspace.looks).toBe(1);
});

test("without a tracer nothing follows from silence", async () => {
  open({}, { tracer: undefined });
  void projection.begin("a", "read", plain);
  projection.end("a");
  expect(await projection.trace("a")).toMatchObject({ complete: false, events: [] });
  expect(server.workspace.looks).toBe(1);
});

test("the end of the server closes every part and keeps what nobody judged", async () => {
  void projection.begin("a", "write", plain);
  server.tracer.see({ action: "file-write", path: "/project/x" });
  server.workspace.write("x");
  server.exit();
  await server.ended;
  await projection.close();
  expect(server.workspace.did).toEqual(["keep run: x", "close"]);
  expect([server.tracer.closed, server.broker.closed, server.limits.closed]).toEqual([true, true, true]);
  expect(projection.ending).toBeUndefined();
  expect(server.clock.waiting).toBe(0);
  expect(projection.begin("b", "read", plain)).toMatchObject({ ok: false });
  expect(paths(await projection.trace("a"))).toEqual(["call /project/x"]);
});

const step = fc.record({
  kind: fc.constantFrom("begin" as const, "end" as const, "see" as const, "idle" as const),
  call: fc.integer({ min: 0, max: 3 }),
  count: fc.integer({ min: 0, max: 300 }),
});

test("law: every sighting ends in the traces of its calls, in the background, or is counted as dropped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      open();
      const running = new Set<number>();
      const began = new Set<number>();
      let outside = 0;
      const inside = new Map<number, number>();
      for (const { kind, call, count } of steps) {
        if (kind === "idle") server.clock.move(500);
        if (kind === "see") {
          server.tracer.see(...Array.from({ length: count }, (_, index) => ({ path: `/project/${call}/${index}` })));
          if (running.size === 0) outside += count;
          for (const one of running) inside.set(one, (inside.get(one) ?? 0) + count);
        }
        if (kind === "begin" && !began.has(call)) {
          void projection.begin(`${call}`, "read", plain);
          began.add(call);
          running.add(call);
        }
        if (kind === "end") {
          projection.end(`${call}`);
          running.delete(call);
        }
      }
      const total = ({ events, dropped }: EffectTrace): number => events.reduce((sum, one) => sum + one.count, dropped);
      expect(total(await projection.trace(undefined))).toBe(outside);
      for (const call of began) expect(total(await projection.trace(`${call}`))).toBe(inside.get(call) ?? 0);
    }),
    { numRuns: Math.min(runs, 400) },
  );
});
