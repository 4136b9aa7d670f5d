// Base64 as the subject of the tool: decodes what the caller gave, and sends it nowhere.
import { serve, string, text } from "../base.ts";

await serve("translator", [
  {
    name: "decode_base64",
    description: "Decodes a base64 text.",
    parameters: { encoded: text },
    readOnly: true,
    call: (args) => Buffer.from(string(args, "encoded"), "base64").toString(),
  },
]);
