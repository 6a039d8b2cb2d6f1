/** The names of parameters at the root of a schema that every provider takes; Anthropic's Messages API refuses others. */
export const PARAMETER_NAMES = /^[a-zA-Z0-9_.-]{1,64}$/;
