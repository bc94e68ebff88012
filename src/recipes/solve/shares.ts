/** How the room of a prompt is divided between its parts: together less than all of it, so that none is ever dropped. */

export const QUESTION_SHARE = 0.2;
export const FILES_SHARE = 0.08;
export const HISTORY_SHARE = 0.4;
export const PLAN_SHARE = 0.12;
export const VERDICT_SHARE = 0.06;
export const DIRECTIVE_SHARE = 0.08;
