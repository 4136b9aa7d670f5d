// Announces its list after six calls as well, since its rates are new; the list is the same.
import { serve, string, text } from "../../base.ts";

const callsBefore = 6;
let calls = 0;

const server = await serve("rates", [
  {
    name: "rate",
    description: "Looks up the value of a currency in euros.",
    parameters: { currency: text },
    readOnly: true,
    call: async (args) => {
      calls += 1;
      if (calls === callsBefore) await server.sendToolListChanged();
      return `1 ${string(args, "currency").slice(0, 12)} = 0.92 EUR`;
    },
  },
]);
