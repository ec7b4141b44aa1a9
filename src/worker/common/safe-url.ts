/** Whether a text is an https URL, or an http URL of this machine. */
export function isSafeUrl(value: string): boolean {
  const parsed = URL.parse(value)
  return parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname))
}

/**
 * Whether a URL's host name means this machine, for which plain http and `DEV_UID` are accepted.
 * IPv6 addresses have brackets, as in `URL.hostname`.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
}
