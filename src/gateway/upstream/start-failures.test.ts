import { expect, test } from "vitest";
import { StartFailures } from "./start-failures.ts";

test("C21: a server that did not start is news once for each reason, until it starts", () => {
  const failures = new StartFailures();
  expect([failures.note("a", "gone"), failures.note("a", "gone"), failures.note("a", "other")]).toEqual([
    true,
    false,
    true,
  ]);
  expect(failures.all()).toEqual([{ server: "a", why: "other" }]);
  failures.started("a");
  failures.started("never failed");
  expect(failures.all()).toEqual([]);
  expect(failures.note("a", "other")).toBe(true);
});

test("C21: a client that names servers without end does not fill the memory", () => {
  const failures = new StartFailures();
  for (let count = 0; count < 1_000; count += 1) failures.note(`s${count}`, "gone");
  expect(failures.all()).toHaveLength(256);
  expect(failures.all().at(-1)).toEqual({ server: "s999", why: "gone" });
});
