/** Finds a program as a shell would, by the PATH of the server that needs it. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { attempt } from "../attempt.ts";
import type { ProcessTarget } from "../process/launch.ts";

const pathDefault = "/usr/local/bin:/usr/bin:/bin";

/** Absolute path; undefined where no folder of PATH has it. */
export function findProgram(name: string, { env }: Pick<ProcessTarget, "env">): string | undefined {
  const folders = (env["PATH"] ?? pathDefault).split(delimiter).filter(isAbsolute);
  return folders
    .map((folder) => join(folder, name))
    .find((path) =>
      attempt(() => {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      }, false),
    );
}
