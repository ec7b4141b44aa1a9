/**
 * The version of the service, as in `package.json`. A test compares them: Node imports JSON in
 * another way than the Worker's build.
 */
export const serviceVersion = '1.0.0'
