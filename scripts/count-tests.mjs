// Prints `N passed, N failed[, N skipped]` from the file of vitest's JSON reporter named on the command line.
import { readFileSync } from 'node:fs';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const count = { passed: 0, failed: 0, skipped: 0 };
for (const file of testResults) {
  const states = file.assertionResults.map((test) => test.status);
  for (const state of states) count[state === 'passed' || state === 'failed' ? state : 'skipped']++;
  // A file that cannot be loaded, or whose hooks fail, has no failed test of its own.
  if (file.status === 'failed' && !states.includes('failed')) count.failed++;
}
const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
