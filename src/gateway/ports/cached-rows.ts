/** What a store keeps of sessions and servers, so that a client need not wait after a restart. */
import type { Json, JsonObject } from "../../core/json.ts";

/** The facts that a client session needs to continue after a restart. */
export type SessionRow = {
  readonly id: string;
  readonly principal: string;
  readonly run: string;
  readonly server: string;
  readonly targetDigest: string;
  readonly initialize: JsonObject;
  readonly touchedWallMs: number;
};

/** A server's manifest as it was last admitted: the pin, and what lists are answered from while it starts. */
export type ManifestRow = {
  /** package@version or target digest, requested revision and client capabilities, joined by the caller. */
  readonly key: string;
  readonly server: string;
  readonly revision: string;
  readonly digest: string;
  readonly capabilities: Json;
  readonly manifest: JsonObject;
  readonly seenWallMs: number;
};
