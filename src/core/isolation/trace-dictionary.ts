/**
 * The dictionary of places in the records of a run. Places are most of a short trace and the same for every call of a
 * server, so one record writes them with a number and later ones refer to the number. They are written again from time to
 * time, so no record depends on one that is long gone.
 */
import { type Json, type JsonObject, isArray, isObject } from "../json.ts";

/** Records that may refer to places before these are written again. */
export const placesReferredMax = 256;

/** Entries of the dictionary of one run; beyond it the numbering begins anew. */
export const placesToldMax = 64;

const placesName = "sluicegate.places";
const numberName = "sluicegate.places_number";

type Told = { readonly number: number; referred: number };

/** The dictionary of one run, for writing. */
export class ToldPlaces {
  readonly #told = new Map<Json, Told>();

  /** The record of a trace, or of several, with references; `PlacesRead` restores it. */
  brief(record: Json): Json {
    return eachOf(record, (one) => this.#brief(one));
  }

  /** Empties the dictionary, after a write that may have failed. */
  forget(): void {
    this.#told.clear();
  }

  #brief(record: JsonObject): JsonObject {
    const places = record[placesName];
    // By identity: equal places in another object are only written twice.
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

/** The dictionary of one run, for reading its records in order. */
export class PlacesRead {
  readonly #known = new Map<number, Json>();

  /** The record with its places. A reference to places that were never read stays as it is. */
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
