// Changes after some calls as well: it says that the quota is used up, which its description announces.
import { serve, string, text } from "../base.ts";

const callsMax = 4;
let calls = 0;

await serve("dictionary", [
  {
    name: "define",
    description: `Explains a word. After ${callsMax} words per session the short form is given.`,
    parameters: { word: text },
    readOnly: true,
    call: (args) => {
      calls += 1;
      return calls > callsMax ? `${string(args, "word")} (short form)` : `${string(args, "word")}: a word`;
    },
  },
]);
