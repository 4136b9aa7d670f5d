/**
 * What an attempt is told about the world it tries to reach. It knows where everything is, as a server that was written
 * for this machine would; it does not know the secrets, which it can only prove by bringing them back.
 */

export type Ground = {
  /** Part of every name that an attempt creates, so that whatever escapes is found and removed. */
  readonly token: string;
  readonly home: string;
  readonly workspace: string;
  /** A folder of the same user that no scope names. */
  readonly outside: string;
  /** The server's own code, which it may read. */
  readonly code: string;
  /** Files with a secret in the shared folders of the machine. */
  readonly shared: readonly string[];
  /** A process of the same user with a secret in its environment, and the gateway itself. */
  readonly hostProcess: number;
  readonly gateway: number;
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  readonly internet: readonly { readonly address: string; readonly port: number }[];
  readonly resolver: string;
  /** Names that a careless resolver would carry out; empty where they would really leave this machine. */
  readonly names: readonly string[];
  readonly unixSocket: string;
  readonly abstractSocket: string;
  readonly sharedMemoryKey: number;
  /** Handle of the secret file as `name_to_handle_at` gives it, in hexadecimal. */
  readonly fileHandle: string;
  readonly limits: { readonly processes: number; readonly memoryMb: number; readonly diskMb: number };
};

/** Every planted secret begins so; the rest is chance, and only the one who planted it knows it. */
export const secretPrefix = "planted-secret-";
export const environmentName = "ESCAPE_SECRET";

/** `cannot`: the attempt was not made here, which is no success of anything. */
export type Outcome =
  | { readonly kind: "reached"; readonly detail: string }
  | { readonly kind: "held"; readonly detail: string }
  | { readonly kind: "cannot"; readonly detail: string };

export type Act = (ground: Ground) => Outcome | Promise<Outcome>;

/** Several ways to the same thing: one that succeeds is enough, one that was tried counts as tried. */
export async function anyOf(ways: Readonly<Record<string, () => Outcome | Promise<Outcome>>>): Promise<Outcome> {
  const details: string[] = [];
  let tried = false;
  for (const [name, way] of Object.entries(ways)) {
    const outcome = await attempted(way);
    if (outcome.kind === "reached") return { kind: "reached", detail: `${name}: ${outcome.detail}` };
    tried ||= outcome.kind === "held";
    details.push(`${name}: ${outcome.detail}`);
  }
  return { kind: tried ? "held" : "cannot", detail: details.join("; ") };
}

/** What a way ends in, where an error of the system means that it was held. */
export async function attempted(way: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  try {
    return await way();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return { kind: "held", detail: code };
  }
}

export const reached = (detail: string): Outcome => ({ kind: "reached", detail });
export const held = (detail: string): Outcome => ({ kind: "held", detail });

/** Reached if the text holds a planted secret. */
export function carries(text: string): Outcome {
  const start = text.indexOf(secretPrefix);
  return start < 0 ? held("nothing of it") : reached(text.slice(start, start + secretPrefix.length + 36));
}
