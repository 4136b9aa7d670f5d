/** Resources that the client subscribed to: their URIs are the client's words, not the server's. */
import { isArray, member, type JsonObject } from "../../core/json.ts";
import { subscriptionsMax } from "../ports/limits.ts";

export class Subscriptions {
  readonly #uris = new Set<string>();

  has(uri: string): boolean {
    return this.#uris.has(uri);
  }

  /** Notes what an allowed `resources/subscribe` or `subscriptions/listen` names. */
  note(method: string, params: JsonObject | undefined): void {
    if (method === "resources/subscribe") this.#add(member(params, "uri"));
    if (method !== "subscriptions/listen") return;
    const uris = member(member(params, "notifications"), "resourceSubscriptions");
    if (isArray(uris)) for (const uri of uris) this.#add(uri);
  }

  #add(uri: unknown): void {
    if (typeof uri === "string" && this.#uris.size < subscriptionsMax) this.#uris.add(uri);
  }
}
