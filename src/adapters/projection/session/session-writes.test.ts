import { beforeEach, expect, test } from "vitest";
import { FakeServer, orderWith, scopeText } from "../../../../test/kit/isolation/fake-parts.ts";
import type { Scope } from "../../../core/isolation/scope.ts";
import { type LaunchedProjection, openProjection } from "./projection-session.ts";
import { quietLooksMax } from "./session-limits.ts";

const plain = scopeText();

let server: FakeServer;
let projection: LaunchedProjection;

function open(workspace: Partial<Scope["files"]["workspace"]> = {}): void {
  server = new FakeServer();
  projection = openProjection(server.launched(), orderWith({}, workspace), { clock: server.clock });
}

beforeEach(() => open());

function writes(path: string, bytes = 1): void {
  server.tracer.see({ at: server.clock.now, action: "file-write", path: `/project/${path}` });
  server.workspace.write(path, bytes);
}

async function writing(call: string, path: string): Promise<readonly string[]> {
  void projection.begin(call, "write", plain);
  writes(path);
  projection.end(call);
  return (await projection.trace(call)).changes.map((change) => change.path);
}

test("a server that never wrote costs no look at its workspace", async () => {
  void projection.begin("a", "read", plain);
  server.tracer.see({ path: "/project/x" });
  projection.end("a");
  await projection.trace("a");
  expect(await projection.conclude("a", "commit")).toEqual({ ok: true, value: { committed: [], held: [] } });
  expect(server.workspace.looks).toBe(0);
});

test("where nothing sees the server, only the layer itself spares a look, and what it holds is told with the next call", async () => {
  server = new FakeServer();
  let untouched = true;
  Object.assign(server.workspace, { isUntouched: () => untouched });
  projection = openProjection(server.launched(), orderWith({ trace: "none" }), { clock: server.clock });
  const call = async (name: string): Promise<readonly string[]> => {
    void projection.begin(name, "read", plain);
    projection.end(name);
    return (await projection.trace(name)).changes.map((change) => change.path);
  };
  expect(await call("a")).toEqual([]);
  expect(server.workspace.looks).toBe(0);
  untouched = false;
  server.workspace.write("late");
  expect(await projection.conclude("a", "commit")).toEqual({ ok: true, value: { committed: [], held: [] } });
  expect(await call("b")).toEqual(["late"]);
  expect(await projection.conclude("b", "discard")).toMatchObject({ ok: true });
  expect(server.workspace.did[0]).toBe("discard b: late");
});

test("what a call wrote is told with it, and reaches the workspace by the verdict", async () => {
  expect(await writing("a", "x")).toEqual(["x"]);
  expect(await projection.conclude("a", "commit")).toEqual({ ok: true, value: { committed: ["x"], held: [] } });
  expect(await writing("b", "y")).toEqual(["y"]);
  await projection.conclude("b", "keep");
  expect(server.workspace.did).toEqual(["commit a: x", "keep b: y"]);
});

test("a write through a file that was opened before is found although no event tells of it", async () => {
  await writing("a", "x");
  await projection.conclude("a", "commit");
  void projection.begin("b", "read", plain);
  server.workspace.write("x", 2);
  projection.end("b");
  expect((await projection.trace("b")).changes).toMatchObject([{ path: "x", bytes: 2 }]);
});

test("a forged path does not keep the workspace from being looked at", async () => {
  void projection.begin("a", "read", plain);
  server.tracer.see({ action: "file-write", path: "/dev/null" });
  server.workspace.write("x");
  projection.end("a");
  expect((await projection.trace("a")).changes).toHaveLength(1);
});

test("attack: what is written between the trace and the verdict is kept for a person, not committed", async () => {
  await writing("a", "x");
  writes("late");
  expect(await projection.conclude("a", "commit")).toMatchObject({
    ok: true,
    value: { committed: [], held: [{ path: "x" }, { path: "late", reason: expect.any(String) }] },
  });
  expect(server.workspace.did).toEqual(["keep a: x late"]);
});

test("attack: the same file written again, with the same size, counts as late", async () => {
  await writing("a", "x");
  writes("x");
  await projection.conclude("a", "commit");
  expect(server.workspace.did).toEqual(["keep a: x"]);
});

test("writes outside of calls are told as background, and not once more as those of the next call", async () => {
  projection.listed();
  writes("log");
  expect((await projection.trace(undefined)).changes).toMatchObject([{ path: "log" }]);
  expect(await writing("a", "x")).toEqual(["x"]);
});

test("writes outside of calls that nobody asked about are told with the next call", async () => {
  projection.listed();
  writes("log");
  expect(await writing("a", "x")).toEqual(["log", "x"]);
});

test("after rejected writes the server has seen what is not: it is ended", async () => {
  await writing("a", "x");
  await projection.conclude("a", "discard");
  expect(server.workspace.did).toContain("discard a: x");
  expect([server.killed, projection.ending]).toEqual([1, expect.stringContaining("rejected")]);
});

test("a rejection without writes ends nobody", async () => {
  await writing("a", "x");
  await projection.conclude("a", "commit");
  void projection.begin("b", "read", plain);
  projection.end("b");
  await projection.trace("b");
  await projection.conclude("b", "discard");
  expect(server.killed).toBe(0);
});

test("the next call of a server that writes waits for the verdict on the last one", async () => {
  await writing("a", "x");
  let began = false;
  const second = Promise.resolve(projection.begin("b", "write", plain)).then(() => (began = true));
  await Promise.resolve();
  expect(began).toBe(false);
  await projection.conclude("a", "commit");
  await second;
  expect(began).toBe(true);
});

test("calls of a server that has written nothing for long may overlap again, until it writes", async () => {
  await writing("a", "x");
  await projection.conclude("a", "commit");
  for (let call = 0; call < quietLooksMax; call += 1) {
    expect(await projection.begin(`${call}`, "read", plain)).toEqual({ ok: true });
    projection.end(`${call}`);
    await projection.trace(`${call}`);
    await projection.conclude(`${call}`, "commit");
  }
  expect(projection.begin("b", "read", plain)).not.toBeInstanceOf(Promise);
  expect(projection.begin("c", "read", plain)).not.toBeInstanceOf(Promise);
  writes("y");
  projection.end("b");
  projection.end("c");
  expect(projection.begin("d", "read", plain)).toBeInstanceOf(Promise);
});

test("a verdict that does not come keeps the writes and lets the next call go on", async () => {
  await writing("a", "x");
  const second = projection.begin("b", "write", plain);
  server.clock.move(60_000);
  expect(await second).toMatchObject({ ok: true });
  expect(server.workspace.did).toEqual(["keep a: x"]);
  const held = [{ path: "x", reason: "no verdict came in time" }];
  expect(await projection.conclude("a", "commit")).toEqual({ ok: true, value: { committed: [], held } });
});

test("a verdict in time ends the wait for it, also where no event told of the write", async () => {
  void projection.begin("a", "write", plain);
  server.tracer.see({ action: "file-write", path: "/dev/null" });
  server.workspace.write("x");
  projection.end("a");
  await projection.trace("a");
  await projection.conclude("a", "commit");
  expect(await writing("b", "y")).toEqual(["y"]);
  server.clock.move(30_000);
  await projection.conclude("b", "commit");
  server.clock.move(60_000);
  expect(server.workspace.did).toEqual(["commit a: x", "commit b: y"]);
});

test("a trace that nobody asks for does not hold the next call up", async () => {
  await writing("a", "x");
  await projection.conclude("a", "commit");
  void projection.begin("b", "write", plain);
  projection.end("b");
  const third = projection.begin("c", "write", plain);
  server.clock.move(250);
  expect(await third).toMatchObject({ ok: true });
});

test("`per: run`: nothing reaches the workspace before the run ends, and then what was told", async () => {
  open({ per: "run" });
  expect(await writing("a", "x")).toEqual(["x"]);
  expect(await projection.conclude("a", "commit")).toEqual({ ok: true, value: { committed: [], held: [] } });
  expect(await writing("b", "y")).toEqual(["y"]);
  await projection.conclude("b", "commit");
  expect(server.workspace.did).toEqual([]);
  expect(await projection.flush?.()).toEqual({ ok: true, value: { committed: ["x", "y"], held: [] } });
});

test("`per: run`: the strictest verdict of its calls holds for the run", async () => {
  open({ per: "run" });
  await writing("a", "x");
  await projection.conclude("a", "keep");
  await writing("b", "y");
  await projection.conclude("b", "commit");
  await projection.flush?.();
  expect(server.workspace.did).toEqual(["keep run: x y"]);
});

test("D26: `per: run`: what a call is answered for is saved then, and not what a later call wrote over it", async () => {
  open({ per: "run" });
  await writing("a", "x");
  await projection.conclude("a", "commit");
  expect(server.workspace.saves).toEqual(["a: x"]);
  // Two calls in flight: the file that both wrote holds what the later one left there.
  await writing("b", "y");
  await writing("c", "y");
  await projection.conclude("b", "commit");
  await projection.conclude("c", "discard");
  expect(server.workspace.saves).toEqual(["a: x"]);
  expect(server.workspace.did).toEqual(["discard c: x y"]);
  // A call that wrote nothing has nothing to save; one for review is answered for as well.
  open({ per: "run", commit: "review" });
  void projection.begin("d", "read", plain);
  projection.end("d");
  await projection.trace("d");
  await projection.conclude("d", "commit");
  await writing("e", "x");
  await projection.conclude("e", "commit");
  expect(server.workspace.saves).toEqual(["e: x"]);
  for (const workspace of [{ per: "run", commit: "never" }, { per: "call" }] as const) {
    open(workspace);
    await writing("f", "x");
    await projection.conclude("f", "commit");
    expect(server.workspace.saves).toEqual([]);
  }
});

test("D26: `per: run`: a call whose writes cannot be saved is not answered for, and the run waits for review", async () => {
  open({ per: "run" });
  await writing("a", "x");
  server.workspace.fails = "The state folder is full.";
  expect(await projection.conclude("a", "commit")).toEqual({ ok: false, error: "The state folder is full." });
  server.workspace.fails = undefined;
  await projection.flush?.();
  expect(server.workspace.did).toEqual(["keep run: x"]);
});

test("`per: run`: a call without a verdict leaves everything to a person", async () => {
  open({ per: "run" });
  await writing("a", "x");
  await projection.flush?.();
  expect(server.workspace.did).toEqual(["keep run: x"]);
});

test("`commit: review` keeps, `commit: never` leaves writes where they are", async () => {
  open({ commit: "review" });
  await writing("a", "x");
  await projection.conclude("a", "commit");
  expect(server.workspace.did).toEqual(["keep a: x"]);
  open({ commit: "never" });
  await writing("a", "x");
  await projection.conclude("a", "commit");
  server.exit();
  await projection.close();
  expect(server.workspace.did).toEqual(["close"]);
});

test("a workspace that cannot be read makes the trace say so, and nothing is committed", async () => {
  server.workspace.fails = "The workspace is full.";
  void projection.begin("a", "write", plain);
  writes("x");
  projection.end("a");
  expect(await projection.trace("a")).toMatchObject({ complete: false, failure: "The workspace is full." });
  expect(await projection.conclude("a", "commit")).toEqual({ ok: false, error: "The workspace is full." });
});

test("attack: what is written between calls waits for a person, and no later call that passes takes it along", async () => {
  projection.listed();
  writes("planted");
  expect((await projection.trace(undefined)).changes).toMatchObject([{ path: "planted" }]);
  void projection.begin("a", "read", plain);
  server.tracer.see({ path: "/project/x" });
  projection.end("a");
  expect((await projection.trace("a")).changes).toEqual([]);
  await projection.conclude("a", "commit");
  expect(server.workspace.did).toEqual(["keep between calls: planted"]);
});

test("attack: `per: run`, what was written between calls leaves the run to a person", async () => {
  open({ per: "run" });
  await writing("a", "x");
  await projection.conclude("a", "commit");
  projection.listed();
  writes("planted");
  await projection.trace(undefined);
  await projection.flush?.();
  expect(server.workspace.did).toEqual(["keep run: x planted"]);
});

test("what a call writes while the time between calls is looked at stays its own", async () => {
  projection.listed();
  writes("x");
  const between = projection.trace(undefined);
  void projection.begin("a", "write", plain);
  expect((await between).changes).toEqual([]);
  projection.end("a");
  expect((await projection.trace("a")).changes).toMatchObject([{ path: "x" }]);
  await projection.conclude("a", "commit");
  expect(server.workspace.did).toEqual(["commit a: x"]);
});

test("a call that is looked at before it is over is judged once more by all that it wrote", async () => {
  void projection.begin("a", "write", plain);
  writes("x");
  expect((await projection.trace("a")).changes.map(({ path }) => path)).toEqual(["x"]);
  writes("y");
  projection.end("a");
  expect((await projection.trace("a")).changes.map(({ path }) => path)).toEqual(["x", "y"]);
  await projection.conclude("a", "commit");
  expect(server.workspace.did).toEqual(["commit a: x y"]);
});
