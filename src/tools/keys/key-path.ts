/** The highest account number: a hardened step of a path has 31 bits. */
export const accountMax = 0x7fffffff

/** The path of an account. */
export const accountPath = (account: number) => `m/44'/195'/${account}'`

/** The path of a deposit address: index `index` of the external chain of an account. */
export const depositPath = (account: number, index: number) => `${accountPath(account)}/0/${index}`
