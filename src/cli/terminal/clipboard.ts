import type { Environment } from "../command.ts";

/** Programs that copy their standard input, and the variable without which they have nothing to copy to. */
const PROGRAMS = [
  { command: ["pbcopy"], needs: undefined },
  { command: ["wl-copy"], needs: "WAYLAND_DISPLAY" },
  { command: ["xclip", "-selection", "clipboard"], needs: "DISPLAY" },
];
/** A display that does not answer must not hold up the command for long. */
const LIMIT_MS = 5000;

/**
 * Copies a text in two ways: with a program of the desktop if there is one, and by asking the terminal (OSC 52), which may
 * be on another machine. Resolves with what was done, in words: a terminal does not say whether it copied.
 */
export async function copyToClipboard(text: string, environment: Environment): Promise<string> {
  process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  for (const { command, needs } of PROGRAMS) {
    const [name = "", ...args] = command;
    const path = Bun.which(name, { PATH: environment["PATH"] ?? "" });
    if (path === null || (needs !== undefined && !environment[needs])) continue;
    const child = Bun.spawn([path, ...args], {
      stdin: Buffer.from(text),
      stdout: "ignore",
      stderr: "ignore",
      timeout: LIMIT_MS,
    });
    if ((await child.exited) === 0) return `Copied with ${name}.`;
  }
  return "Copied, if your terminal lets programs copy (OSC 52).";
}
