/** Shows all times in the reader's time zone, in the page's language. */
export function localiseTimes(within: ParentNode): void {
  const words = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "short",
  });
  for (const time of within.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    time.title = time.dateTime;
    time.textContent = words.format(new Date(time.dateTime));
  }
}
