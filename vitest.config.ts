// Test projects: `proofs` and `docs` need only a CPU, `gpu-node` an adapter under Node, `browser` a Chromium.
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const minute = 60_000;

/** One process at a time, after the projects of lower order: software Vulkan takes every core, and compiles slowly. */
function oneAtATime(name: string, include: string[], groupOrder: number): TestProjectInlineConfiguration {
  return { extends: true, test: { name, include, maxWorkers: 1, testTimeout: 5 * minute, sequence: { groupOrder } } };
}

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: minute,
    hookTimeout: minute,
    projects: [
      {
        extends: true,
        test: {
          name: 'proofs',
          include: ['proofs-tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'proofs-tests/{gpu,browser,docs}/**'],
          maxWorkers: '100%',
          testTimeout: 2 * minute,
          sequence: { groupOrder: 0 },
        },
      },
      oneAtATime('gpu-node', ['proofs-tests/gpu/**/*.test.ts'], 1),
      oneAtATime('browser', ['proofs-tests/browser/**/*.test.ts'], 2),
      oneAtATime('docs', ['proofs-tests/docs/**/*.test.ts'], 3),
    ],
  },
});
