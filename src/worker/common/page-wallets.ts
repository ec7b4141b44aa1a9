/** Wallet apps that the deposit page can open with address and amount: those with a documented link. */
export const pageWallets = ['trust'] as const
/** One of `pageWallets`. */
export type PageWallet = (typeof pageWallets)[number]
