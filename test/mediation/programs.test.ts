/** Rules that ask a program of the operator's, through the whole gateway: policy, oracle, thread, log and replay. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { PolicyOracles } from "../../src/app/oracles/oracles.ts";
import type { Answer, Question } from "../../src/core/opinion.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const folder = mkdtempSync(join(tmpdir(), "sluicegate-programs-"));
const program = join(folder, "checks.ts");
writeFileSync(
  program,
  `type Call = { readonly arguments: { readonly to?: unknown } };
/** Whoever is on leave gets no mail. */
export function onLeave({ arguments: { to } }: Call): boolean {
  if (to === "nobody") throw new Error("who is that?");
  return to === "ann";
}
`,
);

const policy = `rules:
  - {id: all, tier: allow, when: {tool: "*"}, why: w}
  - {id: leave, tier: block, when: {tool: mail.send}, predicate: "${program}#onLeave", why: nobody reads it}
`;

function conversation() {
  const asked: Question[] = [];
  let answered: Promise<unknown> = Promise.resolve();
  const oracles = new PolicyOracles(() => undefined);
  onTestFinished(() => oracles.close());
  const oracle = (questions: readonly Question[]): Promise<readonly Answer[]> => {
    asked.push(...questions);
    const answers = oracles.answer(questions, 2_000);
    answered = answers;
    return answers;
  };
  const tools = { mail: ["send", "read"] };
  return { talk: new Conversation(policy, tools, { oracle, outside: () => answered }), asked };
}

it("a call goes through or is refused as the program says, and silence refuses", async () => {
  const { talk, asked } = conversation();
  expect((await talk.call("mail.send", { to: "bob" })).text).toBe("send done");
  expect(await talk.call("mail.send", { to: "ann" })).toMatchObject({
    refused: true,
    text: expect.stringContaining("(rule leave: nobody reads it)"),
  });
  expect(await talk.call("mail.send", { to: "nobody" })).toMatchObject({
    refused: true,
    text: expect.stringContaining("a program that has to agree to `mail.send` did not answer"),
  });
  expect(asked).toHaveLength(3);
  expect((await talk.call("mail.read", { to: "ann" })).text).toBe("read done");
  expect(asked).toHaveLength(3);
  expect(talk.reached).toEqual(["mail.send", "mail.read"]);
});
