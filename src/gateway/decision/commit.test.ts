// Every guard against every attendance, as commitCall enforces them.
import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import { type Opinion, settled } from "../../core/opinion.ts";
import { FakeProjection } from "../../../test/kit/isolation/fake-projection.ts";
import { anyOrder } from "../../../test/kit/isolation/isolation-order.ts";
import {
  type FakeMechanism,
  type PolicyChanges,
  fakePolicy,
  fakeState,
  lattice,
} from "../../../test/kit/gateway/fake-policy.ts";
import { type Says, hold, hook, must, saying, Scenario } from "../../../test/kit/gateway/commit-scenario.ts";
import { plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { setup } from "../../../test/kit/gateway/first-calls.ts";
import type { OwedCall } from "../ports/policy.ts";
import type { Attendance } from "./attendance.ts";

const names: readonly Attendance[] = ["client", "outbox", "injected", "compensation", "hook", "client-data"];

/** The fake model shares what this tool or method does with all runs of its owner. */
const tool = "write_store";
const given = { path: "/state" };
const end = { kind: "end-run", rule: "R4" } as const;

type Way = {
  readonly policy: (extra: Says) => Parameters<typeof saying>[0];
  /** Brings the call about, with a trigger before its commit; true where it was sent, or its client may execute it. */
  readonly attempt: (scenario: Scenario, arm: () => Promise<void>) => Promise<boolean>;
  readonly origin?: { readonly server?: string; readonly method: string };
  readonly owed?: readonly OwedCall[];
};

const nothing = async (): Promise<void> => {};

const sent = ({ reached }: Scenario): boolean => reached.includes(tool);

/** How a call of each attendance comes about, once a file was read. */
const ways: Readonly<Record<Attendance, Way>> = {
  client: {
    policy: (extra) => ({ [tool]: extra }),
    attempt: async (scenario, arm) => {
      await arm();
      await scenario.call(tool, given);
      return sent(scenario);
    },
  },
  outbox: {
    policy: (extra) => ({
      [tool]: (q) => (q.allowed.includes("free") ? extra : q.allowed.length > 0 ? { obligations: [hold] } : {}),
    }),
    attempt: async (scenario, arm) => {
      await scenario.call(tool, given);
      await arm();
      await scenario.call("free");
      return sent(scenario);
    },
  },
  injected: {
    policy: (extra) => ({ send_mail: { obligations: [{ ...must, tool, arguments: given }] }, [tool]: extra }),
    attempt: async (scenario, arm) => {
      await arm();
      await scenario.call("send_mail");
      return sent(scenario);
    },
  },
  compensation: {
    policy: (extra) => ({ [tool]: extra }),
    attempt: async (scenario, arm) => {
      await arm();
      const { stage, live } = scenario;
      const ending = stage.gateway.runs.end(live, "closed");
      await scenario.run();
      await ending;
      return sent(scenario);
    },
    owed: [{ rule: "R9", server: "files", tool, arguments: given }],
  },
  hook: {
    policy: (extra) => ({ [tool]: extra }),
    attempt: async ({ stage }, arm) => {
      await arm();
      const facts = { ...hook, process: { pid: 7, startedAt: "1" } };
      return (
        (await stage.gateway.hostEvent(facts, { kind: "before-tool", tool, arguments: given })).verdict === "allow"
      );
    },
    origin: { server: "host:claude", method: "host/tool" },
  },
  "client-data": {
    policy: (extra) => ({ [tool]: extra }),
    attempt: async (scenario, arm) => {
      await arm();
      await scenario.notify(tool, given);
      return scenario.reached.includes(tool);
    },
    origin: { method: tool },
  },
};

type Trigger = "nothing" | "selfProtection" | "inDoubt" | "otherRuns" | "runEnd" | "hold";

const extras: Partial<Record<Trigger, Says>> = { runEnd: { obligations: [end] }, hold: { obligations: [hold] } };

async function isSent(attendance: Attendance, trigger: Trigger): Promise<boolean> {
  const { policy, attempt, origin, owed = [] } = ways[attendance];
  const reason = { mechanism: "fake", code: "SG-OTHER-RUN", verdict: "deny", facts: {} } as const;
  const regulation: PolicyChanges["regulation"] = {
    sharedVerdict: (moved, other) =>
      fakeState(moved).shared > 0 && fakeState(other).held === lattice.top
        ? { verdict: "deny", reason }
        : { verdict: "allow", reason: undefined },
  };
  const scenario = new Scenario(saying(policy(extras[trigger] ?? {}), { regulation, owed }));
  await scenario.call("read_file");
  const { live } = scenario;
  const arm = async (): Promise<void> => {
    if (trigger === "inDoubt") scenario.doubt(tool, given, origin, live.key);
    if (trigger === "selfProtection") {
      const touched = () => ({ place: "/state", stake: "kept" }) as const;
      const onlyThis = (call: { readonly contract: ToolContract }) =>
        call.contract.tool === tool ? touched() : undefined;
      Object.assign(scenario.stage.gateway.state.services, {
        selfProtection: { touched: onlyThis, holds: () => false },
      });
    }
    if (trigger === "otherRuns") {
      const second = scenario.stage.connect({ process: { pid: 8, startedAt: "1" } });
      second.say({ id: 90, method: "tools/call", params: { name: "read_secret", arguments: {} } });
      await scenario.run();
    }
  };
  const went = await attempt(scenario, arm);
  if (trigger === "runEnd") expect(live.ended).toBe(true);
  return went;
}

describe.each(names)("a call of the attendance %s", (attendance) => {
  const stops = (trigger: Trigger): boolean =>
    trigger !== "inDoubt" || (attendance !== "injected" && attendance !== "client-data");

  it("is sent where no guard objects", async () => expect(await isSent(attendance, "nothing")).toBe(true));

  it.each(["selfProtection", "inDoubt", "otherRuns", "runEnd", "hold"] as const)("%s", async (trigger) => {
    expect(await isSent(attendance, trigger)).toBe(!stops(trigger));
  });
});

describe("calls that no approver can be asked about", () => {
  it.each(["outbox", "injected", "compensation", "client-data"] as const)(
    "%s: is refused on record",
    async (attendance) => {
      const { policy, attempt, owed = [] } = ways[attendance];
      const scenario = new Scenario(saying(policy({ verdict: "confirm" }), { owed }));
      await scenario.call("read_file");
      expect(await attempt(scenario, nothing)).toBe(false);
      expect(scenario.refusals()[0]).toEqual(["SG-TEST"]);
      expect(scenario.stage.log.approvals.size).toBe(0);
    },
  );

  it.each(["injected", "compensation", "hook", "client-data"] as const)(
    "%s: what cannot wait is refused on record",
    async (attendance) => {
      const { policy, attempt, owed = [] } = ways[attendance];
      const scenario = new Scenario(saying(policy({ obligations: [hold] }), { owed }));
      await scenario.call("read_file");
      expect(await attempt(scenario, nothing)).toBe(false);
      expect(scenario.refusals()[0]).toEqual(["SG-OBLIGATION"]);
    },
  );
});

describe("what must be isolated", () => {
  it("data of a client whose projection ends while it is decided is refused", async () => {
    const question = {
      key: "k",
      mechanism: "fake-0",
      kind: "k",
      content: {},
      mode: "advisory",
      without: "allow",
    } as const;
    const asks: FakeMechanism = {
      consider: ({ moment }, _run, _memory, answers): Opinion => {
        if (moment.kind !== "call") return settled([]);
        if (!answers.has("k")) return { kind: "needs", questions: [question] };
        return settled([], [{ kind: "isolate", scope: "S" }]);
      },
    };
    const projection = new FakeProjection();
    const ends = { now: false };
    const stage: Stage = new Stage({
      policy: fakePolicy([asks], { isolation: anyOrder }),
      projection,
      oracle: async () => {
        if (ends.now) stage.gateway.state.projections.remove(projection);
        return [{ kind: "known", question, value: true }];
      },
    });
    await play(stage, [...setup]);
    for (const now of [false, true]) {
      ends.now = now;
      stage.client.say({ method: "notifications/x", params: { now } });
      await stage.settle();
    }
    expect(stage.server.got.splice(0).map(plain)).toEqual([{ method: "notifications/x", params: { now: false } }]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-OBLIGATION"] });
  });
});
