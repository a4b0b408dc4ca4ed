/** @jsxImportSource ../shared/html */
import { modulesOf, pathOf } from "./qr-matrix.ts";
import { moduleWidth, type QrStyle } from "./qr-style.ts";

interface QrDrawingProps {
  /** The short address, in Unicode or ASCII. */
  readonly shortUrl: string;
  readonly style: Omit<QrStyle, "size">;
  readonly label: string;
  /** In CSS pixels, about. It is made larger if the modules would be too small for a camera. */
  readonly width: number;
}

/** A QR code inside a page, which needs no request and can be restyled by a script. */
export function QrDrawing({ shortUrl, style, label, width }: QrDrawingProps) {
  const { margin, dark, light, ecc } = style;
  const modules = modulesOf(shortUrl, ecc);
  const across = modules.length + 2 * margin;
  const pixels = across * moduleWidth(modules.length, margin, width);
  return (
    <svg
      {...{
        role: "img",
        "aria-label": label,
        "shape-rendering": "crispEdges",
        "data-modules": modules.length,
      }}
      data-width={width}
      {...{ width: pixels, height: pixels, viewBox: `${-margin} ${-margin} ${across} ${across}` }}
    >
      <rect {...{ x: -margin, y: -margin, width: across, height: across, fill: `#${light}` }} />
      <path stroke={`#${dark}`} d={pathOf(modules)} />
    </svg>
  );
}
