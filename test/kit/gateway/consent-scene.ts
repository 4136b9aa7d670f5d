/** A client whose calls of `send_*` and `delete_*` need consent, with the lines that come before and after. */
import { expect } from "vitest";
import type { Opinion } from "../../../src/core/opinion.ts";
import { type FakeMechanism, fakePolicy } from "./fake-policy.ts";
import { type Line, type StageOptions, Stage } from "./playbook.ts";

export const confirmSends: FakeMechanism = {
  consider: ({ moment }): Opinion => {
    const asks = moment.kind === "call" && /^(send|delete)/.test(moment.contract.tool);
    const reason = {
      mechanism: "fake",
      code: "SG-TEST",
      verdict: "confirm",
      facts: {},
      why: "mail leaves the house",
    } as const;
    return { kind: "settled", verdict: asks ? "confirm" : "allow", reasons: asks ? [reason] : [], obligations: [] };
  },
};
export const list = { id: "l", method: "tools/list" };
/** The server lists these tools, and the client gets all of them. */
export function listing(...names: readonly string[]): readonly Line[] {
  const answer = { id: "l", result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } };
  return [
    { client: ">>", message: list },
    { server: "<<", message: list },
    { server: ">>", message: answer },
    { client: "<<", message: answer },
  ];
}

const listed = { id: "l", result: { tools: [{ name: "send_mail", inputSchema: { type: "object" } }] } };
export const setup = [
  { client: ">>", message: list },
  { server: "<<", message: list },
  { server: ">>", message: listed },
  { client: "<<", message: listed },
] as const;
export const hello = (capabilities: Record<string, unknown>) =>
  [
    {
      client: ">>",
      message: {
        id: "i",
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } },
      },
    },
    { server: "<<", message: expect.objectContaining({ method: "initialize" }) },
    {
      server: ">>",
      message: {
        id: "i",
        result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } },
      },
    },
    { client: "<<", message: expect.objectContaining({ id: "i" }) },
  ] as never[];
export const callOf = (id: number, to: string, name = "send_mail") => ({
  id,
  method: "tools/call",
  params: { name, arguments: { to } },
});
export const done = (id: number) => ({ id, result: { content: [] } });
export const stageWith = (options: Partial<StageOptions> = {}) =>
  new Stage({ policy: fakePolicy([confirmSends]), ...options });
export const refusal = (words: string) =>
  expect.objectContaining({
    result: expect.objectContaining({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining(words) }],
    }),
  });
