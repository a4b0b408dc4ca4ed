import { encodeQR } from "qr";

/** Scanners need four modules. */
const BORDER = 4;
/** Black on white, whatever the colours of the terminal are. */
const COLOURS = "\u001b[38;5;16;48;5;231m";
const RESET = "\u001b[0m";

/** The QR code of an address in half blocks: each character is two modules, one above the other. */
export function qrText(address: string): string[] {
  const modules = encodeQR(new URL(address).href, "raw", { ecc: "medium", border: BORDER });
  const lines: string[] = [];
  for (let y = 0; y < modules.length; y += 2) {
    const upper = modules[y] ?? [];
    const lower = modules[y + 1] ?? [];
    const blocks = upper.map((isDark, x) => {
      if (isDark) return lower[x] === true ? "█" : "▀";
      return lower[x] === true ? "▄" : " ";
    });
    lines.push(`${COLOURS}${blocks.join("")}${RESET}`);
  }
  return lines;
}
