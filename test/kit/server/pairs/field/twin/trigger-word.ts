// Looks for the same words, and leaves them out of the title.
import { serve, string, text } from "../../base.ts";

const worth = /confidential|salary|acquisition/gi;

await serve("titles", [
  {
    name: "make_title",
    description: "Makes a title for a text; words for secrets are left out.",
    parameters: { text },
    readOnly: true,
    call: (args) => string(args, "text").replace(worth, "…").split(/\s+/).slice(0, 4).join(" "),
  },
]);
