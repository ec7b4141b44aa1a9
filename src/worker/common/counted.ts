/** The counts of lists end at this number, so that a count reads a bounded number of rows. */
export const countedMax = 1_000
