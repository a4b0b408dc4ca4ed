import { crc32, deflateSync } from "node:zlib";

import { encodeQR } from "qr";

import type { ErrorCorrection, QrStyle } from "../../api/qr-bounds.ts";

const LEVELS = { l: "low", m: "medium", q: "quartile", h: "high" } as const satisfies Record<
  ErrorCorrection,
  string
>;

/** The QR code of an address as an SVG document. The code contains the ASCII form. */
export function drawSvg(address: string, style: QrStyle): string {
  const { modules, pixels, scale, start } = layOut(address, style);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${pixels}" height="${pixels}"` +
    ` viewBox="0 0 ${pixels} ${pixels}" shape-rendering="crispEdges"><title>${Bun.escapeHTML(address)}</title>` +
    `<rect width="100%" height="100%" fill="#${style.light}"/>` +
    `<path transform="translate(${start} ${start})scale(${scale})" stroke="#${style.dark}" d="${pathDataOf(modules)}"/></svg>\n`
  );
}

/** The same as PNG with one bit per pixel (ISO/IEC 15948). */
export function drawPng(address: string, style: QrStyle): Uint8Array {
  const { modules, pixels, scale, start } = layOut(address, style);
  // Each line starts with the number of its filter. 0 means none.
  const lineBytes = 1 + Math.ceil(pixels / 8);
  const lines = new Uint8Array(lineBytes * pixels);
  for (const [y, row] of modules.entries()) {
    const top = (start + y * scale) * lineBytes;
    const line = lines.subarray(top, top + lineBytes);
    for (const [x, isDark] of row.entries()) {
      const left = start + x * scale;
      const right = isDark ? left + scale : left;
      for (let at = left; at < right; at++) {
        const byte = 1 + (at >> 3);
        line[byte] = (line[byte] ?? 0) | (128 >> (at & 7));
      }
    }
    for (let below = 1; below < scale; below++) lines.set(line, top + below * lineBytes);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels, 0);
  header.writeUInt32BE(pixels, 4);
  // Bit depth 1, colour type 3 (palette).
  header.set([1, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1A\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(style.light + style.dark, "hex")),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The modules of an address's QR code without its margin, true for dark ones. */
export function modulesOf(address: string, ecc: ErrorCorrection): boolean[][] {
  // The library always draws a border, of one module at least.
  const bordered = encodeQR(new URL(address).href, "raw", { ecc: LEVELS[ecc], border: 1 });
  return bordered.slice(1, -1).map((row) => row.slice(1, -1));
}

/** The dark modules as an SVG path for a stroke of width 1. */
export function pathDataOf(modules: readonly (readonly boolean[])[]): string {
  return modules
    .flatMap((row, y) => {
      const line = row.map((isDark) => (isDark ? "#" : " ")).join("");
      return [...line.matchAll(/#+/g)].map(({ index, 0: { length } }) => `M${index} ${y}.5h${length}`);
    })
    .join("");
}

/** Gives every module the same whole number of pixels, so that edges are sharp. The margin takes the rest. */
function layOut(address: string, { size, margin, ecc }: QrStyle) {
  const modules = modulesOf(address, ecc);
  const across = modules.length + 2 * margin;
  const scale = Math.max(1, Math.floor(size / across));
  const pixels = Math.max(size, across);
  return { modules, pixels, scale, start: Math.floor((pixels - modules.length * scale) / 2) };
}

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, check]);
}
