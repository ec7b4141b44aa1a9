/** Writes the parameters of a path. Empty ones and null are left out. */
export function query(parameters: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== '')
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
}
