<?php
// Import of price lists of suppliers.
final class PriceImport
{
    private int $done = 0;
    private float $last = 0;

    public function __construct(private string $mode) {}

    private function row(int $supplier, int $n): array
    {
        $line = sprintf('%d;art-%05d;%d.%02d;EUR', $supplier, $n, $n % 300, $supplier % 100);
        $f = explode(';', $line);
        return ['article' => $f[1], 'price' => (float)$f[2], 'currency' => $f[3]];
    }

    private function collect(int $supplier): array
    {
        $rows = [];
        for ($n = 0; $n < 6000; $n++) {
            $row = $this->row($supplier, $n);
            if ($this->mode === 'merge') {
                $rows = array_merge($rows, [$row]);
            } else {
                $rows[] = $row;
            }
            $this->report();
        }
        return $rows;
    }

    private function report(): void
    {
        if (++$this->done % 100 === 0 && microtime(true) - $this->last > 1) {
            $this->last = microtime(true);
            echo 'done ', $this->done, "\n";
        }
    }

    public function run(): void
    {
        for ($s = 1;; $s++) {
            $sum = 0.0;
            foreach ($this->collect($s) as $r) {
                $sum += $r['price'];
            }
            if ($sum <= 0) {
                throw new RuntimeException("empty list of $s");
            }
        }
    }
}

(new PriceImport($argv[1]))->run();
