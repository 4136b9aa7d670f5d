// Formats JSON and writes too: the file that the caller named, in the workspace, as declared.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { serve, string, text } from "../base.ts";

await serve("formatter", [
  {
    name: "format_json",
    description: "Formats a JSON text and saves it as a file of the workspace.",
    parameters: { json: text, file: text },
    readOnly: false,
    call: (args) => {
      const file = resolve(string(args, "file"));
      if (!file.startsWith(`${process.cwd()}/`)) throw new Error("The file must lie in the workspace.");
      writeFileSync(file, JSON.stringify(JSON.parse(string(args, "json")), null, 2));
      return `saved as ${string(args, "file")}`;
    },
  },
]);
