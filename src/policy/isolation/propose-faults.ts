/** What a server was seen wanting and no proposal may hold: it would give the machine away, or is no entry at all. */
import type { ProjectionPlaces } from "../../core/effect-trace.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import { destinationFault } from "./destination-faults.ts";
import { spellingFault } from "./path-faults.ts";
import { isObeyedPlace } from "./sensitive.ts";

type Wish = { readonly place: "files.read" | "files.write" | "net.allow" | "exec.programs"; readonly value: string };

/** What belongs to the machine: whoever writes there changes what others run or are let do. */
const machineFolders = /^\/(?:etc|usr|bin|sbin|boot|lib[0-9x]*)(?:\/|$)/;

/** Views into processes that run, and names for what has no place. */
const passing = /^\/(?:proc|dev|memfd:)/;

/** Why this wish is no entry, as a sentence; undefined if it may be one. */
export function wishFault({ place, value }: Wish, { scratch }: ProjectionPlaces): string | undefined {
  switch (place) {
    case "files.read":
      return undefined;
    case "files.write":
      if (isObeyedPlace(value)) return `it wanted to write ${value}, which other programs would obey`;
      return machineFolders.test(value) ? `it wanted to write ${value}, which is the machine's own` : undefined;
    case "net.allow":
      return destinationFault(value) === undefined ? undefined : `it wanted to reach ${value}, which names no host`;
    case "exec.programs": {
      const named = value.includes("/")
        ? spellingFault(value) === undefined
        : /^[^\s*?[\]{}\p{C}]{1,255}$/u.test(value);
      if (!named || passing.test(value)) return `it wanted to start ${value}, which is no name of a program`;
      const planted = scratch.some((folder) => isWithin(value, folder));
      return planted ? `it wanted to start ${value}, which it made itself` : undefined;
    }
  }
}
