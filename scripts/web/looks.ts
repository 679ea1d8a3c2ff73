// How pages are looked at for the pictures of the documentation.

import { type Browser, chromium } from 'playwright-core';
import sharp from 'sharp';

/** Windows, and whether it is dark. */
export const LOOKS = {
  wide: { viewport: { width: 1180, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1180, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const;

/** One of {@link LOOKS}. */
export type Look = keyof typeof LOOKS;

/** What every picture has besides. */
export const STILL = { reducedMotion: 'reduce', deviceScaleFactor: 1 } as const;

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** Writes a picture with few bytes, and says so. */
export async function savePicture(picture: Buffer, file: string): Promise<void> {
  await sharp(picture).png({ palette: true, compressionLevel: 9 }).toFile(file);
  console.log(file);
}
