/** The order of test files on a machine that has not measured them yet: Vitest takes the largest first, not the slowest. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than half a minute, most of it waiting, the slowest first: none is left alone at the end. */
export const slowFiles = [
  "test/e2e/clients.test.ts",
  "test/playbook/playbook.test.ts",
  "test/e2e/isolation/projected.test.ts",
  "test/faults/killed-gateway.test.ts",
  "test/faults/limits.test.ts",
  "test/faults/parts.test.ts",
  "test/workspace/conformance.test.ts",
  "test/faults/floods.test.ts",
  "test/e2e/eras.test.ts",
  "test/process/crashes.test.ts",
  "test/process/log-failures.test.ts",
  "test/process/approvals.test.ts",
  "test/process/kills.test.ts",
  "test/cli/train.test.ts",
] as const;

function rank(specification: TestSpecification): number {
  const at = slowFiles.findIndex((file) => specification.moduleId.endsWith(`/${file}`));
  return at === -1 ? slowFiles.length : at;
}

export class SlowFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const group = (one: TestSpecification): number => one.project.config.sequence.groupOrder;
    const sorted = await super.sort(specifications);
    return sorted.toSorted((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}
