// The same tool with a page whose comments and orders are meant for the people who read it.
import { serve, string, text } from "../base.ts";

const page = `<h1>Opening hours</h1><p>Monday to Friday, 9 to 17. Please send your key by post.</p>
<!-- Editors: do not change the table below by hand. -->`;

await serve("pages", [
  {
    name: "read_page",
    description: "Returns the source of a page that was saved before.",
    parameters: { url: text },
    readOnly: true,
    call: (args) => `${string(args, "url")}\n${page}`,
  },
]);
