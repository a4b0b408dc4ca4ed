import { expect, test } from "bun:test";

import crawlers from "crawler-user-agents";
import * as fc from "fast-check";

import { type Agent, containsAnyOf, readAgent } from "../../src/visits/user-agent.ts";

/** `Chrome, Windows, desktop | Mozilla/5.0 …`, where "none" stands for an empty name. */
function rowsOf(text: string) {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [names = "", userAgent = ""] = line.split(" | ");
      const [browser = "", os = "", device = ""] = names
        .split(",")
        .map((name) => name.trim().replace("none", ""));
      return { userAgent, agent: { bot: false, browser, os, device: device as Agent["device"] } };
    });
}

/** User agents of browsers, apps and televisions, with their browser, system and device. */
const PEOPLE = rowsOf(`
Chrome, Windows, desktop            | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36
Edge, Windows, desktop              | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.3595.53
Firefox, Windows, desktop           | Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0
Whale, Windows, desktop             | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Whale/4.29.282.14 Safari/537.36
Opera, Windows, desktop             | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/134.0.0.0 Safari/537.36 OPR/119.0.0.0
Internet Explorer, Windows, desktop | Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko
Chrome, Windows, desktop            | Mozilla/5.0 (Windows NT 6.1; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36
Vivaldi, Windows, desktop           | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Vivaldi/7.6.3797.63
Yandex, Windows, desktop            | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 YaBrowser/25.8.0.0 Safari/537.36
Safari, macOS, desktop              | Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15
Chrome, macOS, desktop              | Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36
Firefox, macOS, desktop             | Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0
Chrome, Linux, desktop              | Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36
Firefox, Linux, desktop             | Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0
Chrome, ChromeOS, desktop           | Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36
Safari, iOS, phone                  | Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1
Chrome, iOS, phone                  | Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1
Firefox, iOS, phone                 | Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/145.0 Mobile/15E148 Safari/605.1.15
Edge, iOS, phone                    | Mozilla/5.0 (iPhone; CPU iPhone OS 18_5_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 EdgiOS/136.0.3240.91 Mobile/15E148 Safari/604.1
Opera, iOS, phone                   | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1 OPT/5.4.1
Safari, iOS, tablet                 | Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1
Chrome, iOS, tablet                 | Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1
Chrome, Android, phone              | Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36
Chrome, Android, tablet             | Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36
Samsung Internet, Android, phone    | Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36
Samsung Internet, Android, tablet   | Mozilla/5.0 (Linux; Android 13; SM-X906C) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/20.0 Chrome/106.0.5249.126 Safari/537.36
Edge, Android, phone                | Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0
Firefox, Android, phone             | Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0
Firefox, Android, tablet            | Mozilla/5.0 (Android 15; Tablet; rv:145.0) Gecko/145.0 Firefox/145.0
Opera, Android, phone               | Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/135.0.0.0 Mobile Safari/537.36 OPR/89.0.0.0
Android WebView, Android, phone     | Mozilla/5.0 (Linux; Android 14; SM-S918N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.7204.179 Mobile Safari/537.36
KakaoTalk, Android, phone           | Mozilla/5.0 (Linux; Android 14; SM-S928N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/122.0.6261.119 Mobile Safari/537.36;KAKAOTALK 2410540
KakaoTalk, Android, phone           | Mozilla/5.0 (Linux; Android 13; SM-A536N Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/116.0.0.0 Mobile Safari/537.36 KAKAOTALK/10.3.5 (INAPP)
KakaoTalk, iOS, phone               | Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 KAKAOTALK/10.7.0 (INAPP)
KakaoTalk, iOS, phone               | Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 KAKAOTALK 10.7.0
NAVER, Android, phone               | Mozilla/5.0 (Linux; Android 14; SM-F946N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.186 Whale/1.0.0.0 Crosswalk/29.126.0.18 Mobile Safari/537.36 NAVER(inapp; search; 2000; 12.8.4)
NAVER, iOS, phone                   | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1 NAVER(inapp; search; 2000; 12.8.2; 15PRO)
Whale, Android, phone               | Mozilla/5.0 (Linux; Android 12; SM-N971N) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.6099.230 Whale/1.0.0.0 Crosswalk/28.120.0.21 Mobile Safari/537.36
Whale, iOS, phone                   | Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Whale/3.2.3.1 Mobile/15E148 Safari/604.1
Instagram, iOS, phone               | Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 Instagram 356.0.0.25.91 (iPhone14,5; iOS 18_1; ko_KR; ko; scale=3.00; 1170x2532; 656471493)
Instagram, Android, phone           | Mozilla/5.0 (Linux; Android 14; SM-A546S Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.107 Mobile Safari/537.36 Instagram 357.0.0.42.95 Android (34/14; 450dpi; 1080x2125; samsung; SM-A546S; a54x; s5e8835; ko_KR; 661133211)
Facebook, iOS, phone                | Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21G93 [FBAN/FBIOS;FBAV/485.1.0.45.110;FBBV/658316746;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS;FBSV/17.6.1;FBSS/3;FBID/phone;FBLC/ko_KR;FBOP/5;FBRV/661039018]
Facebook, Android, phone            | Mozilla/5.0 (Linux; Android 14; SM-S911N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/484.0.0.65.88;]
Facebook, Android, phone            | Mozilla/5.0 (Linux; Android 14; SM-S911N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36 [FB_IAB/Orca-Android;FBAV/478.0.0.42.86;]
LINE, Android, phone                | Mozilla/5.0 (Linux; Android 13; SM-G998N Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/128.0.6613.127 Mobile Safari/537.36 Line/14.14.1/IAB
LINE, iOS, phone                    | Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari Line/14.14.0
Google, iOS, phone                  | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/320.0.640894283 Mobile/15E148 Safari/604.1
TikTok, iOS, phone                  | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 musical_ly_34.9.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/ko Region/KR isDarkMode/0 WKWebView/1 BytedanceWebview/d8a21c6
X, iOS, phone                       | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Twitter for iPhone/10.46
none, iOS, phone                    | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/21F79 [Pinterest/iOS]
LinkedIn, Android, phone            | Mozilla/5.0 (Linux; Android 14; SM-S711N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 [LinkedInApp]/4.1.975
WeChat, iOS, phone                  | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.49(0x18003137) NetType/WIFI Language/ko
Daum, Android, phone                | Mozilla/5.0 (Linux; Android 14; SM-S711N Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 DaumApps/7.9.5 DaumDevice/mobile
Chrome, Android, phone              | Mozilla/5.0 (Linux; Android 9; LM-G710N) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36
Chrome, Android, tablet             | Mozilla/5.0 (Linux; Android 13; SM-X710N) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36
Silk, Android, tablet               | Mozilla/5.0 (Linux; Android 11; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/108.4.6 like Chrome/108.0.5359.160 Safari/537.36
Mi Browser, Android, phone          | Mozilla/5.0 (Linux; Android 13; 22081212C) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.6.0-gn
Safari, Tizen, tv                   | Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0.4183.93/6.5 TV Safari/537.36
Samsung Internet, Tizen, tv         | Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/2.2 Chrome/63.0.3239.84 TV Safari/537.36
Chrome, webOS, tv                   | Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 WebAppManager
Chrome, Android, tv                 | Mozilla/5.0 (Linux; Android 9; BRAVIA 4K UR2 Build/PTT1.190515.001.S104) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/108.0.0.0 Safari/537.36 TV
Android WebView, Android, tv        | Mozilla/5.0 (Linux; Android 12; Chromecast Build/STTL.240206.002; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/121.0.6167.178 Safari/537.36 CrKey/1.56.500000
Safari, PlayStation, other          | Mozilla/5.0 (PlayStation; PlayStation 5/6.50) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15
none, Nintendo, other               | Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/606.4 (KHTML, like Gecko) NF/6.0.1.15.4 NintendoBrowser/5.1.0.20393
Epiphany, Linux, desktop            | Mozilla/5.0 (X11; Linux aarch64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.0 Safari/605.1.15 Epiphany/605.1.15
Firefox, KaiOS, phone               | Mozilla/5.0 (Mobile; Nokia 8110 4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5.2.1
Huawei Browser, HarmonyOS, phone    | Mozilla/5.0 (Linux; Android 12; HarmonyOS; NOH-AN01; HMSCore 6.13.0.302) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 HuaweiBrowser/15.0.4.312 Mobile Safari/537.36
UC Browser, Android, phone          | Mozilla/5.0 (Linux; U; Android 13; en-US; RMX3085) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/13.4.0.1306 Mobile Safari/537.36
DuckDuckGo, iOS, phone              | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15
Cốc Cốc, Windows, desktop           | Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) coc_coc_browser/120.0.174 Chrome/114.0.0.0 Safari/537.36
none, iOS, phone                    | Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 Barcelona 356.0.0.25.91 (iPhone14,5; iOS 18_1; ko_KR; ko; scale=3.00; 1170x2532; 656471493)
Chrome, Android, phone              | Mozilla/5.0 (Linux; Android 13; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36
Sogou, iOS, phone                   | Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 SogouMobileBrowser/15.0.0 Safari/604.1
Internet Explorer, Windows, desktop | Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)
Opera, Android, phone               | Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16
Snapchat, iOS, phone                | Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Snapchat/12.90.0.44 (like Safari/8617.2.4.10.8, panda)
Android WebView, Android, phone     | Mozilla/5.0 (Linux; Android 14; SM-S711N; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.122 Mobile Safari/537.36 Viber/22.8.0
none, Linux, desktop                | Mozilla/5.0 (X11; Linux x86_64) something new
none, none, other                   | Mozilla/5.0 (an unheard-of machine) Unheard/1.0
`);

/** User agents of bots, which request links that nobody clicked. */
const BOTS = [
  "",
  "-",
  "Mozilla/5.0",
  "facebookexternalhit/1.1;kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
  "kakaotalk-scrap/1.0",
  "Mozilla/5.0 (compatible; kakaotalk-scrap/1.0)",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/120.0.0.0 Safari/537.36 kakaotalk-scrap/1.0",
  "Mozilla/5.0 (compatible; Yeti/1.1; +https://naver.me/spd)",
  "Mozilla/5.0 (compatible; Blueno/1.0; +http://naver.me/scrap)",
  "Mozilla/5.0 (compatible; Daum/4.1; +http://cs.daum.net/faq/15/4118.html?faqId=28966)",
  "Mozilla/5.0 (compatible; MSIE or Firefox mutant; not on Windows server;) Daumoa/4.0",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
  "facebookplatform/1.0 (+http://developers.facebook.com)",
  "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Slack-ImgProxy (+https://api.slack.com/robots)",
  "Twitterbot/1.0",
  "TelegramBot (like TwitterBot)",
  "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
  "WhatsApp/2.23.20.0 A",
  "Viber/13.3.0.22",
  "line-poker/1.0",
  "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
  "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0 Safari/537.36 MicrosoftPreview/2.0",
  "Bluesky Cardyb/1.1; +mailto:support@bsky.app",
  "http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.social/) Bot",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/120.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
  "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Windows NT; Windows NT 10.0; ko-KR) WindowsPowerShell/5.1.22621.2506",
  "Mozilla/5.0 (X11; Linux x86_64) Sogou web spider/4.0",
  "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
  "Mozilla/5.0 (X11; Linux x86_64) Unheard/1.0 (+https://example.com/about)",
  `Mozilla/5.0 (Linux; ${"Android ".repeat(6)}) Chrome/142.0.0.0 Mobile Safari/537.36`,
  "curl/8.5.0",
  "Wget/1.21.4",
  "python-requests/2.31.0",
  "Python-urllib/3.11",
  "Go-http-client/2.0",
  "okhttp/4.12.0",
  "axios/1.6.7",
  "node",
  "Bun/1.2.0",
  "Java/17.0.2",
  "PostmanRuntime/7.36.1",
  "Dalvik/2.1.0 (Linux; U; Android 14; SM-S918N Build/UP1A.231005.007)",
  "MyApp/1 CFNetwork/1494.0.7 Darwin/23.4.0",
  "kube-probe/1.28",
];

const BOT: Agent = { bot: true, browser: "", os: "", device: "other" };

test("readAgent recognizes the browser, system and device of people", () => {
  const results = PEOPLE.map(({ userAgent }) => ({ userAgent, agent: readAgent(userAgent) }));
  expect(results).toEqual(PEOPLE);
});

test("readAgent recognizes bots, without a browser or system", () => {
  const results = BOTS.map((userAgent) => [userAgent, readAgent(userAgent)]);
  expect(results).toEqual(BOTS.map((userAgent) => [userAgent, BOT]));
});

test("readAgent recognizes every example of crawler-user-agents as a bot, except those of Fluid", () => {
  const examples = crawlers.flatMap(({ instances }) => instances);
  expect(examples.length).toBeGreaterThan(2000);
  // Fluid turned a site into a browser of its own on a Mac.
  expect(examples.filter((userAgent) => !readAgent(userAgent).bot && !userAgent.includes("Fluid/"))).toEqual(
    [],
  );
});

test("containsAnyOf finds the same texts as a plain search", () => {
  const unit = fc.constantFrom("a", "b", "c");
  const parts = fc.array(fc.string({ unit, minLength: 3, maxLength: 6 }), { maxLength: 6 });
  fc.assert(
    fc.property(parts, fc.string({ unit, maxLength: 20 }), (some, text) => {
      expect(containsAnyOf(some)(text)).toBe(some.some((part) => text.includes(part)));
    }),
    { numRuns: 1000 },
  );
});

test("readAgent ignores a bot's name 16,000 characters behind a browser's", () => {
  const { userAgent: chrome = "" } = PEOPLE[0] ?? {};
  expect(readAgent(`${chrome}${" ".repeat(16_000)}Twitterbot`)).toEqual(readAgent(chrome));
});

test("readAgent returns short names in one spelling and a known device for any text", () => {
  const words = fc.constantFrom(
    ...new Set(PEOPLE.flatMap(({ userAgent }) => userAgent.split(/(?<=[ ;/()])/))),
    "\uD800",
    "\0",
    "  ",
    "kakaoTALK/9",
    "LINUX ",
    "QQ/1",
    "(",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.array(words, { maxLength: 30 }).map((parts) => `Mozilla/5.0 (${parts.join("")}`),
    fc.array(words, { maxLength: 30 }).map((parts) => parts.join("")),
  );
  const values = new Set(["Cốc Cốc", ""]);
  fc.assert(
    fc.property(text, (userAgent) => {
      const { browser, os, device } = readAgent(userAgent);
      for (const name of [browser, os]) {
        expect(values.has(name) || /^[A-Za-z0-9][A-Za-z0-9 ]{0,23}$/.test(name)).toBe(true);
        // Names have one spelling, regardless of the header's.
        expect(/^(?:kakaotalk|LINUX|QQ)$/.test(name)).toBe(false);
      }
      expect(["desktop", "phone", "tablet", "tv", "other"]).toContain(device);
    }),
  );
  for (const part of ["a", " ", "(", "Mozilla/5.0 (", "Version/4.0 Mobile Safari ", "\uD800", "SM-", ";"])
    readAgent(`Mozilla/5.0 (${part.repeat(16_000 / part.length)}`);
});
