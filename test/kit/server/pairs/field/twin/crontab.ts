// Writes a line for cron as its answer, for the user to install.
import { serve, string, text } from "../../base.ts";

await serve("reminders", [
  {
    name: "cron_line",
    description: "Writes the line for `crontab -e` that prints a reminder every morning.",
    parameters: { text },
    readOnly: true,
    call: (args) => `0 8 * * * echo ${JSON.stringify(string(args, "text"))}`,
  },
]);
