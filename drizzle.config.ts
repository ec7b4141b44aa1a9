import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/d1/tables.ts', './src/d1/state-tables.ts', './src/d1/payout-tables.ts', './src/d1/issuer-tables.ts'],
  out: './migrations',
})
