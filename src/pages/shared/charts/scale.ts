/** Of the lines above the ground line. */
const MAX_LINES = 3;

/** The round numbers beside a chart, the largest first, down to 0. */
export function scaleOf(most: number): number[] {
  let step = 1;
  for (let nth = 0; step * MAX_LINES < most; nth++) step *= nth % 3 === 1 ? 2.5 : 2;
  const lines = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: lines + 1 }, (_, nth) => (lines - nth) * step);
}

/** Between labelled hours, days or months. */
const STEPS = {
  hour: [1, 2, 3, 6, 12, 24, 48, 72],
  day: [1, 2, 5, 10, 20, 30, 50, 100, 200],
  month: [1, 3, 6, 12],
} as const;

export interface Dates {
  /** How many labels have room beside each other. */
  readonly most: number;
  /** What a label needs, as a part of the width. */
  readonly room: number;
}

/**
 * The places of the labels below a chart. A label begins at its bar, so that none reaches beyond the chart. `hours` are those
 * of the reader's clock: labels are at round ones, and beyond a day at midnight.
 */
export function placesOf(
  count: number,
  interval: keyof typeof STEPS,
  hours: readonly number[],
  { most, room }: Dates,
): number[] {
  const step = STEPS[interval].find((one) => count / one <= most) ?? count;
  const midnight = Math.max(0, hours.indexOf(0));
  return Array.from({ length: count }, (_, nth) => nth).filter((nth) => {
    if ((count - nth) / count < room) return false;
    if (interval !== "hour" || count <= most) return nth % step === 0;
    return step < 24 ? (hours[nth] ?? 0) % step === 0 : nth >= midnight && (nth - midnight) % step === 0;
  });
}
