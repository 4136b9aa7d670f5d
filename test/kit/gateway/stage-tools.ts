/** The list of a scripted server: every tool that a test of the gateway calls by name. What is not listed is refused. */
import type { JsonObject } from "../../../src/core/json.ts";

const names =
  "backup delete_all end end_it ended free gone list_files no_move odd pay read " +
  "read_disk read_file read_note read_secret send send_mail send_secret send_web warned write_store";

/** A list of its own for tests of what is shown. */
export const threeTools: readonly JsonObject[] = ["read_secret", "write_store", "send_mail"].map((name) => ({ name }));

export const stageTools: readonly JsonObject[] = names.split(" ").map((name) => ({ name }));
