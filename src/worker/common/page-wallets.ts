/**
 * Wallet apps whose documented link lets the deposit page open them with address and amount filled
 * in.
 */
export const pageWallets = ['trust'] as const
export type PageWallet = (typeof pageWallets)[number]
