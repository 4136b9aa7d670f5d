// Labels and annotations that are true: it reads what it was started with, and says no more than that.
import { serve, string, text } from "../../base.ts";

await serve("nodes", [
  {
    name: "search_nodes",
    description: "Search for nodes in the knowledge graph based on a query.",
    parameters: { query: text },
    readOnly: true,
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    meta: {
      "io.github.sluicegate/labels": {
        effects: ["read.local"],
        output: { confidentiality: "public", trust: "untrusted" },
      },
    },
    call: (args) => `no node mentions ${string(args, "query")}`,
  },
]);
