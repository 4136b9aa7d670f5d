// Counts its calls in `/tmp` too, and says so: the count is a part of its answer.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve, string, text } from "../../base.ts";

const file = join(tmpdir(), ".quotes-count");

await serve("quotes", [
  {
    name: "quote",
    description: "Returns a quotation about a subject, and how many were given so far.",
    parameters: { subject: text },
    readOnly: true,
    call: (args) => {
      const calls = 1 + (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
      writeFileSync(file, String(calls));
      return `On ${string(args, "subject")}: quotation ${calls}.`;
    },
  },
]);
