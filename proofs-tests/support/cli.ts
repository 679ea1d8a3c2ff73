// Runs the command line as people do: a process of its own, with its two streams and its exit code.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Runs `ecif` with some words; `home` is a folder with another copy of the sources. */
export function runCli(words: readonly string[], home = root): Promise<CliResult> {
  return new Promise((resolve) => {
    const args = ['--import', 'tsx', `${home}/src/cli/main.ts`, ...words];
    execFile(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, code: error === null ? 0 : Number(error.code) });
    });
  });
}
