module fx-rates

go 1.21
