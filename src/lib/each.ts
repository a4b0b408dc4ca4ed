/** One value for each item of a list. A list whose length is known has as many, so that no value can be missing. */
export type Each<Items extends readonly unknown[], Value> = { readonly [Nth in keyof Items]: Value };

/** `Array.map`, whose type forgets the length. */
export function mapEach<const Items extends readonly unknown[], Value>(
  items: Items,
  map: (item: Items[number], nth: number) => Value,
): Each<Items, Value> {
  return items.map(map) as readonly Value[] as Each<Items, Value>;
}

/** Returns a function that returns the value of the next item. Call it once for each item. */
export function inOrder<Value>(values: Each<readonly unknown[], Value>): () => Value {
  const rest = values.values();
  return () => rest.next().value as Value;
}
