import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './src/d1/tables.ts',
    './src/d1/posting-table.ts',
    './src/d1/scan-tables.ts',
    './src/d1/reconciliation-tables.ts',
    './src/d1/posting-table.ts',
    './src/d1/setting-table.ts',
    './src/d1/event-tables.ts',
    './src/d1/alarm-table.ts',
  ],
  out: './migrations',
})
