/** The places of a command that are layers: who mounts each, and where it is found. */
import { MAX_LOWER_FOLDERS } from "./copy.ts";
import type { Keeper } from "./keeper.ts";
import type { Layer, LayerParts } from "./layers.ts";
import type { Place } from "./places.ts";
import type { Around } from "./words.ts";

/** Where it is mounted, or what of. */
export interface Layered {
  place: Place;
  layer: Layer | LayerParts;
}

/** A copy mounts its own; for others the keeper does. Throws when it cannot be. */
export function layersOf(places: readonly Place[], { keeper, isCopy }: { keeper: Keeper; isCopy: boolean }): Layered[] {
  return places.flatMap((place) => {
    if (place.layer === undefined) return [];
    const { over, folder } = place.layer;
    const request = { lower: [place.path, ...over], folder };
    const isOwn = isCopy && request.lower.length <= MAX_LOWER_FOLDERS;
    return [{ place, layer: isOwn ? keeper.partsOf(request) : keeper.layer(request) }];
  });
}

/** For the words of a sandbox. */
export function findingIn(layers: readonly Layered[]): Required<Pick<Around, "placeAt" | "partsOf">> {
  const layerOf = (place: Place): Layered["layer"] | undefined => layers.find((one) => one.place === place)?.layer;
  return {
    placeAt(place) {
      const layer = layerOf(place);
      return layer !== undefined && "at" in layer ? layer.at : undefined;
    },
    partsOf(place) {
      const layer = layerOf(place);
      return layer !== undefined && "folders" in layer ? layer : undefined;
    },
  };
}
