import { describe, expect, it } from "vitest";
import { misfits, schemaProblem } from "./json-schema.ts";

const said = (schema: unknown, value: unknown): string[] =>
  misfits(schema, value).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("a JSON Schema", () => {
  it.each([
    [{ type: "integer" }, 2, 2.5],
    [{ type: ["string", "null"] }, null, 1],
    [{ type: "object" }, {}, []],
    [{ enum: ["a", { b: 1 }] }, { b: 1 }, { b: 2 }],
    [{ const: [1] }, [1], [2]],
    [{ minimum: 1, maximum: 2 }, 1, 3],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 1],
    [{ multipleOf: 0.5 }, 1.5, 1.2],
    [{ minLength: 2, maxLength: 2 }, "é😀", "abc"],
    [{ pattern: "^a.$" }, "ab", "abc"],
    [{ minItems: 1, maxItems: 2, uniqueItems: true }, [1, 2], [{ a: 1 }, { a: 1 }]],
    [{ required: ["a"] }, { a: undefined }, { b: 1 }],
    [{ type: "object", required: ["a"] }, { a: 1 }, {}],
    [{ properties: { a: { type: "string" } }, additionalProperties: false }, { a: "x" }, { a: "x", b: 1 }],
    [
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: { type: "null" } },
      { x1: 1, y: null },
      { x1: "1" },
    ],
    [{ propertyNames: { pattern: "^[a-z]+$" }, minProperties: 1, maxProperties: 1 }, { a: 1 }, { A: 1 }],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], ["a", "b"]],
    [{ items: { required: ["source"] } }, [{ source: 1 }], [{ source: 1 }, {}]],
    [{ contains: { const: 3 } }, [1, 3], [1]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 2, 3],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, 6, 4],
    [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, 2],
    [{ not: { type: "string" } }, 1, "a"],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "array", items: { $ref: "#/$defs/a" } } } }, [[], [[]]], [[1]]],
    [{ properties: { a: false } }, { b: 1 }, { a: 1 }],
    [{ properties: { hasOwnProperty: { type: "number" } } }, {}, { hasOwnProperty: "x" }],
  ])("%j takes %j and refuses %j", (schema, good, bad) => {
    expect(schemaProblem(schema)).toBeUndefined();
    expect(said(schema, good)).toEqual([]);
    expect(said(schema, bad)).not.toEqual([]);
  });

  it("says where something does not fit", () => {
    const schema = {
      type: "object",
      properties: { list: { type: "array", items: { type: "object", required: ["a"] } } },
    };
    expect(said(schema, { list: [{ a: 1 }, {}, 3] })).toEqual([
      "list.1.a: is missing",
      "list.2: is number, must be object",
    ]);
  });

  it.each([
    [{ format: "email" }, "format is not a keyword that is known here"],
    [{ properties: { a: { if: {} } } }, "properties.a.if is not a keyword that is known here"],
    [{ type: "strin" }, 'type is "strin", which is no type'],
    [{ required: "a" }, "required must be a list of names"],
    [{ items: [{ minimum: "1" }] }, "items must be an object"],
    [{ anyOf: [{ pattern: "(" }] }, "anyOf.0.pattern must be a regular expression"],
    [{ $ref: "other.json" }, "$ref must be a place in this schema: #/…"],
    ["x", "the schema must be an object"],
  ])("%j is refused before it is used: %s", (schema, problem) => {
    expect(schemaProblem(schema)).toBe(problem);
  });

  it("ends where it refers to itself without end", () => {
    expect(said({ $ref: "#" }, 1)).toEqual([": the schema refers to itself without end"]);
  });
});
