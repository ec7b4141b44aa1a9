/** An Ed25519 key for tests only, as `SEAL_KEY`. */
export const testSealKey = 'MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f'
