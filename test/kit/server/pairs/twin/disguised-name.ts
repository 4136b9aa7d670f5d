// Letters of another script where they belong: in the text of a server for readers of that script.
import { serve, string } from "../base.ts";

await serve("notes", [
  {
    name: "search_notes",
    description: "Searches the notes. Ищет заметки по слову. Αναζητά σημειώσεις.",
    parameters: { query: { type: "string" } },
    readOnly: true,
    call: (args) => `no note mentions ${string(args, "query")}`,
  },
]);
