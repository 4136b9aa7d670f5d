/** Orders for tests: as narrow as one can be, but for what a test says. */
import type { IsolationOrder, Scope } from "../../../src/core/isolation/scope.ts";

export const narrowScope: Scope = {
  files: {
    read: [],
    write: [],
    deny: [],
    workspace: { mode: "overlay", commit: "allow", per: "call", quotaMb: 16 },
  },
  net: { mode: "none", allow: [], callBytesMax: 1, serverBytesMax: 1 },
  exec: { mode: "any", programs: [] },
  environment: { pass: [], set: {} },
  sockets: [],
  limits: { memoryMb: 1, processes: 1, openFiles: 1, cpuSeconds: 1, fileMb: 1, callTimeoutMs: 1 },
  trace: "full",
  serial: false,
  onViolation: "reject",
  tools: new Map(),
};

export const anyOrder: IsolationOrder = {
  server: "files",
  mode: "auto",
  require: "none",
  digest: "order-1",
  scope: narrowScope,
};
