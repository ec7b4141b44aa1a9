/** Writes the query of a path, without the question mark. Parameters that are empty or null are left out. */
export function query(parameters: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== '')
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
}
