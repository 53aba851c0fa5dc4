import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { renderTests } from "./report.ts";

const long = (n: number) => ({
  name: `packages/checkout/src/basket/discounts/test_${n}_seasonal.py::TestSeasonalDiscounts::test_that_a_discount_of_${n}_percent_is_taken_off_before_the_tax_is_added`,
  place: `packages/checkout/src/basket/discounts/test_${n}_seasonal.py:${n}7`,
  message: [
    `AssertionError: assert Decimal('${n}.99') == Decimal('${n}.95')`,
    ` +  where Decimal('${n}.99') = total()`,
  ],
});

describe("a report of failed tests", () => {
  it("tells ten with very long names in 300 tokens, each by both its ends", () => {
    const failures = Array.from({ length: 10 }, (_, n) => long(n + 1));
    const { text } = renderTests({ summary: "10 failed, 990 passed in 3.21s", failures });
    expect(encode(text).length).toBeLessThanOrEqual(300);
    for (const n of [1, 5, 10]) expect(text).toContain(`test_${n}`);
    expect(text.match(/tax_is_added/g)).toHaveLength(10);
  });

  it("says how many there are beyond ten", () => {
    const { text, match_count } = renderTests({
      summary: "12 failed",
      failures: Array.from({ length: 12 }, (_, n) => long(n)),
    });
    expect(text.endsWith("and 2 more failures")).toBe(true);
    expect(match_count).toBe(12);
  });
});
