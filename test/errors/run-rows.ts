/** Every fault of the body of `POST /runs`. */
import { readRunRequest } from "../../src/app/gateway/run-request.ts";
import type { FaultRow } from "./config-rows.ts";

const of = (body: string): FaultRow["produce"] => {
  const read = readRunRequest(new TextEncoder().encode(body));
  return () => (read.ok ? { code: "none", sentence: "" } : read.error);
};

export const runRows: readonly FaultRow[] = [
  { code: "SG-RUNS-BODY", names: "body", produce: of("[") },
  { code: "SG-RUNS-KEY", names: "principle", produce: of('{"principle": "ann"}') },
  { code: "SG-RUNS-PRINCIPAL", names: "principal", produce: of('{"principal": ""}') },
  { code: "SG-RUNS-PARENT", names: "parent", produce: of('{"parent": 1}') },
  { code: "SG-RUNS-INSTRUCTION", names: "instruction", produce: of('{"instruction": 1}') },
  { code: "SG-RUNS-TTL", names: "ttl", produce: of('{"ttl": -1}') },
];
