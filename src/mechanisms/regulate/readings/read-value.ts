/** One reader for all languages (`core/reading.ts`). */
import type { ParseSql, ReadValue } from "../../../core/reading.ts";
import { readCommand } from "./commands.ts";
import { readRequest } from "./http.ts";
import { readSql, sqlDialects } from "./sql.ts";

export function makeReadValue(parse: ParseSql): ReadValue {
  return (language, value) => {
    switch (language) {
      case "docker":
      case "git":
      case "kubectl":
      case "shell":
      case "ssh":
        return readCommand(language, value);
      case "http":
        return readRequest(value);
      case "sql":
        return readSql(parse, sqlDialects, value);
      case "sql:postgres":
        return readSql(parse, ["postgres"], value);
      case "sql:mysql":
        return readSql(parse, ["mysql"], value);
      case "sql:mariadb":
        return readSql(parse, ["mariadb"], value);
      case "sql:sqlite":
        return readSql(parse, ["sqlite"], value);
    }
  };
}
