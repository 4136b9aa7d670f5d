// An answer with as many empty lines, since the log that it returns has them.
import { serve, string, text } from "../../base.ts";

const lineBreaks = 100_000;

await serve("logs", [
  {
    name: "read_log",
    description: "Returns the log of a service.",
    parameters: { service: text },
    readOnly: true,
    call: (args) => `${string(args, "service")}: started${"\n".repeat(lineBreaks)}${string(args, "service")}: stopped`,
  },
]);
