import { join } from "node:path";
import { openMemoryStore } from "../../src/adapters/store/memory.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { storeConformance } from "./conformance.ts";
import { temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

storeConformance("memory", () => ({ store: openMemoryStore(), dispose: () => Promise.resolve() }));

for (const durability of ["normal", "full"] as const) {
  storeConformance(`SQLite, ${durability}`, () => {
    const folder = temporaryFolder();
    const store = unwrap(
      openSqliteStore({ path: join(folder.path, "log.db"), durability, wallMs: () => 1_000, bootId: "boot" }),
    );
    const dispose = async (): Promise<void> => {
      if (store.health().kind === "ok") await store.close(true);
      folder.remove();
    };
    return { store, dispose };
  });
}
