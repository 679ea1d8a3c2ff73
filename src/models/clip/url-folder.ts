// A folder on a server, its files fetched when they are opened.

import { EcifError } from '../../array/errors.ts';
import { blobSource, type ByteFolder, isPlainName } from './byte-source.ts';

/** How far a file has come. */
export interface FetchProgress {
  readonly file: string;
  /** Bytes so far. */
  readonly received: number;
  /** Bytes in all; null where the server does not say. */
  readonly total: number | null;
}

/** Settings of {@link urlFolder}. */
export interface UrlFolderOptions {
  /** The files there are; others are not asked for. Without it every file is asked for, and one not found is none. */
  readonly files?: readonly string[];
  /** Told of every piece that arrives. */
  onProgress?(progress: FetchProgress): void;
}

/** The length of a body; null where it is packed, or not told. */
function totalOf({ headers }: Response): number | null {
  const length = headers.get('content-length');
  return length === null || headers.has('content-encoding') ? null : Number(length);
}

/** The body of an answer, kept as the browser keeps blobs. */
async function bodyOf(
  response: Response,
  file: string,
  onProgress: UrlFolderOptions['onProgress'],
): Promise<Blob> {
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const total = totalOf(response);
  let received = 0;
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    parts.push(part.value);
    received += part.value.length;
    onProgress?.({ file, received, total });
  }
  return new Blob(parts);
}

/**
 * A folder on a server. Files are fetched whole, each once.
 * @param url of the folder, absolute
 * @throws EcifError, in opening, for a name that leaves the folder, or a file that cannot be fetched
 * @example const directory = await openClipDirectory(urlFolder(new URL('model/', location.href)));
 */
export function urlFolder(url: string | URL, { files, onProgress }: UrlFolderOptions = {}): ByteFolder {
  const base = new URL(url);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  const name = base.href.replace(/\/$/, '');
  const fetched = new Map<string, Promise<Blob | null>>();
  const fetchFile = async (file: string): Promise<Blob | null> => {
    const fix = 'check the address and the connection';
    try {
      const response = await fetch(new URL(encodeURIComponent(file), base));
      if (response.status === 404) return null;
      if (!response.ok) throw new EcifError(`${name}/${file}: the server answers ${response.status}; ${fix}`);
      return await bodyOf(response, file, onProgress);
    } catch (error) {
      fetched.delete(file);
      if (error instanceof EcifError) throw error;
      throw new EcifError(`${name}/${file}: cannot be fetched, ${(error as Error).message}; ${fix}`, { cause: error });
    }
  };
  return {
    name,
    open: async (file) => {
      if (!isPlainName(file)) throw new EcifError(`${name}: ${JSON.stringify(file)} leaves the folder; name a file in it`);
      if (files !== undefined && !files.includes(file)) return null;
      if (!fetched.has(file)) fetched.set(file, fetchFile(file));
      const blob = await fetched.get(file);
      return blob == null ? null : blobSource(`${name}/${file}`, blob);
    },
  };
}
