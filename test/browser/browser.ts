import { type Browser, chromium as playwright } from "playwright-core";

/** A real Chromium out of npm, with the libraries that a bare machine lacks. It talks to loopback only. */
export async function openBrowser(): Promise<Browser> {
  // Here and only so the package unpacks its libraries (NSS and others) and points the loader at them.
  process.env["AWS_LAMBDA_JS_RUNTIME"] ??= "nodejs22.x";
  const { default: chromium } = await import("@sparticuz/chromium");
  const quiet = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ];
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    // Root, as in many CI machines, has no sandbox to give. The package's own arguments switch web security off.
    args: ["--no-sandbox", "--disable-gpu", ...quiet],
    headless: true,
  });
}
