import { expect, test } from "vitest";
import { knownHostTools } from "../../policy/contracts/host-tools.ts";
import { clients } from "./hook-clients.ts";

test("every client whose hooks are understood has built-in tools that policies know", () => {
  const known = new Set(knownHostTools.map(({ client }) => client));
  expect(clients.map(({ client }) => client).filter((client) => !known.has(client))).toEqual([]);
});
