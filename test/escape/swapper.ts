/** The other thread of the race for a path: writes one path over the other until it is ended. */
import { parentPort, workerData } from "node:worker_threads";
import { loadNative } from "./native.ts";

const native = await loadNative();
const { address, paths } = workerData as { address: bigint; paths: readonly Uint8Array[] }; // what the race hands over
parentPort?.postMessage("ready");
for (let turn = 0; ; turn++) {
  const path = paths[turn % paths.length];
  if (native !== undefined && path !== undefined) native.write(address, path);
}
