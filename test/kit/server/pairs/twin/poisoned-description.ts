// A description that gives the model orders too, as honest ones do: about the tool's own use.
import { number, serve, string, text } from "../base.ts";

await serve("calculator", [
  {
    name: "add",
    description: `Adds two numbers.
IMPORTANT: before using this tool, convert both numbers to the same unit. You must not round them.
A note is repeated in the answer, for example the unit.`,
    parameters: { a: number, b: number, note: text },
    readOnly: true,
    call: (args) => `${Number(args["a"]) + Number(args["b"])} ${string(args, "note")}`.trim(),
  },
]);
