/** Calls in a projection: when the window opens and closes, what the evidence does, and what becomes of writes. */
import { describe, expect, it } from "vitest";
import { tracesFrom } from "../../core/isolation/effect-record.ts";
import { traceKey } from "../../core/isolation/effect-trace.ts";
import { settled } from "../../core/opinion.ts";
import { err, ok } from "../../core/result.ts";
import { FakeProjection, traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import { anyOrder } from "../../../test/kit/isolation/isolation-order.ts";
import { called, isolating, listening, result, staged } from "../../../test/kit/gateway/isolated-calls.ts";
import { callOf, setup } from "../../../test/kit/gateway/first-calls.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { Projections } from "../upstream/projection-registry.ts";
import { backgroundOf } from "./effect-window.ts";

describe("a call in its window", () => {
  it("is sent in the window, judged by what it did, and its writes reach the workspace before its result the agent", async () => {
    const told = await staged(isolating());
    expect(await called(told)).toMatchObject({ id: 1, result });
    expect(told.projection.did).toEqual(["begin read_file S", "end", "trace", "commit"]);
    expect(told.stage.log.entries.filter(({ notes }) => notes?.["moment"] === "projection")).toMatchObject([
      { notes: { server: "files", tier: "A", missing: [] } },
    ]);
    const answers = told.stage.log.entries.at(-1)?.plainAnswers ?? {};
    expect(Object.keys(answers)).toEqual([traceKey("files", told.projection.lastCall)]);
  });

  it("tells once what its server's isolation lacks here", async () => {
    const told = await staged(isolating(), { tier: "B", notes: ["install bubblewrap"] });
    await called(told);
    told.stage.client.say(callOf(2, "read_file"));
    await told.stage.settle();
    expect(told.stage.notices.filter((text) => text.includes("install bubblewrap"))).toEqual([
      "Server `files` runs in tier B: install bubblewrap",
    ]);
  });

  it.each([
    ["asks nothing", listening],
    ["asks its question", () => traceOf()],
  ])("its server %s by what the call did so far", async (what, traces) => {
    const told = await staged(isolating(), { traces });
    told.stage.client.say(callOf(1, "read_file"));
    await told.stage.settle();
    const params = { message: "what I have read", requestedSchema: { type: "object" } };
    told.stage.server.say({ id: 9, method: "elicitation/create", params });
    await told.stage.settle();
    expect(told.projection.did).toEqual(["begin read_file S", "trace"]);
    const shown = told.stage.client.got.some((message) => JSON.stringify(plain(message)).includes("what I have read"));
    expect(shown).toBe(what === "asks its question");
    const refused = told.stage.server.got.map(plain).filter((message) => JSON.stringify(message).includes('"error"'));
    expect(refused).toHaveLength(shown ? 0 : 1);
  });

  it("is not sent before the window is open, and not at all when it cannot be opened", async () => {
    let open: (opened: typeof told.projection.begins) => void = () => undefined;
    const told = await staged(isolating(), { begins: new Promise((resolve) => (open = resolve)) });
    told.stage.client.say(callOf(1, "read_file"));
    await told.stage.settle();
    expect(told.stage.server.got).toEqual([]);
    open(err("The server is busy. Try again."));
    await told.stage.settle();
    expect(told.stage.server.got).toEqual([]);
    expect(JSON.stringify(told.stage.client.got.map(plain))).toContain("The server is busy. Try again.");
    expect(told.stage.log.kinds().slice(-2)).toEqual(["failed", "released"]);
  });

  it("is never sent when the client gives it up while the window opens", async () => {
    let open: (opened: typeof told.projection.begins) => void = () => undefined;
    const told = await staged(isolating(), { begins: new Promise((resolve) => (open = resolve)) });
    told.stage.client.say(callOf(1, "read_file"));
    await told.stage.settle();
    told.stage.client.say({ method: "notifications/cancelled", params: { requestId: 1 } });
    open(ok(undefined));
    await told.stage.settle();
    expect(told.stage.server.got.map(({ kind }) => kind)).not.toContain("request");
    expect(told.projection.did).toEqual(["begin read_file S", "end"]);
  });

  it("without a projection is refused: what must be isolated does not run bare", async () => {
    const obligation = { kind: "isolate", scope: "S" } as const;
    const isolate = {
      consider: ({ moment }) => settled([], moment.kind === "call" ? [obligation] : []),
    } as FakeMechanism;
    const stage = new Stage({ policy: fakePolicy([isolate], { isolation: anyOrder }) });
    await play(stage, [...setup]);
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    expect(stage.server.got).toEqual([]);
    expect(stage.log.entries.at(-1)?.decision?.reasons.map(({ code }) => code)).toEqual(["SG-OBLIGATION"]);
  });

  it("that went out of scope gives no result, and its writes are thrown away", async () => {
    const told = await staged(isolating(), { traces: listening });
    const answer = JSON.stringify(await called(told));
    expect(answer).not.toContain("words");
    expect(answer).toContain("must not be repeated");
    expect(told.projection.did.at(-1)).toBe("discard");
    expect(told.stage.notices).toEqual([
      `Server \`files\`, a result was rejected: \`read_file\` listened (SG-TEST, decision ${told.projection.lastCall}). look at it.`,
    ]);
    expect(told.stage.gateway.state.admissions.epoch).toBe(0);
  });

  it("costs its server the admission and its life where the policy says so", async () => {
    const revoke = { kind: "revoke", server: "files", end: true, rule: "scope" } as const;
    const told = await staged(isolating("deny", [revoke]), { traces: listening });
    await called(told);
    expect(told.projection.did).toContain("kill: it went out of its scope");
    expect(told.stage.gateway.state.admissions.epoch).toBe(1);
    expect(told.stage.notices.join(" ")).toContain("its tools are hidden");
  });

  it("whose result waits for consent has its writes kept, and is opened by the same evidence", async () => {
    const told = await staged(isolating("confirm"), { traces: listening });
    expect(JSON.stringify(await called(told))).not.toContain("words");
    expect(told.projection.did.at(-1)).toBe("keep");
    const asked = told.projection.did.length;
    told.stage.client.say(callOf(2, "read_file"));
    await told.stage.settle();
    expect(told.projection.did.length).toBe(asked);
  });
});

describe("a call that asks before it goes on", () => {
  const params = { message: "sure?", requestedSchema: { type: "object", properties: {} } };
  const inputRequests = { q: { method: "elicitation/create", params } };
  const asking = { resultType: "input_required", inputRequests, requestState: "x" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const call = { id: 1, method: "tools/call", params: { name: "read_file", arguments: {}, _meta } };

  it("stays in one window until it is over", async () => {
    const { stage, projection } = await staged(isolating());
    stage.client.say(call);
    await stage.settle();
    stage.server.say({ id: 1, result: asking });
    await stage.settle();
    expect(projection.did).toEqual(["begin read_file S", "trace"]);
    const more = { requestState: "x", inputResponses: { q: { action: "accept", content: {} } } };
    stage.client.say({ ...call, id: 2, params: { ...call.params, ...more } });
    await stage.settle();
    stage.server.say({ id: 2, result: { ...result, resultType: "complete" } });
    await stage.settle();
    expect(projection.did).toEqual(["begin read_file S", "trace", "end", "trace", "commit"]);
    expect(JSON.stringify(stage.client.got.map(plain))).toContain("words");
  });

  it("attack: has its question judged by what it did so far, since a question can carry a whole result", async () => {
    const { stage, projection } = await staged(isolating(), { traces: listening });
    stage.client.say(call);
    await stage.settle();
    stage.server.say({ id: 1, result: { ...asking, ...result } });
    await stage.settle();
    expect(JSON.stringify(stage.client.got.map(plain))).not.toContain("words");
    expect(projection.did).toEqual(["begin read_file S", "trace", "end", "trace", "keep"]);
  });

  it("attack: that calls its result a task has it judged by what it did so far", async () => {
    const told = await staged(isolating(), { traces: listening });
    told.stage.client.say(callOf(1, "read_file"));
    await told.stage.settle();
    told.stage.server.say({ id: 1, result: { ...result, task: { taskId: "t", status: "working" } } });
    await told.stage.settle();
    expect(told.stage.client.got.length).toBeGreaterThan(0);
    expect(JSON.stringify(told.stage.client.got.map(plain))).not.toContain("words");
  });

  it("and never goes on is ended when its time is over", async () => {
    const { stage, projection } = await staged(isolating());
    stage.client.say(call);
    await stage.settle();
    stage.server.say({ id: 1, result: asking });
    await stage.settle();
    projection.overdue(projection.lastCall);
    await stage.settle();
    expect(projection.did).toEqual(["begin read_file S", "trace", "end", "keep"]);
  });
});

describe("what a call wrote", () => {
  it("and could not be taken over is told to the agent in place of a result that says it was", async () => {
    const held = [{ path: "a.txt", reason: "changed outside meanwhile" }];
    const told = await staged(isolating(), { concludes: ok({ committed: [], held }) });
    const answer = JSON.stringify(await called(told));
    expect(answer).not.toContain("words");
    expect(answer).toContain("a.txt: changed outside meanwhile");
    expect(answer).toContain("sluicegate changes");
    const failing = await staged(isolating(), { concludes: err("the disk is full") });
    expect(JSON.stringify(await called(failing))).toContain("the disk is full");
  });

  it("and waits for a person as the policy wants is a note beside the result", async () => {
    const held = ["a", "b", "c", "d", "e", "f"].map((path) => ({ path }));
    const told = await staged(isolating(), { concludes: ok({ committed: ["z"], held }) });
    const answer = JSON.stringify(await called(told));
    expect(answer).toContain("words");
    expect(answer).toContain("a, b, c, d, e and 1 more waits for review");
    expect(told.stage.log.entries.at(-1)?.notes).toMatchObject({ moment: "workspace", committed: 1 });
  });

  it("is kept when nobody will learn its outcome: server gone, or beyond the time of its scope", async () => {
    const told = await staged(isolating());
    told.stage.client.say(callOf(1, "read_file"));
    await told.stage.settle();
    told.projection.overdue("no such call");
    told.projection.overdue(told.projection.lastCall);
    await told.stage.settle();
    // Of a call that nobody waits for any more the projection is ended, and what it wrote is kept.
    expect(told.projection.did).toEqual(["begin read_file S", "end", "keep", "end", "trace", "keep"]);
    expect(told.stage.server.got.map(plain)).toContainEqual(
      expect.objectContaining({ method: "notifications/cancelled" }),
    );
    expect(told.stage.log.kinds()).toContain("unknown");
    told.stage.client.say(callOf(2, "read_file"));
    await told.stage.settle();
    told.stage.server.handler.closed("it crashed");
    await told.stage.settle();
    expect(told.projection.did.slice(6)).toEqual(["begin read_file S", "end", "trace", "keep"]);
  });

  it("attack: is judged although its server falls silent or ends after it, and costs what an answer would have", async () => {
    const revoke = { kind: "revoke", server: "files", end: false, rule: "scope" } as const;
    for (const over of ["overdue", "closed"] as const) {
      const told = await staged(isolating("deny", [revoke], "SG-SCOPE-NET"), { traces: listening });
      told.stage.client.say(callOf(1, "read_file"));
      await told.stage.settle();
      if (over === "overdue") told.projection.overdue(told.projection.lastCall);
      else told.stage.server.handler.closed("it crashed");
      await told.stage.settle();
      expect(told.stage.log.kinds().slice(-2)).toEqual(["unknown", "released"]);
      expect(told.stage.gateway.state.admissions.epoch).toBe(1);
      expect(told.projection.did).toContain("keep");
    }
  });

  it("in a whole run is decided when the run ends", async () => {
    const told = await staged(isolating(), { flushes: ok({ committed: [], held: [{ path: "a" }] }) });
    await called(told);
    const [live] = told.stage.gateway.runs.all();
    if (live === undefined) throw new Error("no run");
    await told.stage.gateway.runs.end(live, "closed");
    expect(told.projection.did).toContain("flush");
    expect(told.stage.notices.join(" ")).toContain("some writes wait for review");
  });
});

describe("what happens outside of calls", () => {
  it("is nobody's business who runs the server for somebody else, or under another order", () => {
    const all = new Projections();
    const [mine, theirs, otherwise] = [new FakeProjection(), new FakeProjection(), new FakeProjection()];
    const owner = { server: "files", principal: "ada", order: anyOrder.digest };
    all.add(mine, owner);
    all.add(theirs, { ...owner, principal: "eve" });
    all.add(otherwise, { ...owner, order: "another" });
    const policy = fakePolicy([], { isolation: anyOrder });
    expect(all.usedBy({ principal: "ada", policy }, "files")).toEqual([mine]);
    expect(all.usedBy({ principal: "ada", policy }, "mail")).toEqual([]);
    expect(all.all()).toHaveLength(3);
  });

  it("is judged when it happens, and costs the server its admission", async () => {
    const told = await staged(isolating("deny", [{ kind: "revoke", server: "files", end: true, rule: "r" }]));
    await called(told);
    told.projection.traces = () => traceOf([{ action: "net-listen", phase: "background" }]);
    told.projection.background();
    await told.stage.settle();
    expect(told.stage.gateway.state.admissions.epoch).toBe(1);
    expect(told.projection.did).toContain("kill: it went out of its scope");
  });

  it("is on record, also where nobody objects to it", async () => {
    const told = await staged(isolating());
    await called(told);
    const before = told.stage.log.entries.length;
    told.projection.traces = () => traceOf([{ action: "file-read", phase: "background", path: "/project/x" }]);
    told.projection.background();
    await told.stage.settle();
    const [entry, ...more] = told.stage.log.entries.slice(before);
    expect(more).toEqual([]);
    expect(entry?.notes).toMatchObject({ moment: "reflect", server: "files" });
    expect(JSON.stringify(entry?.answers)).toContain("/project/x");
    expect(told.stage.notices).toEqual([]);
  });

  it("of several processes of one server stays apart, so that none can crowd out another", async () => {
    const many = Array.from({ length: 256 }, (_, index) => ({ path: `/project/${index}` }));
    const busy = Object.assign(new FakeProjection(), { traces: () => traceOf(many) });
    const deed = { action: "net-listen", phase: "background" } as const;
    const bad = Object.assign(new FakeProjection(), { traces: () => traceOf([deed], { failure: "gone" }) });
    const background = await backgroundOf([busy, bad], "files");
    const answer = background?.known.get(traceKey("files", undefined));
    const traces = answer?.kind === "known" ? tracesFrom(answer.value) : undefined;
    expect(traces?.map(({ events }) => events.length)).toEqual([256, 1]);
    expect(traces?.[1]).toMatchObject({ failure: "gone", events: [deed] });
  });

  it("of a server that ended is nobody's any more", async () => {
    const told = await staged(isolating());
    expect(told.stage.gateway.state.projections.all("files").map(([, one]) => one)).toEqual([told.projection]);
    told.stage.server.handler.closed("over");
    expect(told.stage.gateway.state.projections.all("files").map(([, one]) => one)).toEqual([]);
  });

  it("answers a request whose server ends while it is looked back at", async () => {
    let tell: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (tell = resolve));
    const projection = new FakeProjection();
    projection.trace = () => asked.then(() => traceOf());
    const stage = new Stage({ policy: fakePolicy([isolating()], { isolation: anyOrder }), projection });
    stage.client.say({ id: 1, method: "initialize", params: {} });
    await stage.settle();
    stage.server.handler.closed("It ended by itself.");
    tell();
    await stage.settle();
    expect(stage.client.got.map(plain)).toMatchObject([
      { id: 1, error: { message: expect.stringContaining("is not running. It ended by itself.") } },
    ]);
  });
});
