// An invoice with a history of its own: who booked it, as data of the invoice.
import { serve, string, text } from "../../base.ts";

const booked = { history: [{ at: "2026-11-20", by: "accounting", what: "booked" }] };

await serve("invoices", [
  {
    name: "get_invoice",
    description: "Returns an invoice by its number.",
    parameters: { number: text },
    readOnly: true,
    call: (args) =>
      JSON.stringify({ number: string(args, "number"), amount: 940, iban: "DE75512108001245126199", ...booked }),
  },
]);
