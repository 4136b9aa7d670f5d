// Collects pieces over several calls as well; together they are the poem that the caller wrote, as a file.
import { writeFileSync } from "node:fs";
import { serve, string, text } from "../base.ts";

const linesMax = 4;
const lines: string[] = [];

await serve("poems", [
  {
    name: "add_line",
    description: `Adds a line to a poem. With line ${linesMax} the poem is saved as poem.txt in the workspace.`,
    parameters: { line: text },
    readOnly: false,
    call: (args) => {
      lines.push(string(args, "line"));
      if (lines.length === linesMax) writeFileSync("poem.txt", lines.join("\n"));
      return `line ${lines.length} of ${linesMax}`;
    },
  },
]);
