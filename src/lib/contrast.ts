/** A colour as # and six hexadecimal digits, or without the #. */
type Colour = string;

/** The contrast ratio (WCAG 2.2), from 1 to 21. Below 1 if `dark` is the lighter colour. */
export function contrast(dark: Colour, light: Colour): number {
  return (luminance(light) + 0.05) / (luminance(dark) + 0.05);
}

/** How much of the light a colour reflects, from 0 for black to 1 for white (WCAG 2.2, relative luminance). */
export function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\dA-Fa-f]{2}/g) ?? [])
    .map((digits) => Number.parseInt(digits, 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
