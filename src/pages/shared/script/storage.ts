type Storage = "localStorage" | "sessionStorage";

/** A browser may deny access to storage, or it may be full. Then nothing is remembered. */
export function read(storage: Storage, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Returns false if the browser did not keep it. */
export function write(storage: Storage, key: string, value: string | null): boolean {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
