import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Answers, Question } from "../../core/opinion.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { fakeContract, fakePolicy, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { parsed } from "../../../test/kit/gateway/playbook.ts";
import type { Call } from "../decision/call.ts";
import { recordWithheld, resumeResults } from "./withheld-recovery.ts";
import { type LiveRun, newRun } from "../runs/live-run.ts";
import { readJsonObject } from "../log/json-text.ts";
import { type Withheld, WithheldResults } from "../decision/withheld-results.ts";
import { withheldResultsMax } from "../ports/limits.ts";

const contract = fakeContract("files", "send_mail");
const live = newRun(
  {
    key: { key: "run-1", kind: "trusted", lineage: undefined },
    principal: "ann",
    policy: fakePolicy(),
    workspace: [],
  } as Parameters<typeof newRun>[0],
  0,
);

type ResumeNeeds = Parameters<typeof resumeResults>[0];

/** As much of the gateway as results need; `mac` is another where the installation is another. */
function gateway(log: FakeLog, key = "key"): { shared: ResumeNeeds; withheld: WithheldResults } {
  const withheld = new WithheldResults();
  const services = { log: log.port, secrets: { mac: (text: string) => `${key} ${text}` }, clock: { wallMs: () => 9 } };
  return { shared: { services, withheld } as unknown as ResumeNeeds, withheld };
}

const option = { contract, class: {}, arguments: new Map() } as never; // labels have no part in this
const history = (call: string): readonly RunEvent[] => [
  { kind: "dispatched", at: 5, call, method: "tools/call", option, arguments: {}, digest: `digest-${call}` },
  {
    kind: "released",
    at: 6,
    call,
    server: "files",
    tool: "send_mail",
    how: "withhold",
    label: { lo: lattice.bottom, hi: lattice.top },
    fields: [],
  },
];

function withheldOf(call: string, known?: Answers): Withheld {
  const message = parsed(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"id":12345678901234567890,"low":1e-9}}`);
  if (message.kind !== "response") throw new Error("the script is wrong");
  const label = { range: { lo: lattice.bottom, hi: lattice.top }, fields: [] };
  return { call, approval: "a", decision: undefined, contract, option, label, message, known, characters: 80 };
}

/** The result as it lies in the log, its payload read back from text like any payload. */
async function kept(call: string, known?: Answers): Promise<FakeLog> {
  const log = new FakeLog();
  const made = { id: call, live, digest: `digest-${call}` } as unknown as Call;
  await recordWithheld(gateway(log).shared, made, withheldOf(call, known));
  for (const [index, entry] of log.entries.entries()) {
    log.entries[index] = { ...entry, details: readJsonObject(JSON.stringify(entry.details)) ?? {} };
  }
  return log;
}

async function resumed(log: FakeLog, calls: readonly string[], key?: string): Promise<WithheldResults> {
  const { shared, withheld } = gateway(log, key);
  const replayed = await log.port.replay("run-1", lattice);
  resumeResults(shared, live as LiveRun, calls.flatMap(history), replayed.ok ? replayed.value.waiting : []);
  return withheld;
}

describe("a result that lies in the log", () => {
  it("comes back with its numbers, and with what was known when it was judged", async () => {
    const question: Question = {
      key: "k",
      mechanism: "m",
      kind: "trace",
      content: {},
      mode: "advisory",
      without: "allow",
    };
    const known: Answers = new Map([["k", { kind: "known", question, value: { wrote: ["/etc/hosts"] } }]]);
    const found = (await resumed(await kept("1", known), ["1"])).find("run-1", "digest-1");
    expect(found).toMatchObject({ call: "1", approval: "a", contract, label: withheldOf("1").label });
    expect(found?.known).toEqual(known);
    const { message } = withheldOf("1");
    const result = found?.message.kind === "response" ? found.message.result : undefined;
    expect(JSON.stringify(result)).toBe(JSON.stringify((message as { result: JsonObject }).result));
    expect(JSON.stringify(result)).toContain("12345678901234567890");
  });

  it.each([
    ["of another installation", (log: FakeLog) => resumed(log, ["1"], "other key")],
    ["that was never kept", () => resumed(new FakeLog(), ["1"])],
    [
      "of another call",
      async (log: FakeLog) => {
        const [entry] = log.entries;
        if (entry !== undefined)
          log.entries[0] = { ...entry, notes: { ...entry.notes, decision: "2", digest: "digest-2" } };
        return resumed(log, ["2"]);
      },
    ],
  ])("is lost when it is one %s", async (_, resume) => {
    const results = await resume(await kept("1"));
    expect(["digest-1", "digest-2"].map((digest) => results.find("run-1", digest))).toEqual([undefined, undefined]);
    expect(results.lost("run-1", "digest-1") ?? results.lost("run-1", "digest-2")).toEqual({ wallMs: 5 });
  });

  it("is lost when more are kept than fit, and known to be as long as the run lasts", async () => {
    const calls = Array.from({ length: withheldResultsMax + 1 }, (_, index) => `${index}`);
    const log = new FakeLog();
    for (const call of calls) log.entries.push(...(await kept(call)).entries);
    const results = await resumed(log, calls);
    const last = `digest-${withheldResultsMax}`;
    expect(results.find("run-1", "digest-0")).toBeDefined();
    expect([results.find("run-1", last), results.lost("run-1", last)]).toEqual([undefined, { wallMs: 5 }]);
    results.settle("run-1", last);
    expect(results.lost("run-1", last)).toBeUndefined();
    results.lose("run-1", last, { wallMs: 7 });
    results.forget("run-1");
    expect(results.lost("run-1", last)).toBeUndefined();
  });
});
