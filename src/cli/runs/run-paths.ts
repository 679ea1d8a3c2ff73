// Paths that a run was given, found again from any folder, also where the run was moved together with what they name.

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { EcifError } from '../../array/errors.ts';
import { runFile, type RunRecord } from './run-folder.ts';
import { settingsOfRun, type TrainSettings } from '../train/options.ts';

/** Options of a run that are paths. */
const PATHS = ['data', 'model', 'from-scratch', 'class-names', 'noise-labels', 'without'] as const;

/** Where the paths of a run are. */
export interface RunPlaces {
  /** The folder that they were typed in. */
  readonly cwd: string;
  /** As seen from the folder of the run. */
  readonly places: Readonly<Record<string, string>>;
}

/** Notes where paths are that were given to a command on a run. */
export function placesOf(folder: string, paths: Readonly<Record<string, string | undefined>>): RunPlaces {
  const given = Object.entries(paths).flatMap(([name, path]) =>
    path === undefined ? [] : [[name, relative(resolve(folder), resolve(path))]],
  );
  return { cwd: process.cwd(), places: Object.fromEntries(given) as Record<string, string> };
}

/** Notes where the paths of a new run are. */
export const placesOfRun = (folder: string, settings: TrainSettings): RunPlaces =>
  placesOf(folder, Object.fromEntries(PATHS.map((name) => [name, settings[name]])));

/** Whether something is there; of a list of files in braces, their folder. */
const isThere = (path: string): boolean => existsSync(path.includes('{') ? dirname(path.split('{')[0] + 'x') : path);

/**
 * Where a path is now: as typed where that is the place, else beside the run, where it was, or from here.
 * @throws EcifError where it is nowhere
 */
export function placeNow(folder: string, path: string, name: string, { cwd, places }: Partial<RunPlaces>): string {
  const beside = places?.[name];
  const candidates = [
    ...(isAbsolute(path) ? [path] : []),
    ...(beside === undefined ? [] : [join(folder, beside)]),
    ...(cwd === undefined ? [] : [resolve(cwd, path)]),
    path,
    join(folder, path),
  ];
  const place = candidates.find(isThere);
  if (place === undefined) {
    const looked = [...new Set(candidates.map((one) => resolve(one)))].join(', ');
    throw new EcifError(`${folder}: ${name} of the run is not there, looked for at ${looked}; restore it`);
  }
  return resolve(place) === resolve(path) ? path : place;
}

/**
 * The settings of a run from its record, with paths that can be read from here.
 * @throws EcifError for a path that is nowhere
 */
export function settingsIn(folder: string, record: RunRecord): TrainSettings {
  const settings = settingsOfRun(record.options, runFile(folder, 'run'));
  const now = PATHS.flatMap((name) => {
    const path = settings[name];
    return path === undefined ? [] : [[name, placeNow(folder, path, name, record as Partial<RunPlaces>)]];
  });
  return { ...settings, ...(Object.fromEntries(now) as Partial<TrainSettings>) };
}
