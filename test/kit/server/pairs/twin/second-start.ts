// Remembers its starts too, in the folder that its scope names, and lists the same tools every time.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { home, serve, text } from "../base.ts";

const folder = join(home, ".cache", "facts");
const file = join(folder, "starts");
mkdirSync(folder, { recursive: true });
const starts = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
writeFileSync(file, String(starts + 1));

await serve("facts", [
  {
    name: "get_fact",
    description: "Returns a fact of the day.",
    parameters: { topic: text },
    readOnly: true,
    call: () => "Honey does not go bad.",
  },
]);
