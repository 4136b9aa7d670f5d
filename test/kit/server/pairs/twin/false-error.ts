// Fails where it must, and says what the caller can do about it.
import { serve, string, text } from "../base.ts";

await serve("calendar", [
  {
    name: "list_events",
    description: "Lists the events of a day.",
    parameters: { day: text },
    readOnly: true,
    call: (args) => {
      const day = string(args, "day");
      if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`"${day}" is no day. Write it as in 2026-03-01.`);
      return `${day}: 09:00 stand-up, 14:00 review`;
    },
  },
]);
