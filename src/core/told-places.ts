/**
 * Places of traces in a run's records. They are most of a short trace and the same for every call of a server, so one
 * record tells them with a number, and those after it name the number. They are told anew from time to time, so that no
 * record depends on one that is long gone.
 */
import type { Json, JsonObject } from "./json.ts";
import { isArray, isObject } from "./json.ts";

/** Records that may refer to places before these are told again. */
export const placesReferredMax = 256;

/** Places that are kept in mind for one run; with more the numbering begins anew. */
export const placesToldMax = 64;

const placesName = "sluicegate.places";
const numberName = "sluicegate.places_number";

type Told = { readonly number: number; referred: number };

/** What the records of one run have told so far. */
export class ToldPlaces {
  readonly #told = new Map<Json, Told>();

  /** The record of a trace, or of several, as it is to be written; `PlacesRead` gives it back whole. */
  brief(record: Json): Json {
    return eachOf(record, (one) => this.#brief(one));
  }

  /** Nothing counts as told any more: what was written last may not be there. */
  forget(): void {
    this.#told.clear();
  }

  #brief(record: JsonObject): JsonObject {
    const places = record[placesName];
    // The same places are the same object; equal ones are only told twice.
    if (!isObject(places)) return record;
    const told = this.#told.get(places);
    if (told !== undefined && told.referred < placesReferredMax) {
      told.referred += 1;
      return { ...record, [placesName]: told.number };
    }
    if (told === undefined && this.#told.size >= placesToldMax) this.#told.clear();
    const number = told?.number ?? this.#told.size + 1;
    this.#told.set(places, { number, referred: 0 });
    return { ...record, [numberName]: number };
  }
}

/** Reads the records of one run in their order. */
export class PlacesRead {
  readonly #known = new Map<number, Json>();

  /** The record as it was before it was brief; what refers to places that were never read stays as it is. */
  whole(record: Json): Json {
    return eachOf(record, (one) => this.#whole(one));
  }

  #whole(record: JsonObject): JsonObject {
    const { [numberName]: number, ...rest } = record;
    const places = record[placesName];
    if (typeof number === "number" && places !== undefined) {
      if (this.#known.size < placesToldMax || this.#known.has(number)) this.#known.set(number, places);
      return rest;
    }
    const known = typeof places === "number" ? this.#known.get(places) : undefined;
    return known === undefined ? record : { ...rest, [placesName]: known };
  }
}

function eachOf(record: Json, change: (one: JsonObject) => JsonObject): Json {
  if (isArray(record)) return record.map((one) => (isObject(one) ? change(one) : one));
  return isObject(record) ? change(record) : record;
}
