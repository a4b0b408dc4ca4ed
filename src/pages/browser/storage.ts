type Storage = "localStorage" | "sessionStorage";

/** A browser may deny access to storage, or it may be full. Then nothing is remembered. */
export function read(storage: Storage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

export function write(storage: Storage, key: string, value: string | null): void {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // See `read`.
  }
}
