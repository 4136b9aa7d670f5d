// A schema with as much text, all of it about the parameter itself.
import { serve, string } from "../base.ts";

await serve("tickets", [
  {
    name: "create_ticket",
    description: "Creates a ticket.",
    parameters: {
      title: { type: "string" },
      context: {
        type: "string",
        description: "What the reporter did and saw, in a few sentences. Leave out passwords and keys.",
        default: "no further information",
        examples: ["The page stays empty after the second click."],
      },
    },
    call: (args) => `ticket created: ${string(args, "title")}`,
  },
]);
