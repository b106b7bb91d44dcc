module ledger

go 1.21
