import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './src/worker/d1/tables.ts',
    './src/worker/d1/state-tables.ts',
    './src/worker/d1/payout-tables.ts',
    './src/worker/d1/order-tables.ts',
    './src/worker/d1/issuer-tables.ts',
    './src/worker/d1/archive-tables.ts',
  ],
  out: './migrations',
})
