import fc from "fast-check";
import { expect, it } from "vitest";
import { TaskTable, type TaskEntry } from "./task-desk.ts";

const name = fc.constantFrom("a", "b", "c");
const step = fc.record({ does: fc.constantFrom("add", "forget"), run: name, server: name, task: name });

it("law: a task is foreign where another run owns one of its name, and this one does not", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), name, name, name, (steps, run, server, task) => {
      const table = new TaskTable();
      const owned = new Set<string>();
      for (const each of steps) {
        if (each.does === "add") {
          table.add(each as unknown as TaskEntry); // the members that the table looks at
          owned.add(`${each.run} ${each.server} ${each.task}`);
        } else {
          table.forget(each.run);
          for (const key of owned) if (key.startsWith(each.run)) owned.delete(key);
        }
      }
      const others = ["a", "b", "c"].filter((other) => other !== run);
      const foreign = others.some((other) => owned.has(`${other} ${server} ${task}`));
      expect(table.isForeign(run, server, task)).toBe(foreign && !owned.has(`${run} ${server} ${task}`));
    }),
  );
});
