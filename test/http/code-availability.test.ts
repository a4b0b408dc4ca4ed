import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { BASE_URL, shareService } from "../support/service.ts";
import { sendRaw } from "./raw.ts";

const curt = shareService({}, { standsStill: true });

const original_url = "https://example.com/";
const KOREAN = { "Accept-Language": "ko" };

/** Queries a code, given percent-encoded. Resolves with status and body. */
async function queryCode(written: string, headers = {}, service = curt): Promise<[number, any]> {
  const response = await service.fetch(`/api/v1/codes/${written}`, { headers });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  return [response.status, await response.json()];
}

async function createLink(custom_code: string, headers = {}): Promise<[number, any]> {
  const response = await curt.shorten({ original_url, custom_code }, headers);
  return [response.status, await response.json()];
}

async function isAvailable(code: string, service = curt): Promise<boolean> {
  const [status, { data }] = await queryCode(code, {}, service);
  expect(status).toBe(200);
  return data.available;
}

describe("GET /api/v1/codes/{code}", () => {
  test("says whether a code is available, in the caller's language", async () => {
    const data = { code: "한글", available: true, free: [], short_url: `${BASE_URL}/한글/` };
    for (const written of ["한글", "한글/", "%ED%95%9C%EA%B8%80", "%ED%95%9C%EA%B8%80/?x=1"]) {
      expect(await queryCode(written)).toEqual([200, { status: "success", message: en.free, data }]);
      expect(await queryCode(written, KOREAN)).toEqual([200, { status: "success", message: ko.free, data }]);
    }
    await createLink("한글");
    const taken = { ...data, available: false, free: ["한글-2", "한글-3", "한글-4"] };
    expect(await queryCode("한글")).toEqual([200, { status: "success", message: en.taken, data: taken }]);
    expect(await queryCode("한글", KOREAN)).toEqual([
      200,
      { status: "success", message: ko.taken, data: taken },
    ]);
    expect(await isAvailable("한글2")).toBeTrue();
  });

  test("suggests up to three free codes like a taken one, and none that is too long", async () => {
    const longest = "길".repeat(63);
    for (const code of ["like", "like-2", "like-4", "like-7", longest]) await createLink(code);
    const free = async (code: string) => (await queryCode(code))[1].data.free;
    expect(await free("like")).toEqual(["like-3", "like-5", "like-6"]);
    for (const suffix of [3, 5, 6, 8]) await createLink(`like-${suffix}`);
    expect(await free("like")).toEqual(["like-9"]);
    expect(await free("like-2")).toEqual(["like-2-2", "like-2-3", "like-2-4"]);
    expect(await free(longest)).toEqual([]);
  });

  test("returns the code as stored, and the short address as written", async () => {
    for (const [written, code, path] of [
      ["❤️", "❤", "❤️"],
      ["각".normalize("NFD"), "각", "각".normalize("NFD")],
      ["#️⃣", "#⃣", "%23️⃣"],
    ] as const) {
      const data = { code, available: true, free: [], short_url: `${BASE_URL}/${path}/` };
      expect((await queryCode(encodeURIComponent(written)))[1].data).toEqual(data);
      const [, created] = await createLink(written);
      expect(created.data.short_url).toBe(data.short_url);
      for (const spelling of [written, code]) {
        expect(await isAvailable(encodeURIComponent(spelling))).toBeFalse();
      }
    }
  });

  test("refuses the codes that a create refuses, with the same message", async () => {
    const reserved = ["api", "API", "docs", "livez"];
    const long = ["a".repeat(65), "a".repeat(10_000)];
    const visible = ["a/b", "/", "a?b", "a+b", "\\", "#", "..a", "%", "%2", "%00"];
    const invisible = ["\0", " ", "a b", "\uFE0F", "ㅤ", "\u200B", "\u202Ea", "\u0301"];
    for (const custom_code of [...reserved, ...long, ...visible, ...invisible]) {
      for (const headers of [{}, KOREAN]) {
        const response = await queryCode(encodeURIComponent(custom_code), headers);
        expect(response[0]).toBe(400);
        const [status, { message }] = await createLink(custom_code, headers);
        expect([response[0], `custom_${response[1].message}`]).toEqual([status, message]);
      }
    }
  });

  test("answers 400 to ill-formed encodings, and 404 to paths that aren't a code", async () => {
    const undecodable = ["%E0%A4%A", "%E0%A4", "%ED%A0%80", "%", "%zz", "%ED%95%9C%E0", "%C0%AF", "%2500"];
    const bytes = [[0xff], [0xe0, 0xa4], [0xed, 0xa0, 0x80]].map((part) => Uint8Array.from(part));
    const elsewhere = ["", "/", "//", "a/b", "\\", "#%EF%B8%8F%E2%83%A3"];
    const cases = [
      ...[...undecodable, ...bytes].map((path) => [path, 400] as const),
      ...elsewhere.map((path) => [path, 404] as const),
    ];
    for (const [path, status] of cases) {
      const parts = ["GET /api/v1/codes/", path, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"];
      const response = await sendRaw(curt.origin, Buffer.concat(parts.map((part) => Buffer.from(part))));
      expect(response.slice(0, 12), String(path)).toEqual(`HTTP/1.1 ${status}`);
      expect(response).toContain(`{"status":"error","message":"`);
    }
  });
});
