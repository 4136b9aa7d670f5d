// A conversation outlives processes, ends of sessions and restarts of the gateway: what restricted it before restricts it
// after (gateway.md 4).
import { describe, expect, it } from "vitest";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { fakePolicy, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { fetches, read, restarted, rules, stateOf, tell, who } from "../../../test/kit/gateway/resumed.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import { threeTools } from "../../../test/kit/gateway/stage-tools.ts";

describe("a conversation that is resumed", () => {
  it.each([["in a new process", 8] as const, ["in the same one", 7] as const])(
    "%s holds what it held, after an end of the session or without one",
    async (_where, pid) => {
      for (const ends of [true, false]) {
        const stage = await restarted(new FakeLog());
        await read(stage, who(7));
        expect(await fetches(stage, who(7))).toBe("deny");
        if (ends) await tell(stage, who(7), "session-end");
        await tell(stage, who(pid), "session-start");
        expect(await fetches(stage, who(pid))).toBe("deny");
      }
    },
  );

  it("holds it over restarts of the gateway, ended or not, also when nobody moved in between", async () => {
    for (const ends of [true, false]) {
      const log = new FakeLog();
      const before = await restarted(log);
      await read(before, who(7));
      if (ends) await tell(before, who(7), "session-end");
      const once = await restarted(log);
      await tell(once, who(8), "session-start");
      if (ends) await tell(once, who(8), "session-end");
      expect(await fetches(await restarted(log), who(9))).toBe("deny");
    }
  });

  it("inherits each call once, however often it is resumed", async () => {
    const log = new FakeLog();
    for (let pid = 1; pid <= 6; pid += 1) {
      const stage = pid % 2 === 0 ? new Stage({ policy: fakePolicy([rules]), log }) : await restarted(log);
      stage.clock.pass(pid);
      await read(stage, who(pid), "read_file");
      if (pid % 3 === 0) await tell(stage, who(pid), "session-end");
    }
    const stage = await restarted(log);
    await tell(stage, who(7), "session-start");
    expect(stateOf(stage, "os:1000/process:7@1/talk")?.allowed).toHaveLength(6);
    const whole = await log.whole("os:1000/process:7@1/talk");
    expect(whole.filter(({ kind }) => kind === "released")).toHaveLength(6);
    // Runs whose facts were taken over are not asked again, or every resume would read more than the one before.
    const ended = [...log.runs.values()].filter(({ endedWallMs }) => endedWallMs !== undefined);
    expect(ended.map(({ key, resume }) => [key.slice(-8), resume["spent"]])).toEqual([
      ["3@1/talk", true],
      ["6@1/talk", true],
    ]);
  });

  it("takes along what restricts, and nothing that permits", async () => {
    const stage = await restarted(new FakeLog());
    await stage.gateway.hostEvent(who(7), { kind: "prompt", text: "mail bob" });
    await read(stage, who(7), "read_file");
    await tell(stage, who(8), "session-start");
    expect(stateOf(stage, "os:1000/process:8@1/talk")).toMatchObject({ succeeded: [], allowed: ["read_file"] });
    const whole = await stage.log.whole("os:1000/process:8@1/talk");
    expect(whole.map(({ kind }) => kind)).toEqual(["begun", "dispatched", "unknown", "released"]);
  });

  it("is no other conversation, and nobody else's", async () => {
    const stage = await restarted(new FakeLog());
    await read(stage, who(7, "one/talk"));
    await read(stage, who(7, "talk", "os:1000/process:3@1"));
    expect(await fetches(stage, who(8, "talk"))).toBe("allow");
    expect(await fetches(stage, who(8, "one/talk", "os:1001"))).toBe("allow");
    expect(await fetches(stage, who(8, "one/talk"))).toBe("deny");
  });

  it("with a client that names no process, too", async () => {
    const { process: _none, ...user } = who(7);
    const stage = await restarted(new FakeLog());
    await read(stage, user);
    await tell(stage, user, "session-end");
    expect(await fetches(stage, user)).toBe("deny");
    expect(await fetches(stage, who(8))).toBe("deny");
  });

  it("of which a history cannot be read is at its worst, over every restart", async () => {
    const log = new FakeLog();
    const before = await restarted(log);
    await read(before, who(7), "read_file");
    await tell(before, who(7), "session-end");
    const whole = log.port;
    const lost = { ok: false, error: "damaged" } as const;
    const replay = async (run: string, bits: typeof lattice) => (run.includes(":7@") ? lost : whole.replay(run, bits));
    Object.defineProperty(log, "port", { value: { ...whole, replay } });
    expect(await fetches(await restarted(log), who(8))).toBe("deny");
    Object.defineProperty(log, "port", { value: whole });
    const after = await restarted(log);
    expect(await fetches(after, who(8))).toBe("deny");
    await tell(after, who(8), "session-end");
    expect(await fetches(after, who(9))).toBe("deny");
    expect(stateOf(after, "os:1000/process:9@1/talk")).toMatchObject({ top: true });
  });

  it("of which the store does not say what there was is at its worst", async () => {
    const log = new FakeLog();
    await read(await restarted(log), who(7));
    const failing = { ...log.port.store, runsEnding: async () => ({ ok: false, error: {} }) as never };
    Object.defineProperty(log, "port", { value: { ...log.port, store: failing } });
    const stage = await restarted(log);
    expect(await fetches(stage, who(8))).toBe("deny");
    expect(stateOf(stage, "os:1000/process:8@1/talk")).toMatchObject({ top: true });
  });

  it("that the policy ended stays ended, until it is cleared", async () => {
    const stage = await restarted(new FakeLog());
    await stage.gateway.hostEvent(who(7), { kind: "before-tool", tool: "end_it", arguments: {} });
    await tell(stage, who(7), "session-end");
    expect(await fetches(stage, who(8))).toBe("deny");
    await tell(stage, who(8), "session-end");
    expect(await fetches(await restarted(stage.log), who(8))).toBe("deny");
    await tell(stage, who(9), "session-clear");
    expect(await fetches(stage, who(9))).toBe("allow");
  });
});

describe("two processes in one conversation", () => {
  it("hear of each other what restricts, and a third hears of both", async () => {
    const stage = await restarted(new FakeLog());
    await tell(stage, who(7), "session-start");
    await tell(stage, who(8), "session-start");
    await read(stage, who(7));
    expect(await fetches(stage, who(8))).toBe("deny");
    expect(await fetches(stage, who(9, "else"))).toBe("allow");
    await tell(stage, who(7), "session-end");
    await read(stage, who(8), "read_file");
    await tell(stage, who(8), "session-end");
    await tell(stage, who(9), "session-start");
    expect(stateOf(stage, "os:1000/process:9@1/talk")).toMatchObject({
      held: lattice.top,
      allowed: ["read_secret", "read_file"],
    });
  });

  it("hear of it although one of them did nothing since the gateway started", async () => {
    const log = new FakeLog();
    const before = await restarted(log);
    await tell(before, who(7), "session-start");
    await tell(before, who(8), "session-start");
    const stage = await restarted(log);
    await read(stage, who(8));
    expect(stage.gateway.runs.find("os:1000/process:7@1/talk")).toBeUndefined();
    expect(await fetches(stage, who(7))).toBe("deny");
    expect(await fetches(await restarted(log), who(7))).toBe("deny");
  });

  it("that begin in the same moment miss nothing of each other", async () => {
    const stage = await restarted(new FakeLog());
    await read(stage, who(7), "read_file");
    await Promise.all([read(stage, who(8)), tell(stage, who(9), "session-start"), read(stage, who(7), "read_note")]);
    expect(await fetches(stage, who(9))).toBe("deny");
    expect(await fetches(stage, who(7))).toBe("deny");
    const allowed = stateOf(stage, "os:1000/process:9@1/talk")?.allowed ?? [];
    expect(allowed.toSorted()).toEqual(["read_file", "read_note", "read_secret"]);
  });
});

it("what a relative tells a run while that is folded under a new policy is not lost", async () => {
  const log = new FakeLog();
  const stage = await restarted(log);
  await tell(stage, who(7), "session-start");
  await tell(stage, who(8), "session-start");
  const whole = { ...log.port };
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const replay: typeof whole.replay = async (run, bits) => {
    const history = await whole.replay(run, bits);
    if (run.includes(":7@")) await gate;
    return history;
  };
  Object.assign(log.port, { replay });
  stage.load(fakePolicy([rules], { digest: "policy-2" }));
  await stage.settle();
  await read(stage, who(8));
  open();
  await stage.settle();
  expect(await fetches(stage, who(7))).toBe("deny");
  expect(stateOf(stage, "os:1000/process:7@1/talk")).toMatchObject({ held: lattice.top, allowed: ["read_secret"] });
});

describe("what begins clean", () => {
  it("a cleared conversation, under a new name or the old one; others of it keep what they hold", async () => {
    for (const session of ["talk", "next"]) {
      const log = new FakeLog();
      const stage = await restarted(log);
      await read(stage, who(6));
      await tell(stage, who(6), "session-end");
      await read(stage, who(7));
      await tell(stage, who(8), "session-start");
      await tell(stage, who(8, session), "session-clear");
      expect(await fetches(stage, who(8, session))).toBe("allow");
      expect(await fetches(stage, who(7))).toBe("deny");
      const again = await restarted(log);
      expect(await fetches(again, who(8, session))).toBe("allow");
      expect(await fetches(again, who(7))).toBe("deny");
      expect(await fetches(again, who(9, session))).toBe("allow");
      await read(again, who(7));
      expect(await fetches(again, who(9, session))).toBe("allow");
    }
  });

  it("a conversation whose runs a person ended, taken up or not", async () => {
    const log = new FakeLog();
    const stage = await restarted(log);
    await read(stage, who(6));
    await tell(stage, who(6), "session-end");
    expect(await fetches(stage, who(7))).toBe("deny");
    for (const live of Array.from(stage.gateway.runs.all())) await stage.gateway.runs.end(live, "operator");
    expect(await fetches(stage, who(7))).toBe("allow");
    await read(stage, who(7));
    const again = await restarted(log);
    expect(await again.gateway.runs.endDormant("os:1000/process:7@1/talk", "operator")).toBe(true);
    expect(await fetches(again, who(7))).toBe("allow");
  });

  it("not one that was idle for too long: its client remembers", async () => {
    const stage = await restarted(new FakeLog());
    await read(stage, who(7));
    stage.clock.pass(8 * 3_600_000);
    await stage.gateway.expire();
    expect([...stage.gateway.runs.all()]).toEqual([]);
    expect(await fetches(stage, who(7))).toBe("deny");
  });
});

it("a new session of a principal continues one that nobody took up since a restart", async () => {
  const http = { transport: "http", process: undefined } as never;
  const log = new FakeLog();
  const before = new Stage({ policy: fakePolicy([rules]), facts: http, log });
  await callTool(before, before.connect({ sessionId: "one" }), "read_secret");
  const stage = new Stage({ policy: fakePolicy([rules]), facts: http, log });
  await stage.gateway.restore();
  expect((await callTool(stage, stage.connect({ sessionId: "two" }), "send_mail")).refused).toBe(true);
});

it("a new session of many is told by one what all of them hold", async () => {
  const http = { transport: "http", process: undefined } as never;
  const log = new FakeLog();
  const stage = new Stage({ policy: fakePolicy([rules]), facts: http, log });
  for (let count = 0; count < 70; count += 1) {
    stage.connect({ sessionId: `s${count}` }).say({ id: 1, method: "tools/list", params: {} });
    await stage.settle();
  }
  await callTool(stage, stage.connect({ sessionId: "s40" }), "read_secret", threeTools);
  const again = new Stage({ policy: fakePolicy([rules]), facts: http, log });
  await again.gateway.restore();
  for (const one of [stage, again]) {
    expect((await callTool(one, one.connect({ sessionId: "new" }), "send_mail", threeTools)).refused).toBe(true);
    expect(stateOf(one, "os:1000/session:new")).toMatchObject({ held: lattice.top, top: false });
  }
});
