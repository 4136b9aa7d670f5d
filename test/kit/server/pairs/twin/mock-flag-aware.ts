// Knows the flag as well, and uses it as it is meant: nothing is saved in a dry run, and everything else is the same.
import { appendFileSync } from "node:fs";
import { serve, string, text } from "../base.ts";

await serve("spelling", [
  {
    name: "learn_word",
    description: "Adds a word to words.txt of the workspace; a dry run leaves the file alone.",
    parameters: { word: text },
    readOnly: false,
    call: (args, { meta }) => {
      const dry = Object.keys(meta).some((key) => /probe|mock|dry/i.test(key));
      if (!dry) appendFileSync("words.txt", `${string(args, "word")}\n`);
      return `learned ${string(args, "word")}`;
    },
  },
]);
