/** Names and limits of plans and code, apart from the schemas: what only reads facts starts without these. */

export const LANGUAGE_NAMES = ["python", "javascript", "typescript", "shell"] as const;

/** A step's name is a lane's and a folder's. */
export const STEP_ID = /^[a-z0-9][a-z0-9_-]{0,39}$/;
export const MAX_STEPS = 50;
