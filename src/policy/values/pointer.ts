/** Where a rule says an argument is: a bare name, or a JSON Pointer (RFC 6901) for a nested one. */
import { type Json, isArray, member } from "../../core/json.ts";
import { unescapeToken } from "../../core/pointer.ts";

/** The value at a top-level name or a JSON Pointer; undefined if there is none. Only own members are seen. */
export function pointerValue(root: Json, place: string): Json | undefined {
  if (!place.startsWith("/")) return member(root, place);
  let found: Json | undefined = root;
  for (const token of place.slice(1).split("/")) {
    const name = unescapeToken(token);
    found = isArray(found)
      ? /^(0|[1-9][0-9]{0,8})$/.test(name)
        ? found[Number(name)]
        : undefined
      : member(found, name);
    if (found === undefined) return undefined;
  }
  return found;
}
