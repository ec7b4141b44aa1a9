/**
 * The part of wrangler.toml that binds the Durable Objects. `prefix` is empty, or the path of an
 * environment such as `env.nile.`.
 */
export function objectBindings(prefix: string): string {
  const binding = (name: string, className: string) =>
    `[[${prefix}durable_objects.bindings]]\nname = "${name}"\nclass_name = "${className}"\n`
  const classes = `[[${prefix}migrations]]\ntag = "v1"\nnew_sqlite_classes = ["Scanner", "Endpoint"]\n`
  return binding('SCANNER', 'Scanner') + binding('ENDPOINT', 'Endpoint') + classes
}
