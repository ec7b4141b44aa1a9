import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/d1/tables.ts', './src/d1/posting-table.ts', './src/d1/setting-table.ts'],
  out: './migrations',
})
