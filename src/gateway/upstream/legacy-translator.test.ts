import { expect, it } from "vitest";
import type { Message } from "../../wire/message.ts";
import { LegacyServer } from "./legacy-translator.ts";
import { openRoundsMax } from "../ports/limits.ts";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

it("gives up the oldest call whose client does not come back, and tells the server, when too many wait", () => {
  const [sent, abandoned]: [Message[], unknown[]] = [[], []];
  let states = 0;
  const bridge = new LegacyServer(
    {
      toServer: (message) => sent.push(message),
      toClient: () => undefined,
      ask: () => Promise.resolve(undefined),
      abandon: (id) => abandoned.push(id),
      nextId: () => `state ${(states += 1)}`,
      runOf: () => "r",
      unplaced: () => undefined,
    },
    {},
    "2025-11-25",
  );
  const params = { message: "Name?", requestedSchema: { type: "object" } };
  for (let id = 0; id <= openRoundsMax; id += 1) {
    const request = { name: "t", arguments: {}, _meta };
    bridge.fromClient({ kind: "request", id, method: "tools/call", params: request });
    bridge.fromServer({ kind: "request", id: `q${id}`, method: "elicitation/create", params }, id);
  }
  const told = sent.filter((message) => message.kind !== "request");
  expect(told).toMatchObject([
    { kind: "error", id: "q0", error: { message: "The client gave no answer." } },
    { kind: "notification", method: "notifications/cancelled", params: { requestId: 0 } },
  ]);
  expect(abandoned).toEqual([0]);
});
