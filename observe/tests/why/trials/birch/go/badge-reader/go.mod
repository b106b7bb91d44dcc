module badge-reader

go 1.21
