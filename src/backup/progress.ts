/** What a command that copies a file tells meanwhile. */
export interface Progress {
  copied(bytes: number, ofBytes: number): void;
  /** The copy is complete, and is read from end to end. */
  checking(): void;
}
