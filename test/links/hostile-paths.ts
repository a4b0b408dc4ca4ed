// Paths after a code that try to leave the destination's folder or its host.

/** The destination whose folder they try to leave. */
export const FOLDER = "https://d.example/team/wiki";

const encode = (text: string) =>
  Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
const again = (text: string) => text.replaceAll("%", "%25");

const DOTS = [
  "..",
  "%2e%2e",
  ".%2e",
  "%2E.",
  "%252e%252e",
  "%252e.",
  ".%25252E",
  "%25%32%65%2e",
  again(again(again(encode("..")))),
  "%c0%ae%c0%ae",
  "%C0%AE.",
  "%e0%80%ae%2e",
  "%f0%80%80%ae.",
  "%u002e%u002e",
  "%uff0e.",
  "%ef%bc%8e%ef%bc%8e",
  "%e2%80%a5",
  "%25ef%25bc%258e.",
  "%ef%b8%b0",
  "%ef%b9%92%ef%b9%92",
  "%f8%80%80%80%ae.",
  "%fc%80%80%80%80%ae.",
];
const SLASHES = [
  "/",
  "%2f",
  "%5c",
  "%252f",
  "%255C",
  "%c0%af",
  "%c1%9c",
  "%u2215",
  "%ef%bc%8f",
  "%25252F",
  "%ef%b9%a8",
  "%e2%88%95",
];
const ENDS = ["", ";", ";x=1", "%3bx", "%20", "%253f", "%23a", "%ef%bc%9b", "%c2%a0"];
const BEFORE = ["", "a/", "a/b/c/", "a%2fb%2f", "%2e/"];

/** URLs already have no plain ones, but HTTP/1.0 sends them as they are. */
export function hostilePaths(): string[] {
  const paths: string[] = [];
  for (const dots of DOTS)
    for (const slash of SLASHES)
      for (const [nth, end] of ENDS.entries()) {
        const before = BEFORE[(paths.length + nth) % BEFORE.length] ?? "";
        paths.push(`/${before}${dots}${end}${slash}x`, `/${before}a${slash}${dots}${end}`);
      }
  for (const bad of ["%00", "%0d%0a", "%0D%0ALocation:x", "%2500", "%250d%250a", "%09", "%7f", "%25250a"])
    for (const before of BEFORE) paths.push(`/${before}${bad}`, `/${before}x${bad}y`);
  for (const slash of SLASHES)
    for (const rest of ["evil.example", "evil.example/", "@evil.example", "/evil.example"])
      paths.push(`/${slash}${rest}`, `/${slash}${slash}${rest}`);
  return [...new Set(paths)];
}

export const HARMLESS_PATHS = [
  "/...",
  "/....//",
  "/a..",
  "/..a",
  "/a%2e%2e",
  "/v1..v2/compare",
  "/a//b",
  "/a%2f%2fb",
  "/100%",
  "/100%25",
  "/%C0%A7",
  "/a;b=..c",
  "/https://evil.example/x",
  "/a%5cb",
];
