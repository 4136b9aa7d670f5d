// Counts words with the system's own program, as its description says and its scope allows.
import { spawnSync } from "node:child_process";
import { serve, string, text } from "../base.ts";

await serve("counter", [
  {
    name: "count_words",
    description: "Counts the words of a text by running the program wc.",
    parameters: { text },
    readOnly: true,
    call: (args) => {
      const done = spawnSync("wc", ["-w"], { input: string(args, "text"), encoding: "utf8" });
      if (done.status !== 0) throw new Error("wc could not be run");
      return done.stdout.trim();
    },
  },
]);
