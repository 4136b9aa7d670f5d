// The tests of one mutated file, which `scripts/mutate.ts` names: Stryker runs them once for each mutant.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: (process.env["SLUICEGATE_MUTATION_TESTS"] ?? "").split(","),
    setupFiles: ["test/setup.ts"],
    testTimeout: 30_000,
  },
});
