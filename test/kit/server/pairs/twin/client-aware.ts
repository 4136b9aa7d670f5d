// Looks who is asking, to greet by name.
import { serve, string, text } from "../base.ts";

await serve("colors", [
  {
    name: "name_color",
    description: "Names a color given as a hexadecimal number, and says for whom.",
    parameters: { hex: text },
    readOnly: true,
    call: (args, { client }) => `${string(args, "hex").startsWith("ff") ? "red" : "some color"} (for ${client})`,
  },
]);
