import { expect, test } from "vitest";
import { groupChecks } from "./groups.ts";

test("doctor shows which servers share a run, and that unnamed client processes share what restricts", () => {
  const one = { run: "os:1/process:7@90", servers: ["files", "mail"] };
  expect(groupChecks([one]).map(({ sentence }) => sentence)).toEqual([
    "The servers files, mail share the run os:1/process:7@90.",
  ]);
  const idle = { run: "os:1/process:8@90", servers: [] };
  expect(groupChecks([idle, { run: "os:1/any" }])).toEqual([]);
  const named = { run: "os:1/process:9@90/talk", servers: ["files"] };
  expect(groupChecks([one, named])).toHaveLength(2);
  const two = { run: "os:1/process:10@", servers: ["files"] };
  expect(groupChecks([one, two]).at(-1)).toMatchObject({
    sentence: expect.stringContaining("2 client processes have no hook") as unknown,
  });
});
