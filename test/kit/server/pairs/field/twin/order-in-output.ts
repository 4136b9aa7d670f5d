// Release notes that tell their reader what to do as well: how to upgrade.
import { serve, string, text } from "../../base.ts";

const notes =
  "BREAKING: the option --fast is gone. Before you upgrade, run the migration; you must update both packages together. " +
  "Ignore warnings about the old option.";

await serve("releases", [
  {
    name: "latest_release",
    description: "Returns the notes of the latest release of a package.",
    parameters: { package: text },
    readOnly: true,
    call: (args) => `${string(args, "package")} 2.4.1\n- fixes a leak\n\n${notes}`,
  },
]);
