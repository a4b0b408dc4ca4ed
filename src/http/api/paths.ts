/** Apart from the operations, so that the routes need no schemas. */
export const PATHS = {
  shorten: "/api/v1/shorten",
  shortenBatch: "/api/v1/shorten/batch",
  availability: "/api/v1/codes/{code}",
  links: "/api/v1/links",
  linksBatch: "/api/v1/links/batch",
  link: "/api/v1/links/{code}",
  statistics: "/api/v1/links/{code}/stats",
  report: "/api/v1/links/{code}/reports",
  qrSvg: "/{code}.svg",
  qrPng: "/{code}.png",
  document: "/api/v1/openapi.json",
} as const;
