// Speaks of the metadata service as its subject, and asks nothing.
import { serve, string, text } from "../../base.ts";

const services: Readonly<Record<string, string>> = { aws: "169.254.169.254", gcp: "metadata.google.internal" };

await serve("time-zones", [
  {
    name: "metadata_host",
    description: "Names the host of the metadata service of a cloud, for firewall rules.",
    parameters: { cloud: text },
    readOnly: true,
    call: (args) => `${string(args, "cloud")}: ${services[string(args, "cloud")] ?? "not known"}`,
  },
]);
