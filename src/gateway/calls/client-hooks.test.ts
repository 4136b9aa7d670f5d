import { describe, expect, it } from "vitest";
import type { Opinion, Reason } from "../../core/opinion.ts";
import { type FakeMechanism, fakePolicy, fakeState, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";

const rules: FakeMechanism = {
  consider: ({ moment }, run): Opinion => {
    const tool = moment.kind === "call" ? moment.contract.tool : "";
    const verdict =
      tool === "WebFetch" && fakeState(run.q).held === lattice.top ? "deny" : tool === "Bash" ? "confirm" : "allow";
    const reason = { mechanism: "fake", code: "SG-TEST", verdict, facts: {} } as const;
    return { kind: "settled", verdict, reasons: verdict === "allow" ? [] : [reason], obligations: [] };
  },
};
const facts = { client: "claude", principal: "os:1000", process: { pid: 7, startedAt: "1" }, session: "s1" } as const;

describe("A9: under a factor a hook, which proves nothing,", () => {
  const approvals = { form: "none", by: "anyone", holdMsMax: 0, expiryMs: 1_000 } as const;
  const staged = (factor: "device" | undefined): Stage =>
    new Stage({
      policy: fakePolicy([rules], { settings: { approvals: { ...approvals, ...(factor ? { factor } : {}) } } }),
    });
  const web = { kind: "before-tool", tool: "WebFetch", arguments: { url: "https://x" } } as const;
  const read = { tool: "read_secret", arguments: { path: "/k" } };
  const registered = (stage: Stage): number => stage.log.kinds().filter((kind) => kind === "registered").length;

  async function readsSecret({ gateway }: Stage): Promise<void> {
    await gateway.hostEvent(facts, { kind: "before-tool", ...read });
    await gateway.hostEvent(facts, { kind: "after-tool", ...read, result: { content: "key" }, failed: false });
  }

  it.each([
    ["device", 1, "deny"],
    [undefined, 2, "allow"],
  ] as const)("%s: registers %i prompts, and a cleared conversation may %s", async (factor, prompts, verdict) => {
    const stage = staged(factor);
    await stage.gateway.hostEvent(facts, { kind: "prompt", text: "mail bob" });
    await readsSecret(stage);
    await stage.gateway.hostEvent(facts, { kind: "prompt", text: "mail eve" });
    expect(registered(stage)).toBe(prompts);
    await stage.gateway.hostEvent(facts, { kind: "session-clear" });
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe(verdict);
  });
});

describe("hooks of a client", () => {
  it("a prompt is the run's instruction; what its own tools read labels the run, and its web calls are decided", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    const { gateway } = stage;
    await gateway.hostEvent(facts, { kind: "prompt", text: "mail bob" });
    const web = { kind: "before-tool", tool: "WebFetch", arguments: { url: "https://x" } } as const;
    expect((await gateway.hostEvent(facts, web)).verdict).toBe("allow");
    const read = { tool: "read_secret", arguments: { path: "/k" } };
    expect((await gateway.hostEvent(facts, { kind: "before-tool", ...read })).verdict).toBe("allow");
    await gateway.hostEvent(facts, { kind: "after-tool", ...read, result: { content: "key" }, failed: false });
    const stopped = await gateway.hostEvent(facts, web);
    expect(stopped).toMatchObject({ verdict: "deny", sentence: expect.stringContaining("Not executed") });
    const use = ["dispatched"];
    const kinds = ["begun", "registered", ...use, ...use, "succeeded", "released", "refused"];
    expect(stage.log.kinds()).toEqual(kinds);
    expect(stage.log.events().find(({ kind }) => kind === "dispatched")).toMatchObject({ method: "host/tool" });
  });

  it("a question goes to the client's person; the tool is on record once it has run", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    const use = { use: "u1", tool: "Bash", arguments: { command: "ls" } };
    expect((await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use })).verdict).toBe("ask");
    expect(stage.log.kinds()).toEqual(["begun"]);
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...use, result: "files", failed: false });
    expect(stage.log.kinds()).toEqual(["begun", "dispatched", "succeeded", "released"]);
  });

  it("a result is kept back where the use that brought it is not on record", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    const use = { tool: "Bash", arguments: {} };
    await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use });
    stage.log.failsAt = ({ events }) => events.some(({ kind }) => kind === "dispatched");
    const after = { kind: "after-tool", ...use, result: "x", failed: false } as const;
    expect((await stage.gateway.hostEvent(facts, after)).verdict).toBe("deny");
    expect(stage.log.kinds()).toEqual(["begun", "succeeded", "released"]);
  });

  describe("the client's question says why it is asked", () => {
    const asked = async (reason: Partial<Reason>, tool = "WebFetch"): Promise<string> => {
      const asks: FakeMechanism = {
        consider: () => {
          const whole: Reason = { mechanism: "fake", code: "SG-TEST", verdict: "confirm", facts: {}, ...reason };
          return { kind: "settled", verdict: "confirm", reasons: [whole], obligations: [] };
        },
      };
      const stage = new Stage({ policy: fakePolicy([asks]) });
      const reply = await stage.gateway.hostEvent(facts, { kind: "before-tool", tool, arguments: { url: "x" } });
      expect(reply.verdict).toBe("ask");
      expect(reply.sentence.length).toBeLessThanOrEqual(240);
      expect(reply.sentence).toMatch(/ \(decision [\w-]+\)\.$/);
      return reply.sentence;
    };
    const carries = { arguments: ["url"], labels: ["private"], origins: ["files.read_file"] };

    it("which data, which sink, which rule", async () => {
      const reason = { code: "SG-RULE-CONFIRM", rule: "keep", why: "it stays with you", facts: carries };
      expect(await asked(reason)).toContain(
        "`WebFetch` runs: `url` would carry private data from files.read_file to `host:claude.WebFetch` (rule keep: it stays with you) (",
      );
    });

    it("a long rule gives way to the data, and what is not known of is said to be the policy's wish", async () => {
      const long = { code: "SG-RULE-CONFIRM", rule: "r".repeat(60), why: "w".repeat(200), facts: carries };
      expect(await asked(long, `T${"o".repeat(60)}l`)).toContain("would carry private data from files.read_file");
      expect(await asked({})).toContain("runs: the policy requires the user to decide (");
    });

    it("nothing in it ends a line or turns the text", async () => {
      const why = "fine\n\u202Etxt.exe\u200B";
      const sentence = await asked({ code: "SG-RULE-CONFIRM", rule: "k\u0007", why, facts: carries }, "Web\nFetch");
      expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    });

    it("a risk that is accepted is told whole, with its reason where there is room", async () => {
      const risks = { risks: ["leak fire wiki anyone"] };
      const accepted = "approving means: from then on `fire wiki anyone` (`anyone` reads `wiki`) may cause hazard";
      const sentence = await asked({ code: "SG-ASK-EXECUTE", facts: risks });
      expect(sentence).toContain(accepted);
      expect(sentence).toContain("may run code; ");
      expect(await asked({ rule: "r".repeat(60), why: "w".repeat(80), facts: risks })).toContain(accepted);
    });
  });

  it("a cleared conversation is a new run with a clean state, for the tools of servers as well", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    const { gateway } = stage;
    const read = { tool: "read_secret", arguments: {} };
    await gateway.hostEvent(facts, { kind: "before-tool", ...read });
    await gateway.hostEvent(facts, { kind: "after-tool", ...read, result: "key", failed: false });
    await gateway.hostEvent(facts, { kind: "session-clear" });
    const fresh = { ...facts, session: "s2" };
    const web = { kind: "before-tool", tool: "WebFetch", arguments: {} } as const;
    expect((await gateway.hostEvent(fresh, web)).verdict).toBe("allow");
    stage.client.say({ id: 1, method: "ping" });
    await stage.settle();
    expect([...gateway.runs.all()].map(({ key }) => key)).toEqual(["os:1000/process:7@1/s2"]);
    await gateway.hostEvent(fresh, { kind: "session-end" });
    expect([...gateway.runs.all()]).toEqual([]);
  });

  it("a result that may not be passed on is kept back", async () => {
    const deny: FakeMechanism = {
      consider: ({ moment }) => ({
        kind: "settled",
        verdict: moment.kind === "release" ? "deny" : "allow",
        reasons: [],
        obligations: [],
      }),
    };
    const stage = new Stage({ policy: fakePolicy([deny]) });
    const after = { kind: "after-tool", tool: "Read", arguments: {}, result: "x", failed: true } as const;
    expect((await stage.gateway.hostEvent(facts, after)).verdict).toBe("deny");
  });
});

describe("runs that end or come back", () => {
  const read = { tool: "read_secret", arguments: {} };
  const web = { kind: "before-tool", tool: "WebFetch", arguments: {} } as const;

  it("the conversation of a client process is known again after a restart", async () => {
    const policy = fakePolicy([rules]);
    const stage = new Stage({ policy });
    await stage.gateway.hostEvent(facts, { kind: "before-tool", ...read });
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...read, result: "key", failed: false });
    const { session: _session, client: _client, ...process } = facts;
    const connection = { transport: "stdio", server: "files", ...process } as const;
    const again = new Stage({ policy });
    for (const row of stage.log.runs.values()) again.log.runs.set(row.key, row);
    expect(again.gateway.runKeyFor(connection)).toBe("os:1000/process:7@1");
    await again.gateway.restore();
    expect(again.gateway.runKeyFor(connection)).toBe("os:1000/process:7@1/s1");
  });

  it("a run that lost its history holds everything after every restart", async () => {
    const policy = fakePolicy([rules]);
    const stage = new Stage({ policy });
    await stage.gateway.hostEvent(facts, web);
    const [row] = stage.log.runs.values();
    if (row === undefined) throw new Error("no run was begun");
    let rows = { ...row, top: true };
    for (let restart = 0; restart < 3; restart += 1) {
      const again = new Stage({ policy });
      again.log.runs.set(rows.key, rows);
      expect((await again.gateway.hostEvent(facts, web)).verdict).toBe("deny");
      rows = { ...(again.log.runs.get(rows.key) ?? rows) };
    }
  });

  it("a run begun while the end of the last one is being written is clean", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    await stage.gateway.hostEvent(facts, { kind: "before-tool", ...read });
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...read, result: "key", failed: false });
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("deny");
    const [live] = stage.gateway.runs.all();
    if (live === undefined) throw new Error("no run is open");
    const ended = [stage.gateway.runs.end(live, "operator"), stage.gateway.runs.end(live, "operator")];
    const next = stage.gateway.hostEvent(facts, web);
    await Promise.all(ended);
    await next;
    expect(stage.log.kinds().filter((kind) => kind === "ended")).toHaveLength(1);
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("allow");
  });

  it("a log that failed for a while restricts everything, and afterwards each run is what its log says", async () => {
    const stage = new Stage({ policy: fakePolicy([rules]) });
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("allow");
    const [begun] = stage.log.events().filter(({ kind }) => kind === "dispatched");
    const call = begun?.kind === "dispatched" ? begun.call : "";
    stage.log.inFlight.push({
      run: stage.log.entries[0]?.run ?? "",
      call,
      server: "s",
      tool: "t",
      digest: "d",
      wallMs: 0,
    });
    stage.log.failing = true;
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("deny");
    stage.log.failing = false;
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("deny");
    await stage.gateway.runs.rebuild();
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "unknown", call });
    expect((await stage.gateway.hostEvent(facts, web)).verdict).toBe("allow");
  });
});
