/** Agents with an adapter of their own; every other name is one of the user's table or of the presets. */
export const OWN_AGENTS = ["claude"] as const;

export const isOwnAgent = (name: string): boolean => (OWN_AGENTS as readonly string[]).includes(name);
