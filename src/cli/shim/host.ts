import type { Launch } from "../../adapters/daemon/connect.ts";
import type { OpenServices } from "../../adapters/daemon/services.ts";

/** Inputs of a command from its launcher: the script to start as daemon, and the composition, loaded on demand. */
export type Host = Launch & { readonly loadServices: () => Promise<OpenServices> };
