export interface Score {
  readonly ndcg: number;
  readonly recall: number;
  readonly mrr: number;
}

/** How good an order is, when these files were the right ones. */
export function scoreOf(ranked: readonly string[], relevant: readonly string[]): Score {
  let [dcg, ideal, found, mrr] = [0, 0, 0, 0];
  for (let place = 0; place < 10; place++) {
    const gain = 1 / Math.log2(place + 2);
    if (place < relevant.length) ideal += gain;
    if (!relevant.includes(ranked[place] ?? "")) continue;
    dcg += gain;
    found++;
    mrr ||= 1 / (place + 1);
  }
  return { ndcg: dcg / ideal, recall: found / relevant.length, mrr };
}

/** Figures by row and column, averaged over what was added. */
export interface Table {
  add(row: string, column: string, value: number): void;
  mean(row: string, column: string): number;
  markdown(title: string, columns: readonly string[]): string;
}

export function createTable(): Table {
  const cells = new Map<string, Map<string, { sum: number; n: number }>>();
  const mean = (row: string, column: string) => {
    const cell = cells.get(row)?.get(column);
    return cell ? cell.sum / cell.n : Number.NaN;
  };
  return {
    add(row, column, value) {
      const line = cells.get(row) ?? new Map<string, { sum: number; n: number }>();
      cells.set(row, line);
      const cell = line.get(column) ?? { sum: 0, n: 0 };
      line.set(column, { sum: cell.sum + value, n: cell.n + 1 });
    },
    mean,
    markdown(title, columns) {
      const lines = [`| ${title} | ${columns.join(" | ")} |`, `|---|${columns.map(() => "---:|").join("")}`];
      for (const row of cells.keys()) {
        const shown = columns.map((column) => {
          const value = mean(row, column);
          return Number.isNaN(value) ? "" : value.toFixed(3);
        });
        lines.push(`| ${row} | ${shown.join(" | ")} |`);
      }
      return lines.join("\n");
    },
  };
}
