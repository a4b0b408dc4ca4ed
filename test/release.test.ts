import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { releaseChanges } from "../scripts/release.ts";
import { ROOT } from "./service.ts";

const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");

test("a release puts the unreleased changes under its version and keeps the heading for the next ones", () => {
  const released = releaseChanges(changelog, "99.0.0");
  expect(released).toContain("## Unreleased\n\n## 99.0.0\n\n### ");
  expect(released.replace("\n## 99.0.0\n", "")).toBe(changelog);
});

test("a release without changes is refused", () => {
  expect(() => releaseChanges(releaseChanges(changelog, "99.0.0"), "99.0.1")).toThrow(
    "CHANGELOG.md has no unreleased changes",
  );
});
