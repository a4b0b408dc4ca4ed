/** Statistics break visits down by these. Stored rows have the values in this order, so add new ones at the end. */
export const DIMENSIONS = [
  "referrers",
  "countries",
  "browsers",
  "operating_systems",
  "devices",
  "languages",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The properties of a visit. Unknown is "". */
export interface Traits {
  readonly agent: { readonly browser: string; readonly os: string; readonly device: string };
  readonly referrer: string;
  readonly language: string;
  readonly country: string;
}

/** The values in the order of {@link DIMENSIONS}. */
export function textsOf({ agent, referrer, country, language }: Traits): readonly string[] {
  return [referrer, country, agent.browser, agent.os, agent.device, language];
}

/**
 * Common values. A row has their place in these lists instead of the text, so add new ones at the end. The first 64
 * take one byte, all others two. Any other value is stored as text.
 */
export const NAMES: Readonly<Record<Dimension, readonly string[]>> = {
  referrers: [
    "",
    ...words(`google.com facebook.com m.facebook.com l.facebook.com lm.facebook.com instagram.com l.instagram.com
      t.co x.com youtube.com m.youtube.com bing.com reddit.com out.reddit.com linkedin.com lnkd.in duckduckgo.com
      naver.com search.naver.com m.search.naver.com blog.naver.com m.blog.naver.com cafe.naver.com m.cafe.naver.com
      daum.net search.daum.net m.search.daum.net cafe.daum.net m.cafe.daum.net pf.kakao.com threads.net l.threads.com
      pinterest.com tiktok.com news.ycombinator.com github.com wikipedia.org en.wikipedia.org en.m.wikipedia.org
      yahoo.com search.yahoo.com search.yahoo.co.jp baidu.com m.baidu.com weibo.com zhihu.com yandex.ru ya.ru vk.com
      away.vk.com ok.ru mail.google.com outlook.live.com web.telegram.org web.whatsapp.com teams.microsoft.com
      discord.com slack.com app.slack.com chatgpt.com medium.com substack.com tumblr.com
      bsky.app mastodon.social quora.com stackoverflow.com twitch.tv line.me notion.so docs.google.com
      news.google.com google.co.uk google.de google.fr google.co.jp google.co.kr google.co.in google.com.br google.ca
      google.es google.it google.com.au google.com.tw google.com.hk google.com.vn google.co.id google.co.th google.nl
      google.pl google.com.mx google.com.tr google.ru ecosia.org search.brave.com perplexity.ai startpage.com qwant.com
      copilot.microsoft.com gemini.google.com claude.ai yna.co.kr dcinside.com gall.dcinside.com m.dcinside.com
      fmkorea.com theqoo.net clien.net ppomppu.co.kr namu.wiki ruliweb.com inven.co.kr tistory.com brunch.co.kr
      velog.io note.com ameblo.jp b.hatena.ne.jp getpocket.com feedly.com flipboard.com mail.naver.com
      mail.yahoo.com mail.daum.net linktr.ee`),
  ],
  countries: [
    "",
    ...words(`KR US JP DE GB FR IN BR CN TW VN CA AU ID TH IT ES NL PL MX TR RU UA SE SG HK PH MY AR CH AT BE NO DK FI
      IE PT CZ GR RO HU IL SA AE EG ZA NG KE PK BD LK NP MM KH LA MN KZ UZ CL CO PE VE NZ MO EC BO PY UY CR PA DO GT
      HN SV NI CU PR JM TT HR RS SI SK BG LT LV EE LU MT CY IS AL MK BA ME MD BY GE AM AZ KG TJ TM AF IR IQ SY LB JO
      KW QA BH OM YE MA DZ TN LY SD ET GH CI SN CM UG TZ ZM ZW MZ AO MG MU RE RW CD BN MV BT FJ PG XK`),
  ],
  browsers: [
    "",
    ...words(`Chrome Safari Edge Firefox Opera KakaoTalk NAVER Whale Facebook Instagram LINE X WeChat Google TikTok
      Snapchat LinkedIn Brave Vivaldi DuckDuckGo Yandex Silk Electron Chromium Daum KakaoStory HeyTap Alipay Puffin
      Maxthon Sogou Klarna Tesla Falkon Epiphany Waterfox LibreWolf SeaMonkey Avast AVG 360 2345`),
    "Samsung Internet",
    "Android WebView",
    "Android Browser",
    "Mi Browser",
    "UC Browser",
    "QQ Browser",
    "Huawei Browser",
    "vivo Browser",
    "Internet Explorer",
    "Meta Quest Browser",
    "Lenovo Browser",
    "PICO Browser",
    "Sailfish Browser",
    "Pale Moon",
    "Cốc Cốc",
  ],
  operating_systems: [
    "",
    ...words(`Android iOS Windows macOS Linux ChromeOS HarmonyOS Tizen webOS KaiOS PlayStation Xbox Nintendo Chromecast
      FreeBSD OpenBSD NetBSD BlackBerry`),
    "Windows Phone",
    "Sailfish OS",
  ],
  devices: ["", ...words("phone desktop tablet tv other")],
  languages: [
    "",
    ...words(`ko en ja zh de fr es pt vi id th it nl pl ru tr uk sv da fi nb no cs hu ro el he ar fa hi bn ta te ur ms
      tl fil my km lo mn kk uz bg hr sr sk sl lt lv et ca eu gl is ga cy af sw mr gu kn ml pa si ne ka hy az sq mk bs
      be am zu yue nn ky tg ps ku`),
  ],
};

function words(text: string): string[] {
  return text.split(/\s+/);
}
