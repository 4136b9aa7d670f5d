import type { Json } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err } from "../../core/result.ts";
import type { Composition } from "../composition.ts";

export async function hookEvent(_composition: Composition, _request: Json): Promise<Result<Json, string>> {
  return Promise.resolve(err("not yet"));
}
