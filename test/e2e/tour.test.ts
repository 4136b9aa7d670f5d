// `sluicegate tour` holds what it tells, with nothing but what is in the package.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Terminal } from "../kit/client/command.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

test("C24: the tour stops the leak and nothing else, also where the user has a policy of another kind", async () => {
  const { code, value } = await terminal.json("tour");
  expect(value).toMatchObject({
    held: true,
    steps: [{}, {}, {}, { detail: expect.stringContaining("Not executed") }, {}],
  });
  expect(code).toBe(0);
});
