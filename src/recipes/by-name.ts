/** The recipe of a run, by its name. */
import type { Recipe } from "../loop/actions.ts";
import { runRecipe } from "./run.ts";
import { solveRecipe } from "./solve.ts";

const RECIPES: Readonly<Record<Recipe["name"], Recipe>> = { run: runRecipe, solve: solveRecipe };

export const recipeNamed = (name: Recipe["name"]): Recipe => RECIPES[name];
