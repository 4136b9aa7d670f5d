/** Sentences that carry no code of ours, or the code of the place they speak of: wire, store, processes, shim. */
import { prepareLaunch } from "../../src/adapters/process/launch.ts";
import { storeFailure } from "../../src/adapters/store/failure.ts";
import { storeFault } from "../../src/app/state/log-files.ts";
import { parseRunArguments } from "../../src/cli/shim/arguments.ts";
import { sentences } from "../../src/cli/shim/outage.ts";
import { connectOrStart } from "../../src/adapters/daemon/connect.ts";
import { parseControlReply } from "../../src/adapters/daemon/replies.ts";
import { keyFile, privateFolder } from "../../src/adapters/keys/key-files.ts";
import { rejectedResultText } from "../../src/core/explain/render.ts";
import { logFailureAfterText, logFailureText } from "../../src/gateway/decision/client-answer.ts";
import type { StoreFailure } from "../../src/gateway/ports/store.ts";
import { wireErrorAnswer } from "../../src/wire/errors.ts";
import { type WireErrorKind, wireError } from "../../src/wire/wire-error.ts";

export type PlaceRow = {
  readonly code: string;
  readonly names: string;
  readonly produce: () => string | Promise<string>;
};

/** A record, so that a new kind does not compile until it is here. */
const kinds: Readonly<Record<WireErrorKind, string>> = {
  "too-large": "message",
  "invalid-utf8": "UTF-8",
  "invalid-json": "JSON",
  "too-deep": "nested",
  "list-too-long": "members",
  "nul-in-name": "NUL",
  "ill-formed-name": "surrogate",
  "duplicate-name": "twice",
  "case-variant-name": "case",
  "unknown-envelope-name": "member",
  "invalid-envelope": "JSON-RPC",
  "invalid-id": "id",
  "invalid-method": "method",
  "batch-not-allowed": "Batches",
  "batch-length": "batch",
};

/** The keys of `kinds`, which `Object.keys` calls mere texts. */
export const wireKinds = Object.keys(kinds) as readonly WireErrorKind[];

const folder = "/home/somebody/.local/state/sluicegate";

const failures: Readonly<Record<StoreFailure["kind"], string>> = {
  full: "disk",
  damaged: "damaged",
  newer: "newer",
  foreign: "another program",
  busy: "process",
  closed: "closed",
  unreachable: "cannot",
};

const storeKinds = Object.keys(failures) as readonly StoreFailure["kind"][];

const errorOf = (result: { readonly ok: boolean; readonly error?: string }): string => result.error ?? "";

const target = { kind: "stdio", command: "npx", args: [], env: {}, workingDirectory: "/" } as const;

export const placeRows: readonly PlaceRow[] = [
  ...wireKinds.map((kind) => ({
    code: kind,
    names: kinds[kind],
    produce: () => wireErrorAnswer(wireError(kind)).error.message,
  })),
  ...storeKinds.map((kind) => ({
    code: storeFault(storeFailure(kind, "x")).code,
    names: failures[kind],
    produce: () => storeFailure(kind, `${folder}/log.db`).sentence,
  })),
  { code: "log", names: "event log", produce: () => logFailureText },
  { code: "log", names: "event log", produce: () => logFailureAfterText },
  { code: "result", names: "result", produce: () => rejectedResultText },
  { code: "launch", names: "nowhere", produce: () => errorOf(prepareLaunch({ ...target, command: "nowhere-at-all" })) },
  {
    code: "launch",
    names: "/no/such",
    produce: () => errorOf(prepareLaunch({ ...target, workingDirectory: "/no/such" })),
  },
  {
    code: "launch",
    names: "/etc/passwd",
    produce: () => errorOf(prepareLaunch({ ...target, command: "/etc/passwd" })),
  },
  { code: "launch", names: "NUL", produce: () => errorOf(prepareLaunch({ ...target, args: ["a\0b"] })) },
  { code: "run", names: "--polcy", produce: () => errorOf(parseRunArguments(["--polcy", "x", "--", "y"])) },
  { code: "run", names: "--policy", produce: () => errorOf(parseRunArguments(["--policy"])) },
  { code: "run", names: "command", produce: () => errorOf(parseRunArguments([])) },
  { code: "outage", names: "daemon", produce: () => `${sentences.unknown} ${sentences.unknownWay}` },
  { code: "outage", names: "daemon", produce: () => `${sentences.away} ${sentences.awayWay}` },
  { code: "outage", names: "daemon", produce: () => `${sentences.given} ${sentences.givenWay}` },
  {
    code: "daemon",
    names: "did not start",
    // Starting a program that ends at once with an error, where no daemon listens.
    produce: async () => {
      const missing = "/no/such/folder";
      const paths = { home: missing, runtime: missing, socket: `${missing}/socket`, log: `${missing}/daemon.log` };
      return errorOf(await connectOrStart(paths, { entry: "x" }, 10));
    },
  },
  {
    code: "daemon",
    names: "daemon",
    produce: () => {
      const reply = parseControlReply("garbage");
      return reply.kind === "refused" ? reply.refused : "";
    },
  },
  {
    code: "keys",
    names: "/proc/nowhere",
    produce: () => errorOf(keyFile("/proc/nowhere/key", () => new Uint8Array(1))),
  },
  { code: "keys", names: "/dev/null/keys", produce: () => errorOf(privateFolder("/dev/null/keys")) },
];
