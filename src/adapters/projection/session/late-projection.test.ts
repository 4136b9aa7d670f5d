import { expect, test } from "vitest";
import { FakeProjection, traceOf } from "../../../../test/kit/isolation/fake-projection.ts";
import { scopeText } from "../../../../test/kit/isolation/fake-parts.ts";
import { LateProjection } from "./late-projection.ts";
import { bareProjection, remoteProjection } from "./stand-ins.ts";

const plain = scopeText();

test("a call waits for the server and then for its projection; until then nothing is claimed", async () => {
  const late = new LateProjection();
  const inner = new FakeProjection();
  expect([late.tier, late.notes.length]).toEqual(["none", 1]);
  const begun = late.begin("a", "read", plain);
  expect(await late.trace(undefined)).toMatchObject({ complete: true, events: [], changes: [] });
  inner.traces = () => traceOf([{ path: "/x" }]);
  late.launched(inner);
  expect(await begun).toEqual({ ok: true, value: undefined });
  expect((await late.trace(undefined)).events).toHaveLength(1);
  expect([late.tier, late.notes]).toEqual(["A", []]);
  expect(late.begin("b", "read", plain)).toEqual({ ok: true, value: undefined });
  late.end("b");
  await late.conclude("b", "commit");
  await late.flush();
  const begin = `begin read ${plain}`;
  expect(inner.did).toEqual([begin, "background", begin, "end", "commit", "flush"]);
});

test("a server that never gets there refuses its calls with the reason", async () => {
  const late = new LateProjection();
  const begun = late.begin("a", "read", plain);
  late.failed("It needs tier A.");
  expect(await begun).toEqual({ ok: false, error: "It needs tier A." });
  expect(late.begin("b", "read", plain)).toEqual({ ok: false, error: "It needs tier A." });
  expect(await late.trace("a")).toMatchObject({ complete: false, failure: "It needs tier A." });
  expect(await late.conclude("a", "commit")).toEqual({ ok: true, value: { committed: [], held: [] } });
  expect(await late.flush()).toEqual({ ok: true, value: { committed: [], held: [] } });
  expect(late.notes).toEqual(["It needs tier A."]);
});

test("a call that is given up before the server runs never reaches it", async () => {
  const late = new LateProjection();
  const inner = new FakeProjection();
  const begun = late.begin("a", "read", plain);
  late.end("a");
  late.launched(inner);
  expect(await begun).toMatchObject({ ok: false });
  expect(inner.did).toEqual([]);
});

test("a kill that comes before the server ends it as soon as it is there", async () => {
  const late = new LateProjection();
  const inner = new FakeProjection();
  const begun = late.begin("a", "read", plain);
  late.kill("out of scope");
  late.launched(inner);
  expect(inner.did).toEqual(["kill: out of scope"]);
  expect(await begun).toEqual({ ok: false, error: "out of scope" });
});

test("listeners that came early hear the projection", () => {
  const late = new LateProjection();
  const inner = new FakeProjection();
  const heard: string[] = [];
  late.onBackground(() => heard.push("background"));
  late.onOverdue((call) => heard.push(call));
  late.launched(inner);
  inner.background();
  inner.overdue("a");
  expect(heard).toEqual(["background", "a"]);
});

test("a server without isolation answers like one, and its traces say that nobody looked", async () => {
  const killed: string[] = [];
  const bare = bareProjection({ tier: "none", notes: ["off"], order: "order-1" }, (reason) => killed.push(reason));
  expect(bare.begin("a", "read", plain)).toEqual({ ok: true, value: undefined });
  expect(bare.begin("a", "read", plain.replace("order-1", "order-2"))).toMatchObject({ ok: false });
  expect(bare.begin("a", "read", "{}")).toMatchObject({ ok: false });
  bare.end("a");
  expect(await bare.trace("a")).toMatchObject({ tier: "none", complete: false, events: [], changes: [] });
  expect(await bare.conclude("a", "discard")).toEqual({ ok: true, value: { committed: [], held: [] } });
  bare.kill("enough");
  bare.kill("again");
  expect(killed).toEqual(["enough"]);
  expect(bare.begin("b", "read", plain)).toMatchObject({ ok: false });
});

test("no order reaches a server elsewhere", () => {
  const remote = remoteProjection(() => undefined);
  expect(remote.tier).toBe("remote");
  expect(remote.begin("a", "read", plain.replace("order-1", "order-2"))).toEqual({ ok: true, value: undefined });
});
