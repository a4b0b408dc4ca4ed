/** @jsxImportSource ../html */
import { message } from "../../../locales/messages.ts";
import { numberFormat } from "../in-words.ts";
import { PointInput } from "./chart.tsx";

/** In the units of the drawing: its height, the width per day, and the lowest bar. */
const HEIGHT = 40;
const STEP = 10;
const LOWEST = 1;

interface SmallChartProps {
  readonly language: string;
  readonly name: string;
  readonly values: readonly number[];
  /** One per value; the last is today. */
  readonly dates: readonly string[];
}

/** A count over the days: its sum, today's and the highest value, and a bar per day. */
export function SmallChart({ language, name, values, dates }: SmallChartProps) {
  const { format } = numberFormat(language);
  const top = Math.max(...values);
  const sum = values.reduce((all, value) => all + value, 0);
  const highest = { count: format(top), date: dates[values.indexOf(top)] ?? "" };
  return (
    <figure class="chart small-chart">
      <figcaption>
        <span class="readable">
          <span>{name}</span>
          <span class="reading" aria-hidden="true" />
        </span>{" "}
        <strong>{format(sum)}</strong>
      </figcaption>
      <div class="bars">
        <svg viewBox={`0 0 ${values.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <rect class="at" width={STEP} height={HEIGHT} hidden />
          {values.map((value, nth) => {
            const height = Math.max(LOWEST, Math.round((value / top) * HEIGHT));
            return (
              <>
                {value > 0 && <rect x={nth * STEP} y={HEIGHT - height} width={STEP - 2} height={height} />}
                <rect class="slot" x={nth * STEP} width={STEP} height={HEIGHT}>
                  <title>{`${dates[nth]}: ${format(value)}`}</title>
                </rect>
              </>
            );
          })}
        </svg>
        <PointInput name={name} length={values.length} />
      </div>
      <p class="hint">
        {message(language, "admin.figures.today", { count: format(values.at(-1) ?? 0) })} ·{" "}
        {message(language, "admin.figures.highest", highest)}
      </p>
    </figure>
  );
}
