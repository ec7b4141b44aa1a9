/** A stop that the person at the terminal caused, or can act on: its message is printed without a stack. */
export class ToolError extends Error {}
