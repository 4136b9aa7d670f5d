// `approvals.factor: password`: typed at a terminal, never piped in and never an argument.
import { spawn } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GuardedClient, asking, has } from "./fixture/guarded-client.ts";
import { finished } from "./fixture/world.ts";

let desk: GuardedClient;
beforeEach(() => {
  desk = new GuardedClient();
});
afterEach(() => desk.dispose());

const good = "correct horse battery";

/** A command at a terminal of its own, at which these lines are typed, one for each question. */
async function typed(words: readonly string[], lines: readonly string[]): Promise<string> {
  const child = spawn("script", ["-qec", desk.line(...words), "/dev/null"], { env: desk.env });
  const left = [...lines];
  let told = "";
  child.stdout.on("data", (part: Buffer) => {
    told += part.toString();
    if (!/(Sluicegate|again): $/.test(told)) return;
    told += " ";
    child.stdin.write(`${left.shift() ?? ""}\r`);
  });
  return (await finished(child)).stdout;
}

test.runIf(has("script"))(
  "A9: a typed password approves, is not shown, and the log names the factor (needs script)",
  async () => {
    expect(await typed(["factor", "add", "password"], [good, good])).toContain("Enrolled");
    await desk.begin("{factor: password}");
    const id = await desk.card();
    expect(await typed(["approve", id], ["wrong horse battery"])).toContain("not right");
    expect(await desk.write()).toMatch(/^! Not executed/);
    const shown = await typed(["approve", id], [good]);
    expect(shown).toContain("Approved");
    expect(shown).not.toContain(good);
    expect(await desk.write()).toBe("written a");
    const { views } = await desk.log();
    expect(JSON.stringify(views)).toContain("operator:password");
    expect(JSON.stringify(views)).not.toContain(good);
  },
);

test.runIf(has("script"))(
  "A9: nothing is taken from a pipe, and a child of the client sets no other password",
  async () => {
    expect(await typed(["factor", "add", "password"], [good, "another one"])).toContain("not the same");
    expect(await typed(["factor", "add", "password"], [good, good])).toContain("Enrolled");
    await desk.begin("{factor: password}");
    const id = await desk.card();
    const piped = await desk.byAgent(`echo '${good}' | setsid ${desk.line("approve", id)}`);
    expect(piped).toContain("typed at a terminal, and there is none");
    const other = asking(`{ kind: "factor-add", factor: "password", password: "a password of the agent" }`);
    expect(await desk.byAgentProgram(other)).toContain("needs your password");
    expect(await desk.write()).toMatch(/^! Not executed/);
    // To change it takes the one before it.
    const next = "a longer horse battery";
    expect(await typed(["factor", "add", "password"], [next, next, "wrong horse battery"])).toContain("not right");
    expect(await typed(["factor", "add", "password"], [next, next, good])).toContain("Enrolled");
    expect(await typed(["approve", id], [next])).toContain("Approved");
  },
);
