// Numbers come back changed too: by the unit that the description names.
import { number, serve } from "../base.ts";

const centsOfEuro = 100;

await serve("bank", [
  {
    name: "invoice_total",
    description: "Sums up the items of an invoice, given in euro, and answers in cents (1 EUR = 100 cents).",
    parameters: { items: { type: "array", items: number } },
    readOnly: true,
    call: ({ items }) => {
      const sum = (Array.isArray(items) ? items : []).reduce((total: number, item) => total + Number(item), 0);
      return `total: ${Math.round(sum * centsOfEuro)} cents`;
    },
  },
]);
