/** A line that cannot be right. The message is a phrase that says why. */
export class WrongLine extends Error {
  /** The number of the line, if it is another one than that which was just read. */
  readonly line: number | undefined

  constructor(why: string, line?: number) {
    super(why)
    this.line = line
  }
}

/** Refuses the line unless `isRight`. */
export function demand(isRight: boolean, why: string, line?: number): asserts isRight {
  if (!isRight) throw new WrongLine(why, line)
}
