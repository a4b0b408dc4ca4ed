import jsqr from "jsqr";
import type { Locator, Page } from "playwright-core";

/** In the page: the pixels of an image, enlarged `zoom` times. */
const RASTERISE = `async (address, zoom) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const { naturalWidth, naturalHeight } = image;
  const canvas = new OffscreenCanvas(naturalWidth * zoom, naturalHeight * zoom);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return { width: naturalWidth, height: naturalHeight, pixels: new Uint8Array(data.buffer).toBase64() };
}`;

export interface Raster {
  readonly width: number;
  readonly height: number;
  /** Four bytes per pixel: red, green, blue, alpha. */
  readonly pixels: Uint8ClampedArray;
}

/** Decodes an image with a browser's page, whose policy must allow images in its address. */
export async function rasterise(page: Page, image: Uint8Array, type: string, zoom = 1): Promise<Raster> {
  const address = `data:${type};base64,${Buffer.from(image).toString("base64")}`;
  const { width, height, pixels } = await page.evaluate<{ width: number; height: number; pixels: string }>(
    `(${RASTERISE})(${JSON.stringify(address)}, ${zoom})`,
  );
  return { width, height, pixels: new Uint8ClampedArray(Buffer.from(pixels, "base64")) };
}

/** Chromium sometimes can't take a picture while the machine is busy. */
async function capture(seen: Page | Locator): Promise<Buffer> {
  try {
    return await seen.screenshot();
  } catch (error) {
    if (!String(error).includes("Unable to capture screenshot")) throw error;
    return seen.screenshot();
  }
}

/** The text that a camera reads from a page or a part of it. */
export async function scan(blank: Page, seen: Page | Locator): Promise<string | undefined> {
  const { width, height, pixels } = await rasterise(blank, await capture(seen), "image/png");
  // Light codes on dark don't count: many scanners can't read them.
  return jsqr(pixels, width, height, { inversionAttempts: "dontInvert" })?.data;
}
