/** A kind of packages: how they are installed, and what of an install counts. One for npm, one for Python. */
import type { Result } from "../../core/result.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { FetchCommand } from "./fetch-command.ts";
import type { RunStep } from "./install-step.ts";
import type { FileRules } from "./installed-files.ts";
import type { LockEntry } from "./lock-file.ts";

export type InstallOrder = {
  readonly target: ProcessTarget;
  readonly command: FetchCommand;
  /** Home folder of the user, whose settings name the registry. */
  readonly home: string;
  /** The folder to install into, which nothing else uses. */
  readonly folder: string;
  /** A private folder that is removed afterwards. */
  readonly scratch: string;
  /** Repeat a locked install instead of looking for what fits now. */
  readonly exact?: LockEntry;
};

export type Installed = Pick<LockEntry, "name" | "version" | "programs" | "scripts" | "packages"> & {
  /** The registry's digest; undefined where it has none for a package. */
  readonly integrity: string | undefined;
  /** The program that runs where the command names none. */
  readonly main: string | undefined;
};

export type Kind = {
  readonly rules: FileRules;
  /** True for files whose content is the same in every install of a version. */
  readonly counts: (path: string) => boolean;
  /** The registry, and why it cannot be reached from a projection, as a part of a sentence. */
  readonly source: (order: Pick<InstallOrder, "target" | "command" | "home">) => {
    readonly registry: string;
    readonly unreachable: string | undefined;
  };
  /** The error is a sentence; what the folder holds then is thrown away. */
  readonly install: (order: InstallOrder, run: RunStep) => Promise<Result<Installed, string>>;
};
